"""Asking a person for moves: one line is a move in the game's notation, or a word of ``HELP``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

import click

from triarena.games import AnyGame, AnyPosition, MoveError
from triarena.games.registry import BUILT_IN

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
            if word in ("help", "?"):
                click.echo(self.help(position))
            elif word in ("moves", "legal"):
                click.echo(self.moves(position, rest.strip()))
            elif word == "hint":
                click.echo(self.hint(position))
            elif line:
                try:
                    move = self.game.parse(completed(self.game.name, line))
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
            (
                "moves",
                f"or legal: some of the legal moves; 'moves {example[:2]}' lists those that begin with {example[:2]}",
            ),
            ("hint", "what the greedy bot would play"),
            ("undo", "take back your last move and the answer to it"),
            ("surrender", "give up"),
            ("quit", "leave the game"),
        ]
        known = ("a move", "moves", *(["hint"] if self.game.name in BUILT_IN else []), *self.words)
        return "\n".join(f"  {word:<10} {meaning}" for word, meaning in lines if word in known)

    def moves(self, position: AnyPosition, prefix: str) -> str:
        """Some legal moves whose text begins with ``prefix``, whatever its case."""
        wanted = prefix.lower()
        searched = [self.game.format(move) for move in islice(position.legal_moves(), SEARCHED)]
        found = [text for text in searched if text.lower().startswith(wanted)]
        if not found:
            return f"no legal move begins with {prefix}"
        more, least = len(found) - SHOWN, "at least " if len(searched) == SEARCHED else ""
        rest = [f"... and {least}{more} more; moves PREFIX lists those that begin so"] if more > 0 else []
        return "\n".join(f"  {text}" for text in (*found[:SHOWN], *rest))

    def hint(self, position: AnyPosition) -> str:
        """What the greedy bot would play."""
        from triarena.clients.bots import load_bot
        from triarena.protocol.values import Clock

        if self.game.name not in BUILT_IN:
            return f"{self.game.title} has no greedy bot that could give a hint"
        return (
            f"greedy would play {self.game.format(load_bot('greedy', self.game.name).choose_move(position, Clock()))}"
        )


def completed(game: str, line: str) -> str:
    """What a person typed, in the game's notation: the braces of FlowerWars may be left out, only points count.

    Twelve numbers are the six points of two flowers, four those of a ditch.
    """
    numbers = re.findall(r"\d+", line)
    if game != "flowerwars" or not re.fullmatch(r"[\d\s(),;{}]*", line) or len(numbers) not in (4, 12):
        return "{End}" if game == "flowerwars" and line.lower() == "end" else line
    points = [f"({column},{row})" for column, row in zip(numbers[::2], numbers[1::2], strict=True)]
    if len(points) == 2:
        return "{{" + ",".join(points) + "}}"
    return "{{" + ",".join(points[:3]) + "},{" + ",".join(points[3:]) + "}}"
