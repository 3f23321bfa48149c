"""A tournament's file: what it means, and every fault with its line, its key and what would be right."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from triarena.organiser.file import parse_tournament, read_tournament
from triarena.organiser.problems import Problem, TournamentFileError
from triarena.organiser.spec import BotLimits, Sprt, Stop, TournamentFile
from triarena.protocol.values import Budget, PerMove, Unlimited
from triarena.tournament.points import PointTable

BOTS = """
[[bots]]
name = "Ann"
shipped = "greedy"

[[bots]]
name = "Bob"
shipped = "random"

[[bots]]
name = "Cleo"
remote = true
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "ann.py").write_text("", "utf-8")
    program = tmp_path / "bots" / "program"
    program.write_text("", "utf-8")
    program.chmod(0o755)
    return tmp_path


def parsed(text: str, folder: Path) -> TournamentFile:
    return parse_tournament(dedent(text), folder, file="evening.toml", draw_seed=len, concurrency=3)


def problems(text: str, folder: Path) -> tuple[Problem, ...]:
    with pytest.raises(TournamentFileError) as caught:
        parsed(text, folder)
    return caught.value.problems


def test_a_game_and_two_bots_are_a_tournament_with_defaults_for_the_rest(folder: Path) -> None:
    file = parsed('game = "towerwars"' + BOTS, folder)
    (event,) = file.events
    assert (file.name, event.name, event.slug) == ("evening", "evening", "evening")
    assert event.options == {"size": 8, "max_plies": 1000}
    assert event.format == "round_robin"
    assert event.names == ("Ann", "Bob", "Cleo")
    assert event.games_per_pairing == 2
    assert event.time_control == PerMove(move_ms=2000, margin_ms=50)
    assert event.points == PointTable()
    assert event.tie_breaks == ("direct_encounter", "sonneborn_berger", "wins", "game_scores")
    assert event.seed == len("evening")
    assert (event.rounds, event.seeds, event.challengers, event.stop) == (None, (), (), Stop())
    assert (file.concurrency, file.attempts, file.patience_seconds, file.start_seconds) == (3, 3, 600, 30)
    assert file.limits == BotLimits(2048, None, 64)
    assert file.server == {}


def test_everything_that_can_be_chosen_arrives(folder: Path) -> None:
    file = parsed(
        """
        name = "Evening"
        concurrency = 2
        attempts = 5
        patience_seconds = 4
        start_seconds = 3.5
        game = "flowerwars"
        options.size = 5
        format = "gauntlet"
        games_per_pairing = 4
        seed = 17
        seeds = [5, 6]
        challengers = ["Bob"]
        challengers_meet = true
        tie_breaks = ["wins"]
        clock = { budget_seconds = 60, increment_seconds = 0.5, margin_ms = 0 }
        points = { win = 3, draw = 1, forfeit_loss = -1 }
        stop = { max_games = 100, max_minutes = 5 }
        limits = { memory_mb = 0, cpu_seconds = 9, processes = 3 }
        server.limits.rooms = 50
        server.server = { host = "0.0.0.0", log_level = "debug" }
        server.bots.required = true
        """
        + BOTS,
        folder,
    )
    (event,) = file.events
    assert (file.name, file.concurrency, file.attempts) == ("Evening", 2, 5)
    assert (file.patience_seconds, file.start_seconds) == (4, 3.5)
    assert file.limits == BotLimits(None, 9, 3)
    assert file.server_environment == {
        "TRIARENA_LIMITS__ROOMS": "50",
        "TRIARENA_SERVER__HOST": "0.0.0.0",
        "TRIARENA_SERVER__LOG_LEVEL": "debug",
        "TRIARENA_BOTS__REQUIRED": "true",
    }
    assert (event.options, event.format, event.games_per_pairing) == ({"size": 5}, "gauntlet", 4)
    assert (event.seed, event.seeds, event.challengers, event.tie_breaks) == (17, (5, 6), ("Bob",), ("wins",))
    assert event.challengers_meet
    assert event.time_control == Budget(budget_ms=60_000, increment_ms=500, margin_ms=0)
    assert event.points == PointTable(win=3, draw=1, forfeit_loss=-1)
    assert event.stop == Stop(100, 5)


