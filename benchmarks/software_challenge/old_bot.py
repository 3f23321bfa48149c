"""A bot of the 2024 season, on the package ``socha`` 2.2.2, which tells what it sees. It has an environment of its own.

    python old_bot.py PORT GAMES SEED LOG [--reservation CODE]

To the file LOG it writes a line of JSON for each state that it was shown: the room, the turn, both ships, and, when it
is to move, the moves that the package lists (and short ones that it accepts), each with whether the package's own rules
accept it, the one that it made, and what those rules make of it. It prefers moves that gain points for little coal, so
that its games are long, and come to an end of every kind.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any, TextIO

from socha._socha import Advance, Move  # type: ignore[import-not-found]  # lives in its own environment
from socha.api.networking.game_client import GameClient, IClientHandler  # type: ignore[import-not-found]  # likewise

RECKLESS = 0.02
"""How often any move will do."""
LISTED = 100
"""How many of the listed moves are told; a list of the package can have ten thousands, the most of them much alike."""
CHEAP = 3
"""Up to so much coal the package lists moves quickly; with 6 it takes a second for them."""
SELDOM = 0.2
"""How often it is asked for the list all the same."""
WEIGHED = 40
"""How many moves it weighs: the shortest that there are."""
WAIT_SECONDS = 0.02
"""How long the package waits for more bytes before it looks at what it has; its own default is 0.1."""


class Bot(IClientHandler):  # type: ignore[misc]  # the package is not typed here
    """Plays one game."""

    history: list[list[Any]]

    def __init__(self, rng: random.Random, log: TextIO) -> None:
        self.history = []
        self.rng = rng
        self.log = log
        self.state: Any = None
        self.room = ""
        self.made: list[str] | None = None
        self.expected: dict[str, Any] | None = None

    def on_game_joined(self, room_id: str) -> None:
        """A seat was taken."""
        self.room = room_id

    def on_update(self, state: Any) -> None:
        """A state was shown."""
        self.state = state
        self.tell({"turn": state.turn, "ships": ships(state), "made": self.made, "expected": self.expected})
        self.made = self.expected = None

    def calculate_move(self) -> Any:
        """The move, and what is told of it."""
        cheap = self.state.current_ship.coal <= CHEAP or self.rng.random() < SELDOM
        listed = self.state.possible_moves() if cheap else []
        shown = listed if len(listed) <= LISTED else self.rng.sample(listed, LISTED)
        judged = [(move, accepted(self.state, move)) for move in shown]
        short = list(islice(searched(self.state), WEIGHED))
        moves = [move for move, good in judged if good]
        judged += [(move, True) for move in short]
        self.tell({"turn": self.state.turn, "listed": [[actions(move), good] for move, good in judged]})
        move = self.rng.choice(moves or short)
        if short and self.rng.random() > RECKLESS:
            self.rng.shuffle(short)
            move = max(short, key=self.gain)
        self.made, self.expected = actions(move), ships(self.state.perform_move(move))
        return move

    def gain(self, move: Any) -> float:
        """Points and passengers above all, then coal, and no great speed."""
        after = self.state.perform_move(move)
        ship = next(s for s in (after.current_ship, after.other_ship) if s.team == self.state.current_ship.team)
        return float(ship.points + 20 * ship.passengers + 10 * ship.coal - 3 * abs(ship.speed - 2))

    def on_game_over(self, roomMessage: Any) -> None:  # noqa: N803  # the package's name
        """The result."""
        winner = roomMessage.winner
        self.tell({"over": {"team": winner.team, "regular": winner.regular, "reason": winner.reason}})

    def on_error(self, logMessage: str) -> None:  # noqa: N803  # the package's name
        """The server did not accept a move."""
        self.tell({"error": str(logMessage)})

    def tell(self, facts: dict[str, Any]) -> None:
        """A line of the log."""
        self.log.write(json.dumps({"room": self.room, **facts}) + "\n")
        self.log.flush()


def searched(state: Any, depth: int = 3) -> Iterator[Any]:
    """Moves that the package's rules accept, step by step, the shortest first.

    Its own list has none to which anything could be added, so that they waste their coal; at times it is empty. An
    advance right after another is left out, as in that list: to the package they are two, to the original's server one.
    """
    unfinished: list[tuple[list[Any], Any]] = [([], state)]
    while unfinished:
        made, now = unfinished.pop(0)
        first = now.possible_accelerations() if not made else []
        for action in [*now.possible_pushes(), *now.possible_advances(), *now.possible_turns(), *first]:
            if made and type(made[-1]) is type(action) is Advance:
                continue
            try:
                after = now.perform_action(action)
            except BaseException:  # one of the package's own
                continue
            move = Move([*made, action])
            if accepted(state, move):
                yield move
            elif len(made) < depth:
                unfinished.append(([*made, action], after))


def accepted(state: Any, move: Any) -> bool:
    """Whether the package's own rules accept a move; not all that it lists they do."""
    try:
        state.perform_move(move)
    except BaseException:
        return False
    return True


def ships(state: Any) -> dict[str, list[Any]]:
    """Both ships by team: position, direction, speed, coal, passengers."""
    return {
        "ONE" if str(ship.team).endswith("One") else "TWO": [
            [ship.position.q, ship.position.r, ship.position.s],
            str(ship.direction).split("::")[-1],
            ship.speed,
            ship.coal,
            ship.passengers,
        ]
        for ship in (state.current_ship, state.other_ship)
    }


def actions(move: Any) -> list[str]:
    """A move in short: a letter for the kind of each action, then its value."""
    told = []
    for action in move.actions:
        kind = type(action).__name__
        if kind == "Accelerate":
            value = str(action.acc)
        elif kind == "Advance":
            value = str(action.distance)
        else:
            value = str(action.direction).split("::")[-1]
        told.append(f"{kind} {value}")
    return told


def play(port: int, rng: random.Random, log: TextIO, reservation: str | None) -> None:
    """One game, from joining to leaving. The package ends by leaving the program."""
    client = GameClient("127.0.0.1", port, Bot(rng, log), reservation, None, None, False, False, False)
    client.network_interface.socket.settimeout(WAIT_SECONDS)
    client.join()
    try:
        client.start()
    except SystemExit:
        return


def main() -> None:
    """See above."""
    port, games, seed, path = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    reservation = sys.argv[6] if sys.argv[5:6] == ["--reservation"] else None
    rng = random.Random(seed)
    with open(path, "w", encoding="utf-8") as log:
        for _ in range(games):
            play(port, rng, log, reservation)
            time.sleep(0.05)


if __name__ == "__main__":
    main()
