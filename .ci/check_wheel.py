"""The wheel holds what the four source roots hold, and nothing else: python .ci/check_wheel.py WHEEL."""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("games", "protocol", "server", "clients")
PACKAGES = ("games", "protocol", "server", "tournament", "clients", "cli")


def expected_files() -> set[str]:
    """Every file of the four roots by its name in the wheel."""
    return {
        path.relative_to(ROOT / source).as_posix()
        for source in SOURCES
        for path in (ROOT / source / "triarena").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }


def findings(wheel: ZipFile) -> list[str]:
    """Sentences about what is wrong; empty if all is well."""
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    expected = expected_files()
    found = [f"{name} is missing" for name in sorted(expected - held)]
    found += [f"{name} does not belong into it" for name in sorted(held - expected)]
    found += [f"triarena/{p}/py.typed is missing" for p in PACKAGES if f"triarena/{p}/py.typed" not in held]
    if "triarena/__init__.py" in held:
        found.append("triarena/__init__.py closes the namespace to other distributions")
    if not any(name.startswith("triarena/server/journal/migrations/versions/v") for name in held):
        found.append("there are no migrations")
    if any("test" in Path(name).parts[0] for name in held):
        found.append("there are tests in it")
    (entry_points,) = (name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt"))
    if b"triarena = triarena.cli:main" not in wheel.read(entry_points):
        found.append("the console script is not declared")
    if not any(name.endswith("LICENSE") for name in wheel.namelist()):
        found.append("the licence is missing")
    return found


def main(path: str) -> int:
    """Print the findings; 1 if there are any."""
    with ZipFile(path) as wheel:
        found = findings(wheel)
        count = len(wheel.namelist())
    for sentence in found:
        print(f"{Path(path).name}: {sentence}")
    if not found:
        print(f"{Path(path).name}: {count} files, {Path(path).stat().st_size // 1024} KiB, complete")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