def test_several_tournaments_override_the_top_and_take_its_options_only_with_its_game(folder: Path) -> None:
    file = parsed(
        """
        game = "towerwars"
        options = { size = 5 }
        format = "swiss"
        rounds = 2
        games_per_pairing = 4

        [[tournaments]]
        name = "Towers"

        [[tournaments]]
        name = "Towers, again"
        format = "double_knockout"
        tie_pairs = 0
        seeding = "lot"

        [[tournaments]]
        game = "flowerwars"
        rounds = 1
        bots = ["Bob", "Ann"]
        """
        + BOTS,
        folder,
    )
    first, second, third = file.events
    assert [event.slug for event in file.events] == ["towers", "towers-again", "flowerwars"]
    assert [event.games_per_pairing for event in file.events] == [4, 4, 4]
    assert (first.options["size"], first.format, first.rounds) == (5, "swiss", 2)
    assert (second.options["size"], second.format, second.rounds, second.tie_pairs) == (5, "double_knockout", None, 0)
    assert [event.seeding for event in file.events] == ["given", "lot", "given"]
    assert (third.options["size"], third.format, third.rounds, third.names) == (8, "swiss", 1, ("Bob", "Ann"))


def test_every_kind_of_bot_is_found_relative_to_the_file(folder: Path) -> None:
    file = parsed(
        """
        game = "towerwars"
        bots = [
            { name = "File", file = "bots/ann.py", seed = 3 },
            { name = "File at home", file = "bots/ann.py", folder = "." },
            { name = "Shipped", shipped = "greedy", env = { LEVEL = "3" } },
            { name = "Words", command = ["{python}", "-m", "x"], folder = "bots" },
            { name = "Text", command = "./bots/program --depth '3 4'" },
            { name = "Ångström 1", remote = true },
        ]
        """,
        folder,
    )
    by_name = {player.name: player for player in file.players}
    assert (by_name["File"].kind, by_name["File"].source) == ("file", str(folder / "bots" / "ann.py"))
    assert (by_name["File"].cwd, by_name["File"].seed) == (folder / "bots", 3)
    assert by_name["File at home"].cwd == folder
    assert (by_name["Shipped"].source, by_name["Shipped"].env) == ("greedy", {"LEVEL": "3"})
    assert (by_name["Words"].source, by_name["Words"].cwd) == ((sys.executable, "-m", "x"), folder / "bots")
    assert by_name["Text"].source == (str(folder / "bots" / "program"), "--depth", "3 4")
    assert [player.local for player in file.players] == [True] * 5 + [False]
    assert [player.name for player in file.players if not player.kept] == ["Words", "Text"]


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        ("{}", PerMove(move_ms=2000, margin_ms=50)),
        ("{ move_seconds = 0.2 }", PerMove(move_ms=200, margin_ms=50)),
        ("{ strikes = 2 }", PerMove(move_ms=2000, margin_ms=50, strikes=2, hard_ms=10_000)),
        ("{ strikes = 2, hard_seconds = 3 }", PerMove(move_ms=2000, margin_ms=50, strikes=2, hard_ms=3000)),
        ("{ budget_seconds = 9 }", Budget(budget_ms=9000, margin_ms=50)),
        ("{ unlimited = true }", Unlimited()),
    ],
)
def test_a_clock_is_one_of_three_kinds(clock: str, expected: object, folder: Path) -> None:
    assert parsed(f'game = "towerwars"\nclock = {clock}\n{BOTS}', folder).events[0].time_control == expected


@pytest.mark.parametrize("sign", ["\\u001b", "\\u007f", "\\u0085", "\\u202e", "\\u2066", "\\u200f", "\\u2028", "\\n"])
@pytest.mark.parametrize("key", ["name", "tournaments.name", "bots.name"])
def test_a_name_holds_nothing_that_a_terminal_would_obey(folder: Path, key: str, sign: str) -> None:
    name = f'name = "A{sign}B"\n'
    top, event = (name, "") if key == "name" else ("", f"[[tournaments]]\n{name}" if key == "tournaments.name" else "")
    bots = BOTS + (f'[[bots]]\n{name}shipped = "random"\n' if key == "bots.name" else "")
    (problem,) = problems(top + 'game = "towerwars"\n' + event + bots, folder)
    assert problem.key.endswith("name")


