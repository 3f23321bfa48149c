"""What no tracked file may be or hold: lock files that name hosts, package registries' hosts, paths of one machine."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKS = {"uv.lock", "pylock.toml", "poetry.lock", "package-lock.json"}
# Put together here, so that this file does not hold what it looks for.
HOSTS = [
    ".".join(labels)
    for labels in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("crates", "io"),
        ("debian", "org"),
        ("docker", "io"),
        ("ghcr", "io"),
        ("quay", "io"),
    )
]
HOST = re.compile("|".join(rf"\b{re.escape(host)}\b" for host in HOSTS))
INDEX = re.compile(r"""https?://[^\s"'/]+/(?:simple|packages)\b""")
HOMES = ("work", "root", "home", "farm", "Users")
HOME = re.compile(rf"""(?:^|[^\w./~-])/(?:{"|".join(HOMES)})/\w""", re.MULTILINE)
RULES = ((HOST, "names a package registry"), (INDEX, "names a package index"), (HOME, "names a path of one machine"))


def tracked() -> list[str]:
    """The tracked files' names."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [name.decode() for name in listed.split(b"\0") if name]


def findings(name: str) -> Iterator[str]:
    """Sentences about one file; none for a binary one or one that was deleted but not yet committed."""
    path = ROOT / name
    if path.name in LOCKS:
        yield f"{name}: a lock file that names hosts must not be tracked"
    if not path.is_file() or b"\0" in (data := path.read_bytes()) or data.startswith(b"\x1f\x8b"):
        return
    text = data.decode(errors="replace")
    for rule, sentence in RULES:
        for match in rule.finditer(text):
            yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {sentence}: {match[0].strip()}"


def main() -> int:
    """Print the findings; 1 if there are any."""
    names = tracked()
    found = [sentence for name in names for sentence in findings(name)]
    print("\n".join(found) or f"{len(names)} tracked files, nothing that must not be there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
