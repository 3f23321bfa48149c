"""Measures all that docs/performance.md tells, and writes it there: one command, on a quiet machine.

    uv run --with py-spy python benchmarks/performance.py
    cp docs/performance.md copy.md
    uv run --with py-spy python benchmarks/performance.py --short --write copy.md     # proves that it works

Between the marks ``<!-- measured: ... -->`` stands what this wrote; all else there is written by hand. The curves go
beside the document. With ``--figures FOLDER`` what was measured stays in the folder, and what is there already is not
measured again, so that it can be done in parts; the short mode keeps its own in ``FOLDER/short``. Where py-spy is
missing or can't look, where a ply's time goes stays as it stands. It takes more than an hour, the short mode less than
two minutes. Exit code 1 if a bar is missed, 3 if a benchmark broke; the short mode judges nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from curves import CURVES, draw
from fleet.arguments import count, new_file, new_folder, reader
from fleet.figures import MEANINGLESS, machine
from fleet.files import put
from fleet.verdict import STOPPED, Broken, ended
from speed.bars import MISSED

BENCHMARKS: Final = Path(__file__).parent
DOCUMENT: Final = BENCHMARKS.parent / "docs" / "performance.md"
GAMES: Final = ("mississippi_queen", "flowerwars", "towerwars")
MARKS: Final = {"rules_bars", "referee_bars", "rules", "referee", "growth", "floor", "layers"}
"""Between which something is written."""
BLOCK: Final = re.compile(r"(?<=<!-- measured: )(\w+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)
MARK: Final = re.compile(r"<!-- (measured|end)\b")
MEASURED: Final = (0, 1)
"""The exit codes of a benchmark that came to its end: all bars are met, or some are missed."""


@dataclass(frozen=True, slots=True)
class Step:
    """A benchmark to run."""

    name: str
    script: str
    arguments: Sequence[str] = ()
    short: Sequence[str] = ()
    """Further arguments in the short mode."""
    figures: bool = True
    """Whether it leaves any with ``--json``."""


def steps(runs: int) -> Iterator[Step]:
    """What is to be measured, the two with bars so many times."""
    for run in range(1, runs + 1):
        yield Step(f"rules-{run}", "rules.py")
        yield Step(f"referee-{run}", "referee.py", short=["--game", "towerwars"])
    between = ["--only-pace", "--matches", "2", "5", "20", "50"]
    yield Step("growth", "referee.py", between, short=["--game", "towerwars", "--matches", "2"])
    yield Step("floor", "floor.py", short=["--game", "towerwars"])
    if shutil.which("py-spy"):
        yield from (Step(f"layers-{game}", "layers.py", ["--game", game], figures=False) for game in GAMES)


def measure(step: Step, folder: Path, *, short: bool) -> None:
    """Run it, unless its figures are there; a missed bar is no break. Raises Broken if it breaks, unless that was
    because py-spy may not look.
    """
    if is_measured(step, folder):
        return
    figures, fresh = folder / f"{step.name}.json", folder / f"{step.name}.new"
    command = [sys.executable, str(BENCHMARKS / step.script), *step.arguments]
    command += ["--short", *step.short] if short else []
    command += ["--json", str(fresh)] if step.figures else []
    print(step.name, flush=True)
    fresh.unlink(missing_ok=True)
    try:
        code, said = finished(command)
        whole = code in MEASURED and said and (fresh.is_file() or not step.figures)
        if whole:
            if step.figures:
                fresh.replace(figures)
            put(folder / f"{step.name}.txt", said)  # last: where it stands, the figures do
    finally:
        fresh.unlink(missing_ok=True)
    if not whole and step.figures:
        why = "see above; with --figures FOLDER what was measured before need not be again"
        raise Broken(f"{step.script} broke, {why}")
    if not whole:
        print(f"{step.name} is left out, see above", flush=True)


def is_measured(step: Step, folder: Path) -> bool:
    """Whether what it leaves is there, and whole."""
    try:
        if step.figures:
            read(folder, step.name)
        return bool((folder / f"{step.name}.txt").read_text("utf-8").strip())
    except (OSError, ValueError):  # not there, or cut off
        return False


def finished(command: Sequence[str]) -> tuple[int, str]:
    """Run it: its exit code, and what it printed. Ctrl-C ends it once, so that it takes its own processes along, and
    then this one.
    """
    utf8 = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", process_group=0, env=utf8)
    try:
        said, _ = process.communicate()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.communicate()
        if process.returncode == STOPPED:  # it has said so
            sys.exit(STOPPED)
        raise
    return process.returncode, said


def bars_table(runs: Sequence[Sequence[Mapping[str, Any]]], *, short: bool) -> str:
    """All bars, with the figure of every run, as a table of Markdown."""
    lines = ["| work | " + " | ".join(f"run {number}" for number in range(1, len(runs) + 1)) + " | bar | |"]
    lines.append("| --- |" + " ---: |" * (len(runs) + 1) + " --- |")
    for same in zip(*runs, strict=True):
        first = same[0]
        figures = " | ".join(f"{shown(bar['figure'])} {bar['unit']}".strip() for bar in same)
        verdicts = " / ".join(dict.fromkeys(bar["verdict"] for bar in same))
        lines.append(f"| {first['work']} | {figures} | {first['limit']} {first['unit']} | {verdicts} |")
    return "\n".join([*lines, *(["", f"This is {MEANINGLESS}."] if short else [])])


def shown(figure: float) -> str:
    """Three digits of it, never as a power of ten."""
    return f"{float(f'{figure:.3g}'):,g}"


def printed(text: str) -> str:
    """The tables that a benchmark printed, without that of the bars, as they are."""
    parts = [part.strip("\n") for part in re.split(r"\n\s*\n", text)]
    return "```text\n" + "\n\n".join(part for part in parts if not part.startswith("work ")) + "\n```"


def read(folder: Path, name: str) -> Any:
    """The figures that a step left."""
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


def bars(folder: Path, name: str, runs: int) -> list[list[dict[str, Any]]]:
    """The bars of a benchmark, run by run."""
    return [read(folder, f"{name}-{run}")["bars"] for run in range(1, runs + 1)]


def blocks(folder: Path, runs: int, *, short: bool) -> dict[str, str]:
    """What stands between the marks, by their names."""
    found = {
        "rules_bars": bars_table(bars(folder, "rules", runs), short=short),
        "referee_bars": bars_table(bars(folder, "referee", runs), short=short),
        "rules": printed((folder / f"rules-{runs}.txt").read_text("utf-8")),
        "referee": printed((folder / f"referee-{runs}.txt").read_text("utf-8")),
        "growth": printed((folder / "growth.txt").read_text("utf-8")),
        "floor": printed((folder / "floor.txt").read_text("utf-8")),
    }
    layers = [path.read_text("utf-8").strip() for path in sorted(folder.glob("layers-*.txt"))]
    if layers:
        found["layers"] = "```text\n" + "\n\n".join(layers) + "\n```"
    return found


def write(document: Path, found: Mapping[str, str]) -> None:
    """Replace what stands between the marks; layers that were not measured stay. Raises KeyError for other marks."""

    def block(mark: re.Match[str]) -> str:
        kept = mark[1] == "layers" and mark[1] not in found
        return mark[0] if kept else f"{mark[1]}{mark[2]}{found[mark[1]]}\n"

    put(document, BLOCK.sub(block, document.read_text("utf-8")))


def refused(document: Path, *, short: bool) -> str | None:
    """Why this can't be written to, said before an hour of measuring and not after it; None if it can."""
    if not document.is_file():
        return f"there is no document {document} to write to: make a copy of {DOCUMENT.name} first"
    if short and document.resolve().parent == DOCUMENT.resolve().parent:
        return "the figures of the short mode mean nothing: name a copy elsewhere with --write"
    try:
        for path in (document, *(document.parent / curve for curve in CURVES)):
            new_file(str(path))
        text = document.read_text("utf-8")
    except argparse.ArgumentTypeError as error:
        return str(error)
    except (OSError, ValueError):
        return f"{document} is no text in UTF-8: make a copy of {DOCUMENT.name}"
    marks = [name for name, _ in BLOCK.findall(text)]
    if not MARK.search(text):
        return f"{document} has no marks between which to write: make a copy of {DOCUMENT.name}"
    if MARK.findall(text) != ["measured", "end"] * len(marks):
        return f"{document} has a mark without an end, or an end without a mark: what stands there would be lost"
    if odd := sorted(set(marks) - MARKS):
        return f"nothing is measured for {', '.join(odd)}, which {document} has marks for"
    return None