@pytest.mark.parametrize(
    ("settings", "bye"),
    [
        ("", 2),
        ("games_per_pairing = 4", 4),
        ("points = { win = 3, draw = 1 }", 6),
        ("games_per_pairing = 1", 1),
        ("points = { bye = 0.5 }", 0.5),
        ("points = { win = 3, bye = 0 }", 0),
    ],
)
def test_a_bye_of_a_swiss_tournament_is_worth_a_won_meeting_unless_the_file_says_otherwise(
    folder: Path, settings: str, bye: float
) -> None:
    (event,) = parsed(f'game = "towerwars"\nformat = "swiss"\nrounds = 2\n{settings}\n{BOTS}', folder).events
    assert event.points.bye == bye


def test_a_swiss_tournament_has_as_many_rounds_as_a_knockout_if_it_says_none(folder: Path) -> None:
    bots = "".join(f'[[bots]]\nname = "B{number}"\nremote = true\n' for number in range(9))
    (event,) = parsed(f'game = "towerwars"\nformat = "swiss"\n{bots}', folder).events
    assert event.rounds == 4
    assert event.tie_breaks[0] == "buchholz_cut_1"


TOP = 'game = "towerwars"\n'
LINE_2 = [
    ('gmae = "x"', "gmae", "did you mean 'game'?"),
    ('format = "Swiss"', "format", "did you mean 'swiss'?"),
    ('format = "eliminator"', "format", "it must be one of round_robin, double_round_robin, gauntlet, swiss"),
    ("concurrency = 0", "concurrency", "it must be at least 1, not 0"),
    ("concurrency = true", "concurrency", "it must be a whole number, not True"),
    ("attempts = 1.5", "attempts", "it must be a whole number, not 1.5"),
    ("patience_seconds = nan", "patience_seconds", "it must be"),
    ('start_seconds = "3"', "start_seconds", "it must be a number, not '3'"),
    ("name = 'a\tb\\nc '", "name", "one line of text without blanks at its ends"),
    ("seed = -1", "seed", "it must be at least 0, not -1"),
    ("seed = 9007199254740992", "seed", "it must be below 9007199254740992"),
    ("seeds = []", "seeds", "a list that is not empty"),
    ("seeds = [1, 2, 1]", "seeds[3]", "the seed 1 stands there twice"),
    ("options.sice = 3", "options.sice", "towerwars has no such option; did you mean 'size'?"),
    ("options.size = 3", "options.size", "size must be a whole number from 4 to 26, not 3"),
    ("options.size = [8]", "options.size", "it must be a number, a text, true or false, not [8]"),
    ("rounds = 3", "rounds", "the rounds of a round_robin follow from the number of bots"),
    ("games_per_pairing = 3", "games_per_pairing", "it must be 1 or even, since games come in pairs"),
    ('challengers = ["Ann"]', "challengers", "only a gauntlet has challengers, and the format is round_robin"),
    ("challengers_meet = false", "challengers_meet", "only a gauntlet has challengers"),
    ('seeding = "lot"', "seeding", "it makes no difference to a round_robin"),
    ('seeding = "random"', "seeding", "it must be one of given, lot"),
    ("tie_pairs = 2", "tie_pairs", "only a knockout breaks ties by further games"),
    ('tie_breaks = ["wins", "buchholtz"]', "tie_breaks[2]", "did you mean 'buchholz'?"),
    ('tie_breaks = ["wins", "wins"]', "tie_breaks[2]", "wins stands there twice"),
    ('tie_breaks = "wins"', "tie_breaks", "it must be a list in [ ], not 'wins'"),
    ("points = { win = 0 }", "points", "a win must be worth at least a draw"),
    ("points.wins = 2", "points.wins", "did you mean 'win'?"),
    ("clock = 2", "clock", "it must be a table, not 2"),
    ("clock.move_second = 2", "clock.move_second", "did you mean 'move_seconds'?"),
    ("clock = { move_seconds = 2, budget_seconds = 3 }", "clock.budget_seconds", "one of move_seconds, budget_seconds"),
    ("clock = { unlimited = true, margin_ms = 3 }", "clock.margin_ms", "does not go together with unlimited"),
    ("clock = { unlimited = false }", "clock.unlimited", "it can only be true, not False"),
    ("clock = { increment_seconds = 3 }", "clock.increment_seconds", "does not go together with move_seconds"),
    ("clock = { hard_seconds = 3 }", "clock.hard_seconds", "add strikes"),
    ("clock = { strikes = 1, hard_seconds = 1 }", "clock.hard_seconds", "it must be at least move_seconds (2), not 1"),
    ("stop.sprt = {}", "stop.sprt", "compares two bots, and 3 play"),
    ("stop.max_games = 0", "stop.max_games", "at least 1"),
    ("stop.sprt.alpha = 0.7", "stop.sprt.alpha", "it must be below 0.5, not 0.7"),
    ("limits.memory = 3", "limits.memory", "did you mean 'memory_mb'?"),
    ("server.clock.move_seconds = 3", "server.clock.move_seconds", "write it under [clock]"),
    ('server.server.data_dir = "x"', "server.server.data_dir", "the tool chooses it itself"),
    ("server.port = 3", "server.port", "it must be a table, not 3"),
    ("tournaments = 3", "tournaments", "write [[tournaments]] with double brackets"),
]


