"""What may be started now, and who waits for whom."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from triarena.tournament.formats import make_format
from triarena.tournament.schedule import Wait, playable, waits
from triarena.tournament.values import Plan, Round

FOUR = make_format("round_robin", ["Ann", "Bob", "Cy", "Di"], seed=1).plan({})  # Ann-Di Bob-Cy, Di-Cy Ann-Bob ...


def ids(plan: Plan) -> list[str]:
    return [each.id for each in plan.fixtures()]


def test_nothing_played_yet_the_first_game_of_each_table_may_start() -> None:
    assert [each.id for each in playable(FOUR, (), ())] == ["1.1.1", "1.2.1"]


def test_who_is_done_early_goes_on_with_the_next_round() -> None:
    played = {"1.1.1", "1.1.2", "1.2.1"}
    assert [each.id for each in playable(FOUR, played, {"1.2.2"})] == []
    assert [each.id for each in playable(FOUR, played | {"1.2.2"}, ())] == ["2.1.1", "2.2.1"]


def test_games_with_players_who_are_not_there_wait_and_others_are_preferred() -> None:
    assert [each.players for each in playable(FOUR, (), (), {"Ann", "Bob"})] == [("Ann", "Bob")]
    assert playable(FOUR, (), (), {"Ann"}) == []


@settings(deadline=None)
@given(st.integers(2, 12), st.data())
def test_what_may_start_is_new_and_holds_nobody_twice_and_nothing_could_be_added(
    size: int, data: st.DataObject
) -> None:
    players = [f"bot{i}" for i in range(size)]
    plan = make_format("round_robin", players, seed=1).plan({})
    fixtures = {each.id: each for each in plan.fixtures()}
    played = data.draw(st.sets(st.sampled_from(sorted(fixtures))))
    running = {each.id for each in playable(plan, played, ())[:: data.draw(st.integers(1, 3))]}
    present = data.draw(st.one_of(st.none(), st.sets(st.sampled_from(players))))
    ready = playable(plan, played, running, present)
    busy = [name for each in [*ready, *(fixtures[i] for i in running)] for name in each.players]
    assert len(set(busy)) == len(busy)
    assert all(each.id not in played | running for each in ready)
    assert ready == [each for each in plan.fixtures() if each in ready]
    here = set(players) if present is None else present
    assert all(set(each.players) <= here for each in ready)
    for each in fixtures.values():
        if each.id not in played | running and set(each.players) <= here:
            assert each in ready or set(each.players) & set(busy)
    if not ready and not running and present is None:
        assert played == set(fixtures)
    for wait in waits(plan, played, running, present):
        assert wait.player in here
        assert wait.player not in busy


def test_who_waits_for_a_player_who_is_playing_is_told() -> None:
    played = {"1.1.1", "1.1.2", *(each for each in ids(FOUR) if each[0] != "1" and each[0] != "2")}
    assert [str(each) for each in waits(FOUR, played, {"1.2.1"})] == [
        "Ann waits for Bob, who is playing.",
        "Di waits for Cy, who is playing.",
    ]


def test_who_waits_for_a_player_who_is_not_there_is_told() -> None:
    found = waits(FOUR, (), {"1.2.1"}, {"Ann", "Bob", "Cy"})
    assert found == (Wait("Ann", "absent", ("Di",)), Wait("Ann", "playing", ("Bob", "Cy")))
    assert str(found[0]) == "Ann waits for Di, who is not here."
    assert str(found[1]) == "Ann waits for Bob and Cy, who are playing."


def test_who_could_start_who_plays_and_who_is_done_waits_for_nobody() -> None:
    assert waits(FOUR, (), ()) == ()
    assert waits(FOUR, (), {"1.1.1", "1.2.1"}) == ()
    assert waits(FOUR, ids(FOUR), ()) == ()


def test_who_waits_for_the_next_round_is_told_whose_results_it_needs() -> None:
    plan = Plan((Round(1, FOUR.rounds[0].encounters, byes=("Eve",)),), complete=False)
    found = waits(plan, {"1.1.1", "1.1.2"}, {"1.2.1"})
    assert found == tuple(Wait(name, "results", ("Bob", "Cy")) for name in ("Ann", "Di", "Eve"))
    assert str(found[0]) == "Ann waits for the end of the games of Bob and Cy, on which the next round depends."


def test_many_who_are_waited_for_are_not_all_named() -> None:
    wait = Wait("Ann", "absent", tuple(f"bot{i}" for i in range(9)))
    assert str(wait) == "Ann waits for bot0, bot1, bot2, bot3, bot4, bot5 and 3 more, who are not here."
