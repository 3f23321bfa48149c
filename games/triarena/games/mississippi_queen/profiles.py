"""The rule profiles: where the seed text and the original program of 2024 differ, each as one frozen value.

Whatever differs between the profiles is a policy here, asked in one place of the rules; everything else
is the same in both.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """How the open questions of the rules are answered."""

    name: str
    stuck_side_loses: bool
    """A side without a legal move loses and scores nothing; else points decide (seed, section 5)."""
    distance_ends_at_once: bool
    """More than three segments behind ends the game after any move; else at the end of a round (seed, section 5)."""
    distance_leader_wins: bool
    """... and the leader wins; else points decide (seed, section 5)."""
    pushed_pickup_by_plain_speed: bool
    """A pushed ship picks up at speed 1 only; else at effective speed 1, so 2 on the stream (seed, section 2.3)."""
    redraw_blocked_boards: bool
    """A board with a dock that is no water, or without a way to the goal, is drawn anew (seed, sections 2.3 and 1)."""


SEED = Profile(
    name="seed",
    stuck_side_loses=False,
    distance_ends_at_once=False,
    distance_leader_wins=False,
    pushed_pickup_by_plain_speed=False,
    redraw_blocked_boards=True,
)

SERVER_24_2_5 = Profile(
    name="server-24.2.5",
    stuck_side_loses=True,
    distance_ends_at_once=True,
    distance_leader_wins=True,
    pushed_pickup_by_plain_speed=True,
    redraw_blocked_boards=False,
)

PROFILES = {profile.name: profile for profile in (SEED, SERVER_24_2_5)}