@pytest.mark.parametrize(("line", "key", "sentence"), LINE_2, ids=[line for line, _, _ in LINE_2])
def test_a_fault_is_told_with_its_line_its_key_and_what_would_be_right(
    line: str, key: str, sentence: str, folder: Path
) -> None:
    (problem,) = problems(f"{TOP}{line}\n{BOTS}", folder)
    assert (problem.line, problem.key) == (2, key)
    assert sentence in problem.message


IN_FORMATS = [
    ("swiss", "rounds = 3", "rounds", "a Swiss tournament of 3 bots can't have 3 rounds"),
    ("double_round_robin", "games_per_pairing = 1", "games_per_pairing", "it counts the games of both legs"),
    ("gauntlet", "challengers = []", "challengers", "a gauntlet needs challengers"),
    ("gauntlet", 'challengers = ["an"]', "challengers[1]", "no bot called 'an' plays here; did you mean 'Ann'?"),
    ("gauntlet", 'challengers = ["Ann", "Ann"]', "challengers[2]", "'Ann' stands there twice"),
    ("gauntlet", 'challengers = ["Ann", "Bob", "Cleo"]', "challengers", "nobody is left to challenge"),
    ("knockout", "seeds = [1]", "seeds", "to break ties; so give 2 seeds at least, not 1"),
    ("knockout", "rounds = 2", "rounds", "follow from the number of bots"),
]


@pytest.mark.parametrize(("format_", "line", "key", "sentence"), IN_FORMATS)
def test_what_does_not_fit_the_format_is_told(format_: str, line: str, key: str, sentence: str, folder: Path) -> None:
    (problem,) = problems(f'{TOP}{line}\nformat = "{format_}"\n{BOTS}', folder)
    assert (problem.line, problem.key) == (2, key)
    assert sentence in problem.message


def test_a_gauntlet_without_challengers_is_told_where_its_format_stands(folder: Path) -> None:
    (problem,) = problems(f'{TOP}format = "gauntlet"\n{BOTS}', folder)
    assert (problem.line, problem.key) == (2, "format")
    assert "e.g. challengers = ['Ann']" in problem.message


