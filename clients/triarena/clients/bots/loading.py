"""Finding a bot by the word that a command line gives for it."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from triarena.clients.errors import BotError
from triarena.games.registry import BUILT_IN

from .bot import Bot, bot_of, explain, summary

BUILT_IN_BOTS: Final = ("random", "greedy")
BOTS: Final = " or ".join(BUILT_IN_BOTS)


def is_file(spec: str) -> bool:
    """Whether ``spec`` means a file and not a bot that comes along."""
    return spec not in BUILT_IN_BOTS


def load_bot(spec: str, game: str, seed: int | None = None) -> Bot:
    """The bot that ``spec`` means, for ``game``: ``random``, ``greedy``, or the path of a Python file.

    A file defines ``choose_move(position)`` or ``choose_move(position, clock)``, and ``get_ready(match)`` and
    ``come_back(match)`` if it likes; it may import its neighbours. ``seed`` makes a bot that comes along play the
    same again, and seeds the module ``random`` for one from a file. Raises BotError.
    """
    if is_file(spec):
        if seed is not None:
            random.seed(seed)
        return _bot_of_file(Path(spec))
    choose = _built_in(spec, game)
    rng = random.Random(seed)
    return Bot(lambda position, clock: choose(position, rng))


def _built_in(name: str, game: str) -> Callable[[Any, random.Random], Any]:
    if game in BUILT_IN:
        chosen: Callable[[Any, random.Random], Any] = getattr(import_module(f".{game}", __package__), f"{name}_move")
        return chosen
    if name == "random":
        return lambda position, rng: rng.choice(list(position.legal_moves()))
    raise BotError("no_such_bot", f"there is no {name} bot for {game}; take random, or a file of your own")


def _bot_of_file(path: Path) -> Bot:
    module = _load(path)
    if not hasattr(module, "choose_move"):
        similar = get_close_matches("choose_move", vars(module), n=1)
        hint = f"; did you mean {similar[0]}?" if similar else ""
        raise BotError("no_choose_move", f"{path} defines no function choose_move(position){hint}")
    try:
        return bot_of(module.choose_move, getattr(module, "get_ready", None), getattr(module, "come_back", None))
    except BotError as error:
        raise BotError(error.code, f"{path}: {error.message}") from None


def _load(path: Path) -> ModuleType:
    """The module that the file defines, run now. Raises BotError."""
    if not path.exists():
        similar = get_close_matches(str(path), BUILT_IN_BOTS, n=1)
        advice = f"did you mean {similar[0]}?" if similar else f"give the path of a Python file, or {BOTS}"
        raise BotError("bot_not_found", f"there is no file {path}; {advice}")
    name = path.stem if path.stem not in sys.modules else f"triarena_bot_{path.stem}"
    loader = SourceFileLoader(name, str(path))
    spec = spec_from_loader(name, loader)
    assert spec is not None, "a loader was given"
    module = module_from_spec(spec)
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as if the file were run as a script: it finds the files beside it
    sys.modules[name] = module  # dataclasses and pickle look their module up
    try:
        exec(_code(path, loader), module.__dict__)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, BotError | KeyboardInterrupt):
            raise
        raise _loading_error(path, error) from None
    return module


def _code(path: Path, loader: SourceFileLoader) -> CodeType:
    """What the file compiles to. Raises BotError, whatever stands in it."""
    try:
        code = loader.get_code(loader.name)
    except OSError as error:
        raise BotError("bot_unreadable", f"the bot {path} cannot be read: {error.strerror or error}") from None
    except SyntaxError as error:
        raise _syntax_error(path, error) from None
    except Exception as error:  # null bytes, or an expression nested thousands deep
        sentence = f"{path} is no Python that could be compiled: {summary(error)}; is it a text file in UTF-8?"
        raise BotError("bot_syntax_error", sentence) from None
    assert code is not None, "a file with source has code"
    return code


def _syntax_error(path: Path, error: SyntaxError) -> BotError:
    """Which line of the file, or of one that it imports, is no Python."""
    line = (error.text or "").strip()
    place = Path(error.filename or path).name + (f", line {error.lineno}" if error.lineno else "")
    return BotError("bot_syntax_error", f"{place}: {error.msg}" + (f" in {line:.100}" if line else ""))


def _loading_error(path: Path, error: BaseException) -> BotError:
    """What went wrong while the bot's file was run, in a sentence."""
    if isinstance(error, SyntaxError) and error.lineno:
        return _syntax_error(path, error)
    where, traceback = explain(error)
    if isinstance(error, SystemExit):
        sentence = (
            f"{path} ended its own program{where} while it was loaded (exit code {_exit_code(error)}); a bot's file is "
            'only to define choose_move: what else it does belongs under if __name__ == "__main__"'
        )
        return BotError("bot_failed", sentence, traceback)
    if isinstance(error, ImportError):
        sentence = f"{path} cannot import something{where}: {error}; install it where triarena is installed"
        return BotError("bot_import_error", sentence, traceback)
    if isinstance(error, SyntaxError):  # the file imports one that is not even text
        return BotError("bot_import_error", f"{path} cannot import something{where}: {error.msg}", traceback)
    return BotError("bot_failed", f"{path} raised {summary(error)}{where} while it was loaded", traceback)


def _exit_code(error: SystemExit) -> int:
    """With which it would have ended: none is a success, a text a failure."""
    return error.code if isinstance(error.code, int) else 0 if error.code is None else 1
