"""Bots as no organiser wants them, and two good ones: their sources, and the file of a tournament between them all."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PLAYS = """
import random

def choose_move(position):
    misbehave()
    return random.choice(list(position.legal_moves()))
"""

FILES: Final = {
    "Good": PLAYS + "\ndef misbehave(): pass\n",
    "Hangs": "while True: pass\n",
    "Dies": PLAYS + "\nimport os\ndef misbehave(): os._exit(3)\n",
    "Raises": PLAYS + "\ndef misbehave(): raise KeyError('opening book')\n",
    "Thinks": PLAYS + "\nimport time\ndef misbehave(): time.sleep(3600)\n",
    "Eats": PLAYS
    + """
hoard = []

def misbehave():
    while True:
        hoard.append(bytearray(b"x") * (16 << 20))
""",
    "Cheats": """
played = []

def choose_move(position):
    played.append(next(position.legal_moves()))
    return played[0]  # again and again
""",
    "Forks": PLAYS
    + """
import os, signal, time

forked = False

def misbehave():
    "A child, and a daemon that nothing but SIGKILL ends."
    global forked
    if forked:
        return
    forked = True
    for daemon in (False, True):
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if daemon:
                os.setsid()
                if os.fork():
                    os._exit(0)
            time.sleep(3600)
        elif daemon:
            os.waitpid(child, 0)
""",
    "Shouts": PLAYS
    + """
import os
from pathlib import Path

def get_ready(match):
    "A gigabyte, in the first match only: it takes seconds."
    if not Path("has_shouted").exists():
        Path("has_shouted").touch()
        for _ in range(1024):
            os.write(2, b"shout! " * (1 << 20 >> 3) + b"!" * (1 << 17))

def misbehave(): pass
""",
}
"""Python files with ``choose_move``."""

PROGRAM = """
import os, signal, socket, sys, time

words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
server = words["--host"], int(words["--port"])
"""
PROGRAMS: Final = {
    "Mumbles": PROGRAM  # bytes that are no message, on the wire and on the standard output
    + """
os.write(1, os.urandom(1 << 20))
with socket.create_connection(server) as connection:
    connection.sendall(os.urandom(1 << 16))
    while connection.recv(1 << 16): pass
time.sleep(0.1)
""",
    "Deaf": PROGRAM  # takes its seat, never gets ready, and stays when told to go
    + """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
from triarena.clients import play
play(
    lambda position: None, get_ready=lambda match: time.sleep(3600),
    host=server[0], port=server[1], reservation=words["--reservation"],
)
""",
    "Stays": PROGRAM + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(3600)\n",
    "Exits": "raise SystemExit('no licence')\n",
}
"""Programs that are started for each game."""

FORFEITS: Final = {
    "Hangs": {"no_show"},
    "Dies": {"disconnected"},
    "Raises": {"left"},
    "Thinks": {"timeout"},
    "Eats": {"disconnected", "timeout"},  # which comes first depends on how fast memory is
    "Cheats": {"illegal_move"},
    "Mumbles": {"start_failed", "no_show"},
    "Deaf": {"no_show"},
    "Stays": {"no_show"},
    "Exits": {"start_failed", "no_show"},  # the latter where both did not come
}
"""How each of them fails in every game of its own, by the referee's reasons."""
HARMLESS: Final = frozenset(["Good", "Greedy", "Forks", "Shouts"])
"""Who may win, by whatever else they do."""


def write_tournament(folder: Path, games_per_pairing: int) -> Path:
    """The bots in folders of their own, and the file of a round robin between them."""
    lines = [
        'name = "Evening of the rude"',
        'game = "towerwars"',
        "options = { size = 4 }",
        f"games_per_pairing = {games_per_pairing}",
        "seed = 13",
        "concurrency = 2",
        "start_seconds = 4",
        "clock = { move_seconds = 1 }",
        "limits = { memory_mb = 512, processes = 16 }",
        "server = { clock = { startup_seconds = 6 } }",
        "[[bots]]",
        'name = "Greedy"',
        'shipped = "greedy"',
    ]
    for name, source in (FILES | PROGRAMS).items():
        (folder / name).mkdir()
        (folder / name / "bot.py").write_text(source, encoding="utf-8")
        how = f'file = "{name}/bot.py"' if name in FILES else 'command = ["{python}", "bot.py"]'
        lines += ["[[bots]]", f'name = "{name}"', how, *([f'folder = "{name}"'] if name in PROGRAMS else [])]
    file = folder / "rude.toml"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