BOT_FAULTS = [
    ("shipped = 'gredy'", "shipped", "no bot 'gredy' comes along; did you mean 'greedy'?"),
    ("file = 'bots/an.py'", "file", "did you mean 'ann.py'?"),
    ("file = 'bots'", "file", "is a folder; give the bot's Python file"),
    ("file = 'random'", "file", 'the bot that comes along is shipped = "random"'),
    ("file = 'a\\u0000'", "file", "there is no file"),
    ("command = 'no-such-program-here x'", "command", "there is no program 'no-such-program-here' on the search path"),
    ("command = ['./bots/prog']", "command", "there is no program"),
    ("command = ['./bots/ann.py']", "command", "may not be executed; run: chmod +x"),
    ('command = "a \'b"', "command", "can't be split into words: No closing quotation"),
    ("command = ' '", "command", "the command is empty"),
    ("command = []", "command", "a list of words"),
    ("command = 3", "command", "a list of words"),
    ("command = ['x', 3]", "command[2]", "it must be a text in quotes, not 3"),
    ("remote = false", "remote", "it can only be true"),
    ("remote = true\nseed = 3", "seed", "a remote bot is started by its owner"),
    ("remote = true\nshipped = 'random'", "remote", "exactly one of file, shipped, command and remote"),
    ("seed = 3", "", 'exactly one of file, shipped, command and remote, e.g. shipped = "greedy", or remote = true'),
    ("shipped = 'random'\nfolder = 'nowhere'", "folder", "there is no folder"),
    ("shipped = 'random'\nenv.A = 1", "env.A", "it must be a text in quotes, not 1"),
    ("shipped = 'random'\nenv = { '' = 'x' }", "env.''", "it must not be empty, nor contain = or a null byte"),
    ("command = '{python}'\nenv = { 'A=B' = 'x' }", "env.'A=B'", "'A=B' cannot be a variable's name"),
    ('shipped = "random"\nenv = { "A\\u0000" = "x" }', "env.'A\\x00'", "cannot be a variable's name"),
    ('shipped = "random"\nenv.A = "x\\u0000"', "env.A", "a variable's value must not contain a null byte"),
    ("shipped = 'random'\nsed = 1", "sed", "did you mean 'seed'?"),
]


@pytest.mark.parametrize(("lines", "key", "sentence"), BOT_FAULTS, ids=[lines for lines, _, _ in BOT_FAULTS])
def test_a_bot_that_cannot_play_is_told(lines: str, key: str, sentence: str, folder: Path) -> None:
    if os.name != "posix" and "chmod" in sentence:
        pytest.skip("every file may be executed there")
    (problem,) = problems(f'{TOP}{BOTS}[[bots]]\nname = "Dora"\n{lines}\n', folder)
    assert problem.key == ("bots[4]." + key).rstrip(".")
    assert sentence in problem.message


@pytest.mark.parametrize("name", ["", " x", "x ", "a" * 41, "a/b", "<script>", "a\nb"])
def test_a_name_that_the_protocol_forbids_is_told(name: str, folder: Path) -> None:
    quoted = name.replace("\n", "\\n")
    (problem,) = problems(f'{TOP}{BOTS}[[bots]]\nname = "{quoted}"\nremote = true\n', folder)
    assert (problem.key, problem.line) == ("bots[4].name", 15)
    assert "cannot be a player's name; it may have 1 to 40 letters" in problem.message


@pytest.mark.parametrize("name", ["Ann", "ann", "Ａｎｎ"])
def test_two_bots_may_not_have_names_that_people_take_for_the_same(name: str, folder: Path) -> None:
    (problem,) = problems(f'{TOP}{BOTS}[[bots]]\nname = "{name}"\nremote = true\n', folder)
    assert problem.key == "bots[4].name"
    assert "is already the name of another bot" in problem.message


@pytest.mark.parametrize("name", ["Ann", "ann"])
def test_of_two_bots_with_one_name_nobody_says_that_only_one_plays(name: str, folder: Path) -> None:
    two = f'[[bots]]\nname = "Ann"\nremote = true\n[[bots]]\nname = "{name}"\nremote = true\n'
    (problem,) = problems(TOP + two, folder)
    assert "is already the name of another bot" in problem.message


@pytest.mark.parametrize("key", ["bots", "tournaments"])
@pytest.mark.parametrize("second", ["[{}]", "[[{}]]", "[ {} ]"])
def test_single_brackets_are_told_where_a_table_stands_again(key: str, second: str, folder: Path) -> None:
    (problem,) = problems(f'[{key}]\nname = "Ann"\n{second.format(key)}\nname = "Bob"\n', folder)
    assert (problem.line, problem.key) == (3, key)
    assert problem.message == f"write [[{key}]] with double brackets, once for each"


def test_one_table_of_bots_in_single_brackets_is_told_by_one_sentence(folder: Path) -> None:
    (problem,) = problems(f'{TOP}[bots]\nname = "Ann"\nremote = true\n', folder)
    assert (problem.line, problem.key) == (2, "bots")
    assert problem.message == "write [[bots]] with double brackets, once for each"


