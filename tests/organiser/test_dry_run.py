"""What is told of a tournament before it begins: schedule, number of games, duration."""

from __future__ import annotations

import random
from importlib import import_module
from pathlib import Path

import pytest

from triarena.games import Side, find_game
from triarena.organiser.dry_run import dry_run
from triarena.organiser.durations import (
    estimate,
    expected_game_seconds,
    longest_game_seconds,
    longest_plies,
    typical_plies,
)
from triarena.organiser.file import parse_tournament
from triarena.organiser.pairing import format_of
from triarena.organiser.spec import Event, TournamentFile
from triarena.protocol.values import Budget, PerMove, Unlimited
from triarena.tournament.formats import FORMATS

from .staged_tournament import event_of as staged_event
from .staged_tournament import file_of


def tournament(text: str, bots: int = 5) -> TournamentFile:
    tables = "".join(f'[[bots]]\nname = "B{number}"\nremote = true\n' for number in range(1, bots + 1))
    text = f'game = "towerwars"\noptions.size = 5\nconcurrency = 2\n{text}\n{tables}'
    return parse_tournament(text, Path(), file="evening.toml", draw_seed=lambda slug: 7, concurrency=1)


def event_of(text: str, bots: int = 5) -> Event:
    return tournament(text, bots).events[0]


def test_a_dry_run_shows_the_schedule_with_sides_boards_and_byes() -> None:
    text = dry_run(tournament('format = "swiss"\nrounds = 3\nseeds = [4711, 12]'))
    assert text.splitlines()[:11] == [
        "evening: 5 bots, 5 of them remote; at most 2 games at a time",
        "",
        "evening: TowerWars, size 5, max_plies 1000",
        f"  Swiss system: {FORMATS['swiss'].summary}",
        "  12 games; 2 when two meet; 2 s a move; seed 7",
        "  about 81 s, at most 3 h 26 min; a game has about 26 plies; 2 games at a time",
        "  Round 1",
        "    table 1: B1 (red) - B3 (blue)  board 4711, then sides swapped",
        "    table 2: B4 (red) - B2 (blue)  board 4711, then sides swapped",
        "    B5 has a bye",
        "  Rounds 2 to 3 are paired by the results.",
    ]


def test_a_dry_run_names_every_pairing_of_a_round_robin() -> None:
    text = dry_run(tournament("games_per_pairing = 1"))
    pairings = [line for line in text.splitlines() if "(red)" in line]
    assert len(pairings) == 10
    assert not any("swapped" in line for line in pairings)


def test_a_dry_run_says_what_ends_a_tournament_early() -> None:
    text = dry_run(
        tournament("games_per_pairing = 100\nstop = { max_games = 50, max_minutes = 1.5, sprt = { elo1 = 15 } }", 2)
    )
    assert "It ends after 50 games." in text
    assert "It ends after 90 s of playing" in text
    assert "whether B1 is 0 or 15 Elo over B2 (alpha 0.05, beta 0.05)" in text
    assert "  50 games; 100 when two meet" in text


def test_the_duration_of_a_tournament_without_clock_or_end_is_not_made_up() -> None:
    for text in ("clock.unlimited = true", 'format = "ladder"'):
        assert "it cannot be told how long it takes: there is no clock, or no end" in dry_run(tournament(text))


@pytest.mark.parametrize(
    ("text", "bots", "games"),
    [
        ("", 5, 20),
        ('format = "double_round_robin"', 6, 30),
        ('format = "gauntlet"\nchallengers = ["B1"]', 5, 8),
        ('format = "gauntlet"\nchallengers = ["B1", "B2"]\nchallengers_meet = true', 5, 14),
        ('format = "swiss"\nrounds = 3', 6, 18),
        ('format = "ladder"\nrounds = 10', 4, 40),
        ('format = "ladder"\nstop.max_games = 7', 4, 7),
        ("stop.max_games = 7", 4, 7),
    ],
)
def test_the_number_of_games_is_known_where_it_is_fixed(text: str, bots: int, games: int) -> None:
    known = estimate(event_of(text, bots), 2)
    assert known.games_most == games
    assert known.games_least <= games


@pytest.mark.parametrize(
    ("text", "bots", "concurrency", "turns"),
    [
        ("", 4, 1, 12),
        ("", 4, 2, 6),
        ("", 4, 9, 6),  # four bots can't play more than two games at once
        ('format = "gauntlet"\nchallengers = ["B1"]', 5, 2, 8),  # nor can the one whom all meet
        ('format = "swiss"\nrounds = 2', 6, 2, 8),  # three tables, two at a time, twice; each two games long
        ('format = "swiss"\nrounds = 2', 6, 3, 4),
        ('format = "ladder"\nrounds = 3', 4, 2, 6),
    ],
)
def test_a_tournament_takes_as_many_games_in_turn_as_bots_and_concurrency_force_it_to(
    text: str, bots: int, concurrency: int, turns: int
) -> None:
    event = event_of(text, bots)
    known = estimate(event, concurrency)
    game = expected_game_seconds(event.time_control, known.plies)
    assert game is not None
    assert known.expected_seconds == pytest.approx(turns * game)
    assert known.longest_seconds is not None
    assert known.longest_seconds > turns * game


