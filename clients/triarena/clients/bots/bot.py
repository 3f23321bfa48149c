"""What a bot is, and calling one so that its faults end in one sentence for its author."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from traceback import TracebackException
from typing import Any, Final, TypeAlias

from triarena.clients.errors import BotError
from triarena.games import AnyGame, MoveError, Plain
from triarena.games.core import shown

BotMove: TypeAlias = Callable[..., Any]
"""``choose_move(position)`` or ``choose_move(position, clock)``; returns a move, or its text."""

OURS: Final = str(Path(__file__).parents[2])
"""The folder of this package and of the command line, whose frames a bot's author need not see."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A player: one function, and two that it may have besides."""

    choose_move: Callable[[Any, Any], Any]
    """Position and clock to a move, or its text."""
    get_ready: Callable[[Any], object] | None = None
    """Called with the ``Match`` before the first move, outside the clock."""
    come_back: Callable[[Any], object] | None = None
    """Called with the ``Match`` after the connection was lost during it and is back; the clock may be running."""


def bot_of(
    choose_move: BotMove,
    get_ready: Callable[[Any], object] | None = None,
    come_back: Callable[[Any], object] | None = None,
) -> Bot:
    """The bot of these functions. Raises BotError if they cannot be called as a bot is."""
    takes_clock = _positional(choose_move, "choose_move", "(position) or (position, clock)", (1, 2)) == 2
    for name, function in (("get_ready", get_ready), ("come_back", come_back)):
        if function is not None:
            _positional(function, name, "(match)", (1,))
    return Bot(choose_move if takes_clock else lambda position, clock: choose_move(position), get_ready, come_back)


def call_bot(what: str, function: Callable[..., Any], *arguments: Any, passes: tuple[type[Exception], ...] = ()) -> Any:
    """What the bot's function returns. Its exceptions become BotError ``bot_failed``.

    Those of ``passes`` do not, nor does Ctrl-C. ``SystemExit`` does: a bot that calls ``exit()`` has failed as well.
    """
    try:
        return function(*arguments)
    except (KeyboardInterrupt, BotError):  # the latter from a bot that is loaded when it is to get ready
        raise
    except BaseException as error:
        if isinstance(error, passes):
            raise
        where, traceback = explain(error)
        raise BotError(  # noqa: ASYNC104 - no event loop runs here, so nothing was cancelled
            "bot_failed", f"{what} raised {summary(error)}{where}", traceback
        ) from None


def chosen_move(game: AnyGame, returned: Any) -> tuple[Any, Plain]:
    """The move that a bot returned, itself or by its text, and its wire form. Raises BotError if it is none.

    Whether the rules allow it is another question.
    """
    if returned is None:
        raise BotError("no_move", "choose_move returned None; is a 'return' missing?")
    why = f"it returned {shown(returned)}"
    try:
        wire = game.write_move(game.parse(returned) if isinstance(returned, str) else returned)
        return game.read_move(wire), wire
    except MoveError as error:
        if isinstance(returned, str):  # else it is about a wire form that the author never saw
            why = error.message
    except Exception:  # whatever a rules engine makes of a value that is none of its moves
        pass
    sentence = f"what choose_move returned is no move of {game.title}: {why}"
    raise BotError("not_a_move", f"{sentence}; return one of position.legal_moves(), or a move's text")


def summary(error: BaseException) -> str:
    """An exception on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text:.200}" if text else type(error).__name__


def explain(error: BaseException) -> tuple[str, str]:
    """Where in the bot an exception was raised (`` in bot.py, line 7``), and its traceback without our frames."""
    trimmed = TracebackException.from_exception(error)
    frames = [frame for frame in trimmed.stack if not is_machinery(frame.filename)]
    del trimmed.stack[: next((n for n, f in enumerate(trimmed.stack) if f in frames), 0)]
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return where, "".join(trimmed.format())


def is_machinery(filename: str) -> bool:
    """Whether a frame is ours, or that of an import or of `exit`, and none of the bot."""
    return filename.startswith((OURS, "<frozen importlib", "<frozen _sitebuiltins"))


def _positional(function: object, name: str, wanted: str, counts: tuple[int, ...]) -> int:
    """The largest of ``counts`` with which ``function`` may be called; a coroutine function may not be called."""
    if not callable(function):
        raise BotError("bad_signature", f"{name} is no function, but {type(function).__name__}; define {name}{wanted}")
    if inspect.iscoroutinefunction(function):
        raise BotError("bad_signature", f"{name} is an 'async def'; write a plain 'def {name}{wanted}'")
    try:
        signature = inspect.signature(function)
    except ValueError:  # a function written in C tells nothing
        return counts[0]
    for count in sorted(counts, reverse=True):
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count
    raise BotError("bad_signature", f"{name} must take {wanted}, not {signature}")