def test_one_bot_is_no_tournament(folder: Path) -> None:
    (problem,) = problems(f'{TOP}[[bots]]\nname = "Ann"\nremote = true\n', folder)
    assert (problem.line, problem.key) == (2, "bots")
    assert "needs two bots at least, and only 'Ann' plays" in problem.message
    (problem,) = problems(TOP, folder)
    assert "nobody plays" in problem.message


def test_a_game_must_be_given_and_be_one_that_there_is(folder: Path) -> None:
    (problem,) = problems(f"attempts = 2\n{BOTS}", folder)
    assert 'which game? add e.g. game = "flowerwars"' in problem.message
    (problem,) = problems(f'game = "tower_wars"\n{BOTS}', folder)
    assert problem.message == "there is no game 'tower_wars'; did you mean 'towerwars'?"
    (problem,) = problems(f"game = 3\n{BOTS}", folder)
    assert problem.message == "it must be a text in quotes, not 3"


@pytest.mark.parametrize(
    ("text", "line", "key", "table"),
    [
        (BOTS + 'game = "towerwars"\n', None, "bots[3].game", "[[bots]]"),
        ('[clock]\nmove_seconds = 1\ngame = "towerwars"\n' + BOTS, 3, "clock.game", "[clock]"),
        ('[options]\nsize = 4\ngame = "towerwars"\n' + BOTS, 3, "options.game", "[options]"),
        ('[stop.sprt]\ngame = "towerwars"\n' + BOTS, 2, "stop.sprt.game", "[stop.sprt]"),
        ('game = "towerwars"\n' + BOTS + "concurrency = 2\n", None, "bots[3].concurrency", "[[bots]]"),
        ('game = "towerwars"\n[[tournaments]]\npatience_seconds = 2\n' + BOTS, 3, "tournaments[1].patience_seconds",
         "[[tournaments]]"),
    ],
)  # fmt: skip
def test_a_key_of_the_top_that_stands_below_a_table_is_told_what_toml_makes_of_it(
    folder: Path, text: str, line: int | None, key: str, table: str
) -> None:
    (problem,) = problems(text, folder)
    assert problem.key == key
    assert problem.line == (line or text.count("\n"))
    assert problem.message.startswith(f"{table} has no key {key.rpartition('.')[2]}: in TOML a key belongs to the last")


def test_a_sequential_test_needs_pairs_of_games_and_two_hypotheses(folder: Path) -> None:
    top = f'{TOP}bots = [{{ name = "A", remote = true }}, {{ name = "B", remote = true }}]\n'
    good = parsed(f"{top}games_per_pairing = 2000\nstop.sprt.elo1 = 10\n", folder)
    assert good.events[0].stop.sprt == Sprt(0, 10, 0.05, 0.05)
    assert (
        "games_per_pairing must be even" in problems(f"{top}games_per_pairing = 1\nstop.sprt = {{}}", folder)[0].message
    )
    assert (
        "elo0 (5) must be below elo1 (5)" in problems(f"{top}stop.sprt = {{ elo0 = 5, elo1 = 5 }}", folder)[0].message
    )
    assert "take round_robin" in problems(f'{top}format = "knockout"\nstop.sprt = {{}}', folder)[0].message


def test_a_fault_in_a_tournament_stands_there_and_one_that_it_took_over_at_the_top(folder: Path) -> None:
    found = problems(
        """\
        game = "towerwars"
        rounds = 9
        format = "swiss"
        clock = { move_seconds = -1 }
        [[tournaments]]
        name = "One"
        bots = ["ann", "Bob", "Bob"]
        [[tournaments]]
        name = "ONE"
        tie_pairs = 2
        """
        + BOTS,
        folder,
    )
    assert [(problem.line, problem.key) for problem in found] == [
        (2, "rounds"),
        (4, "clock.move_seconds"),
        (7, "tournaments[1].bots"),
        (7, "tournaments[1].bots[1]"),
        (7, "tournaments[1].bots[3]"),
        (9, "tournaments[2].name"),
        (10, "tournaments[2].tie_pairs"),
    ]


def test_a_ladder_without_end_may_only_be_the_last_tournament(folder: Path) -> None:
    ladder, robin = '[[tournaments]]\nname = "L"\nformat = "ladder"\n', '[[tournaments]]\nname = "R"\n'
    assert [event.rounds for event in parsed(TOP + robin + ladder + BOTS, folder).events] == [None, None]
    parsed(TOP + ladder + "rounds = 9\n" + robin + BOTS, folder)
    parsed(TOP + ladder + "stop.max_minutes = 9\n" + robin + BOTS, folder)
    (problem,) = problems(TOP + ladder + robin + BOTS, folder)
    assert (problem.line, problem.key) == (4, "tournaments[1].format")


