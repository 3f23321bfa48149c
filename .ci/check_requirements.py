"""The pinned requirements of the container image satisfy what pyproject.toml asks for, each with its hashes.

Renew them with

    uv pip compile pyproject.toml --extra server --extra tournament --extra postgresql \\
        --universal --generate-hashes --upgrade \\
        --no-emit-index-url --no-annotate --no-header --output-file requirements/server.txt
    echo "hatchling>=1.24" | uv pip compile - --universal --generate-hashes --upgrade \\
        --no-emit-index-url --no-annotate --no-header --output-file requirements/build.txt
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]


def pins(path: Path) -> dict[str, Requirement]:
    """The pinned requirements of a file by canonical name. Raises ValueError for one without pin or hash."""
    found: dict[str, Requirement] = {}
    for entry in path.read_text("utf-8").replace("\\\n", " ").splitlines():
        words, *hashes = entry.split("--hash=")
        requirement = Requirement(words.strip())
        if not hashes or not all(h.strip().startswith("sha256:") for h in hashes):
            raise ValueError(f"{path.name}: {requirement.name} has no hashes")
        if [s.operator for s in requirement.specifier] != ["=="]:
            raise ValueError(f"{path.name}: {requirement} is not pinned")
        found[canonicalize_name(requirement.name)] = requirement
    return found


def findings(asked: list[str], path: Path) -> list[str]:
    """Sentences about requirements in ``asked`` that ``path`` does not satisfy."""
    pinned, found = pins(path), []
    for requirement in map(Requirement, asked):
        pin = pinned.get(canonicalize_name(requirement.name))
        if pin is None:
            found.append(f"{path.name} does not pin {requirement.name}")
        elif not requirement.specifier.contains(next(iter(pin.specifier)).version):
            found.append(f"{path.name} pins {pin}, but pyproject.toml asks for {requirement}")
    return found


def main() -> int:
    """Print the findings; 1 if there are any."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = table["project"]
    extras = [line for group in project["optional-dependencies"].values() for line in group]
    asked = [line for line in (*project["dependencies"], *extras) if Requirement(line).name != project["name"]]
    found = findings(asked, ROOT / "requirements" / "server.txt")
    found += findings(table["build-system"]["requires"], ROOT / "requirements" / "build.txt")
    print("\n".join(found) or f"{len(asked)} requirements, all pinned within their ranges")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
