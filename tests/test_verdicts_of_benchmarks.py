"""What the reliability benchmarks conclude: who lost rightly, and when there were too few to judge."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fleet.crew import Noted, Played
from fleet.verdict import Verdict
from stalls import MODES, UNTIMED, Mode, Tally, report

from triarena.protocol.values import Budget, PerMove, TimeControl, Unlimited

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
PER_MOVE = next(mode for mode in MODES if mode.name == "per move")


def played(side: str, *own_ms: float, unanswered: float | None = None, loser: str = "") -> Played:
    """A bot whose moves took so long by its own clock; ``loser`` lost the match on time."""
    winner = {"red": "blue", "blue": "red"}.get(loser)
    detail = {"offenders": [loser], "message": "so it ended"}
    over = {"result": {"reason": "timeout", "winner": winner, "detail": detail}}
    notes = [Noted(2 * ply, took, took, waited=500) for ply, took in enumerate(own_ms)]
    return Played(side, notes, over if loser else None, unanswered)


@pytest.mark.parametrize(
    ("control", "own_ms", "unanswered", "late"),
    [
        (PerMove(move_ms=300), [290], 310, True),
        (PerMove(move_ms=300), [290], 299, False),
        (PerMove(move_ms=300), [290], None, False),
        (PerMove(move_ms=300, strikes=1, hard_ms=450), [310], 290, False),
        (PerMove(move_ms=300, strikes=1, hard_ms=450), [310], 310, True),
        (PerMove(move_ms=300, strikes=1, hard_ms=450), [], 460, True),
        (Budget(budget_ms=400, increment_ms=60), [300, 100], 130, True),
        (Budget(budget_ms=400, increment_ms=60), [300, 100], 110, False),
        (Unlimited(), [9000], 9000, False),
    ],
)
def test_a_bot_was_late_if_its_own_times_overrun_the_clock_of_the_match(
    control: TimeControl, own_ms: list[float], unanswered: float | None, late: bool
) -> None:
    assert played("red", *own_ms, unanswered=unanswered).was_late(control) is late


def ends(loser: str, *, red: float | None = None, blue: float | None = None) -> tuple[Played, Played]:
    return played("red", unanswered=red, loser=loser), played("blue", unanswered=blue, loser=loser)


def test_a_slow_bot_that_loses_is_as_promised_and_one_that_wins_is_not() -> None:
    tally = Tally()
    assert tally.add_slow(ends("red", red=400), PER_MOVE.control)
    assert (tally.slow_lost, tally.wrong) == (1, [])
    tally.add_slow(ends("blue", blue=20), PER_MOVE.control)
    assert len(tally.wrong) == 2


def test_a_slow_bots_match_does_not_count_if_its_opponent_was_late_by_its_own_clock() -> None:
    tally = Tally()
    assert not tally.add_slow(ends("blue", blue=500), PER_MOVE.control)
    assert (tally.slow_lost, tally.late, tally.wrong) == (0, 1, [])


def concluded(mode: Mode, tally: Tally) -> Verdict:
    return report("loop", {mode.name: tally})


def test_a_proof_in_which_nothing_happened_proves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert concluded(PER_MOVE, Tally()) is Verdict.UNJUDGED
    assert concluded(PER_MOVE, Tally(notes=played("red", 50).notes)) is Verdict.UNJUDGED
    assert "TOO FEW to judge" in capsys.readouterr().out
    assert concluded(PER_MOVE, Tally(notes=played("red", 50).notes, slow_lost=1)) is Verdict.KEPT
    (untimed,) = (mode for mode in MODES if mode.name in UNTIMED)
    assert concluded(untimed, Tally(notes=played("red", 50).notes)) is Verdict.KEPT
    assert concluded(PER_MOVE, Tally(wrong=["a slow bot did not lose"])) is Verdict.BROKEN


def test_what_is_broken_in_a_part_is_broken_in_the_whole() -> None:
    assert Verdict.worst([Verdict.KEPT, Verdict.UNJUDGED, Verdict.BROKEN]) is Verdict.BROKEN
    assert Verdict.worst([Verdict.KEPT, Verdict.UNJUDGED]) is Verdict.UNJUDGED
    assert Verdict.worst([Verdict.KEPT]) is Verdict.KEPT
    assert Verdict.worst([]) is Verdict.UNJUDGED


def test_a_database_that_does_not_answer_is_told_in_one_sentence_without_its_password() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "crashes.py"), "--database", "postgresql://u:tuna@127.0.0.1:1/x"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("the database cannot be used: ")
    assert len(done.stderr.splitlines()) == 1
    assert "tuna" not in done.stderr


@pytest.mark.slow
def test_no_match_is_too_few_to_find_a_false_time_out() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "false_timeouts.py"), "--seconds", "0.001", "--load", "0"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "TOO FEW to judge" in done.stdout
