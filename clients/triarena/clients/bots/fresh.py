"""A bot that is loaded anew for every match, so that nothing of one is left in the next."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Final

from .bot import Bot
from .loading import is_file, load_bot

INSTALLED: Final = frozenset(["site-packages", "dist-packages"])
"""Folders of modules that are nobody's own; many (numpy, say) cannot be loaded twice."""


class FreshBot:
    """Loads one bot as often as is asked for; make it before the first time."""

    def __init__(self, spec: str) -> None:
        self._folder = Path(spec).resolve().parent if is_file(spec) else None
        self._spec = str(Path(spec).absolute()) if is_file(spec) else spec  # the bot may change the folder
        self._before = frozenset(sys.modules)

    def load(self, game: str, seed: int | None) -> Bot:
        """As ``load_bot``, with the bot's file and all of its neighbours that it imports run again. Raises BotError."""
        for name, module in list(sys.modules.items()):
            if name not in self._before and self._is_its_own(name, module):
                del sys.modules[name]
        return load_bot(self._spec, game, seed)

    def _is_its_own(self, name: str, module: ModuleType | None) -> bool:
        """Whether a module came with the bot: it lies beside it, or in a folder there."""
        file = getattr(module, "__file__", None)
        if self._folder is None or not isinstance(file, str) or name.partition(".")[0] == "triarena":
            return False
        path = Path(file)
        return path.suffix == ".py" and path.is_relative_to(self._folder) and not INSTALLED & set(path.parts)
