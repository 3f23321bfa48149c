"""Asking a person for moves: one line is a move in the game's notation, or a word of ``HELP``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

import click

from triarena.games import AnyGame, AnyPosition, MoveError

Word: TypeAlias = Literal["undo", "surrender", "quit"]
SHOWN: Final = 24
"""How many legal moves ``moves`` lists."""
SEARCHED: Final = 200_000
"""Through how many legal moves ``moves PREFIX`` looks; the largest boards have more."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A person at a terminal."""

    game: AnyGame
    read: Callable[[str], str]
    """Asks for a line; raises EOFError at the end of the input."""
    words: tuple[Word, ...]
    """What can be said beside moves, ``help`` and ``moves``."""

    def ask(self, position: AnyPosition) -> Any:
        """A legal move, or one of the words. What cannot be played is explained and asked again."""
        while True:
            try:
                line = self.read(f"{position.to_move}> ").strip()
            except EOFError:
                return "quit"
            word, _, rest = line.partition(" ")
            if word in self.words and not rest:
                return word
            if word == "help":
                click.echo(self.help(position))
            elif word == "moves":
                click.echo(self.moves(position, rest.strip()))
            elif line:
                try:
                    move = self.game.parse(line)
                    position.check(move)
                except MoveError as error:
                    click.echo(f"{error.message} [{error.code}]")
                else:
                    return move

    def help(self, position: AnyPosition) -> str:
        """What can be typed here."""
        example = next((self.game.format(move) for move in position.legal_moves()), "")
        lines = [
            ("a move", f"e.g. {example}"),
            ("moves", f"some of the legal moves; 'moves {example[:2]}' those that begin so"),
            ("undo", "take your last move back, and the answer to it"),
            ("surrender", "give the game up"),
            ("quit", "go away"),
        ]
        known = ("a move", "moves", *self.words)
        return "\n".join(f"  {word:<10} {meaning}" for word, meaning in lines if word in known)

    def moves(self, position: AnyPosition, prefix: str) -> str:
        """Some legal moves whose text begins with ``prefix``, whatever its case."""
        wanted = prefix.lower()
        texts = (self.game.format(move) for move in islice(position.legal_moves(), SEARCHED))
        found = list(islice((text for text in texts if text.lower().startswith(wanted)), SHOWN + 1))
        if not found:
            return f"no legal move begins with {prefix}"
        return "\n".join(f"  {text}" for text in found[:SHOWN]) + ("\n  ..." if len(found) > SHOWN else "")
