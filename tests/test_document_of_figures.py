"""What performance.py and curves.py take for measured, and what they refuse to write. Nothing is measured here."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import curves
import performance
import pytest
from curves import CURVES, ticks
from fleet.figures import MEANINGLESS
from fleet.files import put
from fleet.verdict import Broken
from performance import DOCUMENT, Step, measure, refused

STEP = Step("work-1", "work.py")
WORK = """
import sys
file = sys.argv[sys.argv.index("--json") + 1]
open(file, "w").write('{"new": 1}')
print("12 µs")
sys.exit(CODE)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(performance, "BENCHMARKS", tmp_path)
    made = tmp_path / "figures"
    made.mkdir()
    return made


def a_benchmark(folder: Path, code: int | str) -> None:
    work = WORK.replace("CODE", str(code)) if isinstance(code, int) else "import nothing_of_that_name"
    (folder.parent / STEP.script).write_text(work, "utf-8")


def left(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


MEASURED = {"work-1.txt": "12 µs\n", "work-1.json": '{"new": 1}'}


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
def test_a_benchmark_that_came_to_its_end_has_measured_in_any_locale(
    code: int, encoding: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    a_benchmark(folder, code)
    measure(STEP, folder, short=False)
    assert left(folder) == MEASURED


@pytest.mark.parametrize("code", [2, 3, 139, "before it measured"])
def test_a_benchmark_that_broke_has_measured_nothing_whatever_an_earlier_one_left(
    code: int | str, folder: Path
) -> None:
    a_benchmark(folder, code)
    (folder / "work-1.json").write_text('{"old": 1}')
    with pytest.raises(Broken, match=r"work\.py broke"):
        measure(STEP, folder, short=False)
    assert left(folder) == {"work-1.json": '{"old": 1}'}


@pytest.mark.parametrize(
    "half", [{"work-1.txt": ""}, {"work-1.txt": "old"}, {"work-1.txt": "old", "work-1.json": '{"old'}]
)
def test_figures_that_are_not_whole_are_measured_again(half: dict[str, str], folder: Path) -> None:
    a_benchmark(folder, 0)
    for name, text in half.items():
        (folder / name).write_text(text)
    measure(STEP, folder, short=False)
    assert left(folder) == MEASURED


def test_figures_that_are_whole_are_not_measured_again(folder: Path) -> None:
    whole = {"work-1.txt": "old", "work-1.json": '{"old": 1}'}
    for name, text in whole.items():
        (folder / name).write_text(text)
    measure(STEP, folder, short=False)  # there is not even a benchmark
    assert left(folder) == whole


# -- the document ------------------------------------------------------------------------------------

PAGE = "<!-- measured: rules -->\nold\n<!-- end -->\nprose\n<!-- measured: floor -->\nold\n<!-- end -->\n"


def wrong(folder: Path, page: bytes) -> str:
    (folder / "page.md").write_bytes(page)
    return refused(folder / "page.md", short=True) or ""


@pytest.mark.parametrize(
    "page",
    [
        PAGE.replace("<!-- end -->\nprose", "prose"),
        PAGE.replace("<!-- end -->\nprose", "<!-- end -->\n<!-- end -->\nprose"),
        PAGE.removesuffix("<!-- end -->\n"),
        PAGE.replace("<!-- measured: floor -->", "<!-- measured: floor --> "),
        PAGE.replace("<!-- measured: floor -->\n", ""),
    ],
)
def test_marks_that_are_not_in_pairs_are_refused_since_prose_would_be_lost(page: str, tmp_path: Path) -> None:
    assert wrong(tmp_path, PAGE.encode()) == ""
    assert "a mark without an end, or an end without a mark" in wrong(tmp_path, page.encode())


def test_a_document_that_is_not_in_utf_8_is_refused(tmp_path: Path) -> None:
    assert "is no text in UTF-8" in wrong(tmp_path, PAGE.encode() + b"\xff")


def test_the_short_mode_refuses_the_document_by_every_way_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout, page = tmp_path / "checkout", tmp_path / "page.md"
    checkout.symlink_to(DOCUMENT.parents[1])
    page.symlink_to(DOCUMENT)
    ways = [DOCUMENT, checkout / "docs" / DOCUMENT.name, page]
    for known_as in ways[:2]:
        monkeypatch.setattr(performance, "DOCUMENT", known_as)
        for way in ways:
            assert "the short mode mean nothing" in (refused(way, short=True) or "")


def test_a_file_is_put_whole_or_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, link = tmp_path / "page.md", tmp_path / "link.md"
    page.write_text("old")
    link.symlink_to(page)
    put(link, "new")
    assert (link.is_symlink(), page.read_text()) == (True, "new")
    put(Path(os.devnull), "nothing")
    assert not Path(os.devnull).is_file()
    with pytest.raises(UnicodeEncodeError):
        put(page, "newer \ud800")
    assert page.read_text() == "new"
    assert {path.name for path in tmp_path.iterdir()} == {"page.md", "link.md"}


# -- the curves --------------------------------------------------------------------------------------

BARS = [{"verdict": "aim met"}]
COST = {"play": 1.0, "write": 2.0}
RULES = {"boards": {"towerwars 4": COST, "flowerwars 3": COST, "mississippi_queen 0": {}}, "bars": BARS}
REFEREE = {"pace": [{"game": "towerwars", "matches": 10, "cpu_ms": 0.3}], "bars": BARS}
GROWTH = {"pace": [{"game": "towerwars", "matches": 50, "cpu_ms": 0.31}], "bars": []}


def drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: object, *referee: object) -> Path:
    names = []
    for number, figures in enumerate((rules, *referee)):
        names.append(str(tmp_path / f"{number}.json"))
        Path(names[-1]).write_text(json.dumps(figures))
    monkeypatch.setattr("sys.argv", ["curves.py", *names, str(tmp_path / "not" / "yet")])
    curves.main()
    return tmp_path / "not" / "yet"


def test_curves_are_drawn_from_several_files_into_a_folder_that_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = drawn(tmp_path, monkeypatch, RULES, REFEREE, GROWTH)
    by_board, by_matches = ((folder / name).read_text("utf-8") for name in CURVES)
    assert by_matches.count("<circle") == 2
    assert "Mississippi Queen" in by_board, "that it has no curve is said"


@pytest.mark.parametrize(
    ("rules", "referee", "why"),
    [
        (REFEREE, REFEREE, "0.json does not hold what rules.py --json leaves"),
        (RULES, RULES, "1.json does not hold what referee.py --json leaves"),
        (None, REFEREE, "0.json does not hold"),
        ({"boards": {}, "bars": []}, REFEREE, "0.json does not hold"),
        (RULES, {"pace": [{"game": "towerwars", "matches": 0, "cpu_ms": 0}], "bars": []}, "1.json does not hold"),
        ({**RULES, "bars": [{"verdict": "-"}]}, REFEREE, f"0.json is of {MEANINGLESS}"),
        (RULES, {**GROWTH, "short": True}, f"1.json is of {MEANINGLESS}"),
    ],
)
def test_figures_that_are_others_or_mean_nothing_are_refused_in_a_sentence(
    rules: object,
    referee: object,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as error:
        drawn(tmp_path, monkeypatch, rules, referee)
    assert error.value.code == 2
    assert why in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "not").exists()


@pytest.mark.parametrize("highest", [0.0031, 0.3, 1, 1.7, 4, 6.28, 25.1, 31.4, 100, 676, 900])
def test_ticks_are_few_and_round_and_reach_the_highest_value(highest: float) -> None:
    found = ticks(highest)
    assert found[0] == 0
    assert found[-2] < highest <= found[-1] * (1 + 1e-9)
    assert 3 <= len(found) <= 6
    assert f"{found[1]:.0e}"[0] in "125"
    assert all(float(f"{tick:.2g}") == pytest.approx(tick) for tick in found)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.ENOSPC])
@pytest.mark.parametrize("refused", ["write_text", "replace"])
def test_a_file_that_cannot_be_replaced_is_written_where_it_stands_unless_the_disk_is_full(
    refused: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text("old")
    whole = getattr(Path, refused)

    def refuse(path: Path, *args: object, **options: object) -> object:
        if path.suffix == ".part":
            raise OSError(number, os.strerror(number))
        return whole(path, *args, **options)

    monkeypatch.setattr(Path, refused, refuse)
    with pytest.raises(UnicodeEncodeError):
        put(page, "new \ud800")
    assert left(tmp_path) == {"page.md": "old"}
    if number == errno.ENOSPC:
        with pytest.raises(Broken, match="could not be written"):
            put(page, "new")
        assert left(tmp_path) == {"page.md": "old"}
    else:
        put(page, "new")
        assert left(tmp_path) == {"page.md": "new"}


@pytest.mark.skipif(os.name != "posix", reason="files have modes there")
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_a_file_that_is_replaced_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("old")
    page.chmod(mode)
    put(page, "new")
    assert (page.read_text(), page.stat().st_mode & 0o777) == ("new", mode)
