"""An environment of its own for the package ``socha``, which wants other versions of things than we do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = "socha==2.2.2"
IMPORT = "import socha.api.networking.game_client"


class CannotInstall(Exception):
    """The package can't be had here; ``str(error)`` says why."""


def socha_python(folder: Path) -> Path:
    """The Python of an environment in ``folder`` with the package in it, made if need be. Raises CannotInstall."""
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (python.exists() and _works(python)):
        uv = shutil.which("uv")
        if uv is None:
            raise CannotInstall("there is no uv to make an environment with")
        _run(uv, "venv", "--quiet", "--clear", str(folder))
        _run(uv, "pip", "install", "--quiet", "--python", str(python), PACKAGE)
        if not _works(python):
            raise CannotInstall(f"{PACKAGE} is installed, but can't be imported")
    return python


def _works(python: Path) -> bool:
    return subprocess.run([str(python), "-c", IMPORT], capture_output=True, check=False, timeout=60).returncode == 0


def _run(*command: str) -> None:
    try:
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    except subprocess.TimeoutExpired:
        raise CannotInstall(f"{command[1]} took too long") from None
    except subprocess.CalledProcessError as error:
        raise CannotInstall(f"{' '.join(command[:3])} failed: {error.stderr.strip()[-300:]}") from None
