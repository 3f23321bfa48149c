"""Games of the Software-Challenge by plain joins, many at once: does the server hang, and what does a move cost it?

    python benchmarks/plain_joins.py [GAMES] [AT_ONCE]

What a move costs includes its share of joining, and of starting and ending its game, which has few moves.
The original deadlocks with four and more games at once, and takes 27 ms of processor time for a move (1.4 to 2.1 ms
without the collections that it forces). Exits with 1 if a game does not come to its end.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

from fleet.arguments import count, reader
from fleet.verdict import ended
from software_challenge.hosting import host
from software_challenge.xml_players import Played, Seats, play_games


def main() -> None:
    """See above."""
    parser = reader(__doc__)
    parser.add_argument("games", metavar="GAMES", type=count, nargs="?", default=200)
    parser.add_argument("at_once", metavar="AT_ONCE", type=count, nargs="?", default=8)
    options = parser.parse_args()
    games, at_once = options.games, options.at_once
    with tempfile.TemporaryDirectory() as folder, host(Path(folder)) as server:
        played, seats = Played(), Seats(games)
        players = [
            threading.Thread(target=play_games, args=(server.xml_port, seed, seats, played), daemon=True)
            for seed in range(2 * at_once)
        ]
        cpu, began = server.cpu_seconds(), time.monotonic()
        for player in players:
            player.start()
        for player in players:
            player.join()
        took, cpu = time.monotonic() - began, server.cpu_seconds() - cpu
        ended = len(server.replays())
    reasons = ", ".join(f"{count // 2} {reason}" for reason, count in sorted(played.reasons.items()))
    print(f"{ended} games ({reasons}), {at_once} at once, {played.moves} moves in {took:.1f} s")
    per_move = 1000 * cpu / max(1, played.moves)
    print(f"server CPU per move: {per_move:.2f} ms (the original: 27, and 1.4 to 2.1 without its collections)")
    for failure in played.failures:
        print(failure)
    if played.failures or ended != games:
        sys.exit(1)


if __name__ == "__main__":
    ended(main)
