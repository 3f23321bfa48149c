"""What a side has of its times while a match gathers, however it and the other come and go."""

from __future__ import annotations

import math

import pytest

from triarena.games import Side
from triarena.server.absences import FLOOR_SECONDS, Absences

RED, BLUE = Side
GRACE, STARTUP, RESUME = 20.0, 3.0, 60.0


def started(*, grace: float = GRACE, startup: float = STARTUP) -> Absences:
    """Both sides were told that the match begins, at 0."""
    absences = Absences(grace, startup)
    absences.opened(0.0)
    return absences


def resumed() -> Absences:
    """The server was started again at 0."""
    absences = Absences(30.0, 30.0)
    absences.not_resumed(RESUME, 0.0)
    return absences


def lose(absences: Absences, side: Side, now: float, visit: int = 0) -> None:
    absences.lost(side, visit, "disconnected", f"{side.value} is gone", now)


@pytest.mark.parametrize("displaced", [True, False])
@pytest.mark.parametrize("at", [2.0, 5.0, 12.0])
def test_who_was_ready_has_all_of_its_times_again_when_it_is_cut_while_the_other_still_gathers(
    displaced: bool, at: float
) -> None:
    absences = started()
    absences.ready(RED, 0)
    lose(absences, BLUE, 1.0)
    if not displaced:
        lose(absences, RED, at)
        assert absences.until(RED) == at + GRACE
    absences.returned(RED, 1, at + 0.2)
    assert absences.until(RED) == pytest.approx(at + 0.2 + STARTUP)
    absences.ready(RED, 1)
    assert absences.until(RED) == math.inf
    assert absences.until(BLUE) == 1.0 + GRACE


def test_nor_does_it_lose_who_was_ready_while_the_other_that_came_back_loads() -> None:
    absences = started(grace=30.0, startup=30.0)
    absences.ready(RED, 0)
    lose(absences, BLUE, 20.0)
    absences.returned(BLUE, 1, 45.0)
    lose(absences, RED, 47.0)
    absences.returned(RED, 1, 48.0)
    assert absences.until(RED) == 48.0 + 30.0
    assert absences.until(BLUE) == 45.0 + 10.0


def test_after_a_restart_who_was_ready_and_is_cut_has_as_long_as_the_other_and_more() -> None:
    absences = resumed()
    absences.returned(RED, 1, 1.0)
    absences.ready(RED, 1)
    absences.returned(BLUE, 1, RESUME - 5)
    assert absences.until(BLUE) == RESUME - 5 + 30.0
    lose(absences, RED, RESUME + 5, visit=1)
    assert absences.until(RED) == RESUME + 5 + RESUME > absences.until(BLUE)
    absence = absences.of(RED)
    assert absence is not None
    assert absence.overdue == "red is gone; it was to be back and ready within 60 s"


@pytest.mark.parametrize("startup", [1.0, STARTUP, 30.0])
def test_who_comes_back_late_has_some_seconds_to_say_ready(startup: float) -> None:
    absences = started(startup=startup)
    lose(absences, BLUE, startup - 0.1)
    absences.returned(BLUE, 1, 15.0)
    assert absences.until(BLUE) == 15.0 + min(startup, FLOOR_SECONDS)


def test_a_second_loss_does_not_shorten_the_grace_period_that_the_first_began() -> None:
    absences = started()
    lose(absences, BLUE, 1.0)
    absences.returned(BLUE, 1, 2.0)
    lose(absences, BLUE, 3.0, visit=1)
    assert absences.until(BLUE) == 1.0 + GRACE
    absences.returned(BLUE, 2, 10.0)
    assert absences.until(BLUE) == 10.0 + STARTUP


@pytest.mark.parametrize("step", [0.1, 0.7, 2.9])
def test_coming_and_going_without_ready_ends_for_all_that_within_one_grace_and_one_startup_time(step: float) -> None:
    absences = started()
    absences.ready(RED, 0)
    now, visit = 0.0, 0
    while now < absences.until(BLUE):
        now += step
        lose(absences, BLUE, now, visit)
        visit += 1
        now += step
        absences.returned(BLUE, visit, now)
    assert now <= step + GRACE + STARTUP + 2 * step


def test_a_rest_is_not_told_as_if_it_were_the_rule() -> None:
    absences = started(startup=30.0)
    lose(absences, BLUE, 28.0)
    absences.returned(BLUE, 1, 30.0)
    loading = absences.of(BLUE)
    assert loading is not None
    assert loading.overdue == "blue did not answer 'match_started' with 'ready' within what was left of its 30 s"
    lose(absences, BLUE, 31.0, visit=1)
    away = absences.of(BLUE)
    assert away is not None
    assert away.overdue == "blue is gone, and it did not come back within what was left of its 20 s"


def test_who_was_lost_before_the_start_could_be_stored_stays_away() -> None:
    absences = Absences(GRACE, STARTUP)
    lose(absences, BLUE, 1.0)
    absences.renew(50.0)
    absences.opened(50.0)
    blue, red = absences.of(BLUE), absences.of(RED)
    assert blue is not None
    assert red is not None
    assert (blue.reason, blue.until, red.reason, red.until) == ("disconnected", 70.0, "no_show", 53.0)


@pytest.mark.parametrize("away", [1.0, 100.0])
def test_what_the_server_keeps_everybody_waiting_is_taken_from_no_time(away: float) -> None:
    absences = started()
    absences.ready(RED, 0)
    lose(absences, BLUE, 1.0)
    lose(absences, RED, 1.0)
    absences.returned(RED, 1, 2.0)
    absences.postpone(away)
    assert absences.until(BLUE) == 21.0 + away
    assert absences.until(RED) == 5.0 + away
    absences.returned(BLUE, 1, 20.0 + away)
    assert absences.until(BLUE) == 20.0 + away + STARTUP