def test_a_game_lasts_as_its_clock_allows() -> None:
    assert expected_game_seconds(PerMove(move_ms=1000), 100) == pytest.approx(0.3 + 1 + 25)
    assert longest_game_seconds(PerMove(move_ms=1000, margin_ms=50), 100) == pytest.approx(0.3 + 1 + 105)
    assert longest_game_seconds(PerMove(move_ms=1000, strikes=2, hard_ms=3000), 100) == pytest.approx(0.3 + 1 + 108)
    assert expected_game_seconds(Budget(budget_ms=10_000, increment_ms=100), 100) == pytest.approx(0.3 + 1 + 7.5)
    assert longest_game_seconds(Budget(budget_ms=10_000, increment_ms=100), 100) == pytest.approx(0.3 + 1 + 30)
    assert expected_game_seconds(Unlimited(), 100) is None
    assert longest_game_seconds(Unlimited(), 100) is None
    assert longest_game_seconds(PerMove(move_ms=1000), None) is None


def test_bots_that_come_along_are_not_taken_for_thoughtful_ones() -> None:
    control = PerMove(move_ms=2000)
    assert expected_game_seconds(control, 100, shipped=1) == pytest.approx(0.3 + 1 + 2)
    assert expected_game_seconds(control, 100, shipped=0.5) == pytest.approx(0.3 + 1 + 0.5 * 50 + 0.5 * 2)
    assert expected_game_seconds(PerMove(move_ms=1), 100, shipped=1) == pytest.approx(0.3 + 1 + 0.025)
    assert expected_game_seconds(Budget(budget_ms=60_000), 100, shipped=1) == pytest.approx(0.3 + 1 + 2)


def test_what_the_durations_rest_on_is_told() -> None:
    assert "\nDurations are rough: bots are taken to use 25% of their time" in dry_run(tournament(""))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bot", ["greedy", "random"])
@pytest.mark.parametrize("name", ["flowerwars", "towerwars", "mississippi_queen"])
def test_no_game_is_longer_than_the_longest(name: str, bot: str, seed: int) -> None:
    game, bots = find_game(name), import_module(f"triarena.clients.bots.{name}")
    options = {option.name: option.default for option in game.options}
    if name != "mississippi_queen":
        options["size"] = 5
    bound, typical = longest_plies(name, options), typical_plies(name, options)
    position, rng, plies = game.start(options, seed), random.Random(seed), 0
    while position.outcome is None and plies <= 1000:
        position, plies = position.play(getattr(bots, f"{bot}_move")(position, rng)), plies + 1
    assert bound is not None
    assert plies <= bound
    assert typical <= bound
    assert position.to_move in Side


def test_a_limit_on_plies_bounds_what_is_typical() -> None:
    assert typical_plies("towerwars", {"size": 8, "max_plies": 50}) == 50
    assert typical_plies("towerwars", {"size": 8, "max_plies": 0}) == 108
    assert longest_plies("towerwars", {"size": 8, "max_plies": 0}) is None


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_file_may_say_of_a_format_can_be_paired(name: str) -> None:
    kind = FORMATS[name]
    lines = [f'format = "{name}"', "seed = 5"]
    lines += ['challengers = ["B2"]'] if "challengers" in kind.needs else []
    lines += ["challengers_meet = true"] if "challengers_meet" in kind.heeds else []
    lines += ["rounds = 3"] if "rounds" in kind.needs | kind.heeds else []
    lines += ['seeding = "lot"'] if "seeding" in kind.heeds else []
    lines += ["tie_pairs = 2", "seeds = [1, 2, 3]"] if "tie_pairs" in kind.heeds else ["seeds = [1]"]
    plan = format_of(event_of("\n".join(lines))).plan({})
    assert next(plan.fixtures()).seed == 1


def test_a_seed_that_is_drawn_at_the_start_is_not_shown() -> None:
    text = dry_run(tournament('format = "swiss"\nseeding = "lot"'), ["evening"])
    assert "its seed is drawn at the start, and with it the lot by which this here is only an example" in text
    assert "seed 7" not in text
    assert "1 board, then sides swapped" in text
    given = dry_run(tournament('format = "swiss"\nseeds = [4711, 12]'), ["evening"])
    assert "board 4711, then sides swapped" in given


@pytest.mark.parametrize(("bots", "free"), [(3, 3), (4, 0)])
def test_a_round_robin_of_an_odd_number_says_who_is_free(bots: int, free: int) -> None:
    names = ("Ann", "Bob", "Cleo", "Dmitri")[:bots]
    text = dry_run(file_of(Path("/"), staged_event("Odd", names=names)))
    said = [line.split() for line in text.splitlines() if line.endswith(" is free")]
    assert sorted(words[0] for words in said) == sorted(names[:free])