def arguments() -> argparse.Namespace:
    """What is asked for. Ends the process if it can't be done."""
    parser = reader(__doc__)
    parser.add_argument(
        "--write", type=Path, default=DOCUMENT, metavar="DOCUMENT", help="write into this one (docs/performance.md)"
    )
    parser.add_argument("--figures", type=new_folder, metavar="FOLDER", help="keep them, and measure what is missing")
    parser.add_argument(
        "--runs", type=count, default=3, metavar="N", help="run the two benchmarks with bars N times (%(default)s)"
    )
    parser.add_argument("--short", action="store_true", help="prove that it works by one short run, and judge nothing")
    options = parser.parse_args()
    if (why := refused(options.write, short=options.short)) is not None:
        parser.error(why)
    return options


def main() -> int:
    """Measure and write; the exit code."""
    options = arguments()
    runs = 1 if options.short else options.runs
    if shutil.which("py-spy") is None:
        print("where a ply's time goes stays as it stands, since py-spy is not installed (uv run --with py-spy ...)")
    with tempfile.TemporaryDirectory() as name:
        folder: Path = options.figures or Path(name)
        if options.short:
            folder /= "short"
        folder.mkdir(parents=True, exist_ok=True)
        for step in steps(runs):
            measure(step, folder, short=options.short)
        write(options.write, blocks(folder, runs, short=options.short))
        pace = read(folder, f"referee-{runs}")["pace"] + read(folder, "growth")["pace"]
        draw(read(folder, f"rules-{runs}")["boards"], pace, options.write.parent, short=options.short)
        judged = [bar for run in bars(folder, "rules", runs) + bars(folder, "referee", runs) for bar in run]
    missed = [bar["work"] for bar in judged if bar["verdict"] == MISSED]
    if not options.short:
        print("\n".join(f"{MISSED}: {work}" for work in dict.fromkeys(missed)) or "all bars are met")
    print(machine(short=options.short))
    return 1 if missed else 0


if __name__ == "__main__":
    ended(main)
