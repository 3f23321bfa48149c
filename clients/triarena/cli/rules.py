"""``triarena rules GAME``: the rules engines for programs in other languages, over standard input and output."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

import click

from triarena.games import AnyGame, UnknownGame, find_game
from triarena.games.service import answer, refusal

MAX_LINE = 16 * 1024 * 1024
"""Longer requests are refused unread."""


@click.command(
    epilog="Every line is answered, in order; a line that cannot be answered gets a map with an error. "
    "The command ends at the end of its input."
)
@click.argument("game")
def rules(game: str) -> None:
    """Answer questions about the rules of GAME: one JSON request per line of standard input, one JSON answer
    per line of standard output.

    \b
    $ echo '{"options": {"size": 4}, "moves": ["A2->A3"], "ask": ["count", {"perft": 2}]}' | triarena rules towerwars
    {"count":20,"perft":417}

    \b
    A request may have
      id        a number or string, echoed in the answer
      options   the game's options by name (see: triarena games)
      seed      a whole number; what the game draws comes from it
      position  where to start instead, as an answer gave it
      moves     what to play first: a list of texts or of moves as in the protocol
      ask       a list of questions

    \b
    Questions
      "count"        the number of legal moves
      "legal"        their texts
      "moves"        the same moves as in the protocol, in the same order
      "digest"       SHA-256 of their texts, sorted, each followed by a newline
      "position"     the position as in the protocol
      "outcome"      winner, reason and scores; null while the game goes on
      {"check": M}   whether the move M is legal, and why not
      {"read": M}    the move M, given as text or as in the protocol, in both forms
      {"perft": N}   the number of sequences of N moves
    """
    try:
        engine = find_game(game)
    except UnknownGame as error:
        raise click.UsageError(str(error)) from None
    answer_lines(engine, sys.stdin.buffer, sys.stdout.buffer)


def answer_lines(game: AnyGame, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer every line of ``requests`` as soon as it is there. Raises OSError when the reader has gone."""
    while line := requests.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = requests.readline(MAX_LINE)
            reply = refusal("line_too_long", f"a request may have at most {MAX_LINE:,} bytes")
        else:
            reply = _answer_safely(game, line)
        answers.write(reply.encode() + b"\n")
        answers.flush()


def _answer_safely(game: AnyGame, line: bytes) -> str:
    """The answer; a fault in an engine is answered as well, since the next line may be fine."""
    try:
        return answer(game, line)
    except Exception as error:
        if os.environ.get("TRIARENA_DEBUG"):
            raise
        return refusal("internal_error", f"fault in the rules of {game.name}, please report it: {error!r:.200}")