@pytest.mark.parametrize(
    ("text", "line"),
    [('game = "towerwars"\nformat = swiss\n', 2), ("[[bots\n", 1), ("a = 1\na = 2\n", 2), ('x = """\n\n', 3)],
)
def test_what_is_not_toml_is_told_with_its_line(text: str, line: int, folder: Path) -> None:
    with pytest.raises(TournamentFileError) as caught:
        parsed(text, folder)
    assert caught.value.code == "not_toml"
    assert caught.value.problems[0].line == line
    assert "this is not TOML" in caught.value.message


def test_a_file_from_an_editor_that_marks_utf_8_and_ends_lines_with_crlf_is_read(folder: Path) -> None:
    file = folder / "evening.toml"
    file.write_bytes(b"\xef\xbb\xbf" + (TOP + "attempts = 0\n" + BOTS).replace("\n", "\r\n").encode())
    with pytest.raises(TournamentFileError) as caught:
        read_tournament(file, draw_seed=lambda slug: 1, concurrency=1)
    assert caught.value.message == "evening.toml, line 2: attempts: it must be at least 1, not 0"
    file.write_bytes(file.read_bytes().replace(b"= 0", b"= 4"))
    assert read_tournament(file, draw_seed=lambda slug: 1, concurrency=0).concurrency == 1


def test_a_file_that_cannot_be_read_is_told(folder: Path) -> None:
    for path in (folder / "nothing.toml", folder, folder / "latin1.toml"):
        (folder / "latin1.toml").write_bytes(b'name = "\xe4"')
        with pytest.raises(TournamentFileError) as caught:
            read_tournament(path, draw_seed=lambda slug: 1, concurrency=1)
        assert caught.value.code == "unreadable_tournament"
        assert "the file cannot be read: " in caught.value.message


def test_a_seed_that_the_file_gives_is_not_drawn(folder: Path) -> None:
    drawn: list[str] = []

    def draw(slug: str) -> int:
        drawn.append(slug)
        return 5

    text = f'{TOP}[[tournaments]]\nname = "Öl & Gas"\nseed = 3\n[[tournaments]]\nname = "öl + gas!"\n{BOTS}'
    file = parse_tournament(text, folder, file="f.toml", draw_seed=draw, concurrency=1)
    assert [(event.slug, event.seed) for event in file.events] == [("ol-gas", 3), ("ol-gas-2", 5)]
    assert drawn == ["ol-gas-2"]


def test_a_bots_own_seed_depends_on_the_tournament_the_bot_and_the_game_only(folder: Path) -> None:
    text = TOP + "seed = 1\n" + BOTS
    (event,) = parsed(text, folder).events
    (same,) = parsed(text, folder).events
    seeds = {event.bot_seed(name, game) for name in event.names for game in ("1.1.1", "1.1.2", "2.1.1")}
    assert len(seeds) == 9
    assert all(0 <= seed < 2**53 for seed in seeds)
    assert event.bot_seed("Ann", "1.1.1") == same.bot_seed("Ann", "1.1.1")
    assert event.bot_seed("Ann", "1.1.1") != replace(event, seed=2).bot_seed("Ann", "1.1.1")
    with pytest.raises(KeyError):
        event.bot_seed("Nobody", "1.1.1")


@pytest.mark.parametrize("written", ["yes", "no", "on", "True"])
def test_who_writes_yes_is_told_how_toml_writes_it(written: str, folder: Path) -> None:
    with pytest.raises(TournamentFileError) as caught:
        parsed(f"game = 'towerwars'\n[clock]\nunlimited = {written}\n", folder)
    assert "line 3" in caught.value.message
    assert caught.value.message.endswith("write true or false, without quotes")


def test_a_switch_in_quotes_is_told_to_be_none(folder: Path) -> None:
    (problem,) = problems(TOP + 'clock = { unlimited = "yes" }\n' + BOTS, folder)
    assert "true, without quotes" in problem.message
