"""The page in a real browser, as wide as a phone: nothing but tables, in boxes of their own, is wider than it."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from triarena.organiser.report import report_tournament
from triarena.organiser.spec import FormatName
from triarena.organiser.store import StoreReader

from .read_page import page
from .staged_tournament import BEGIN, event_of, stage

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FORMATS: tuple[tuple[str, FormatName], ...] = (("Towers", "round_robin"), ("Cup", "double_knockout"))
MEASURE = """<iframe src="index.html" style="width: WIDTHpx; height: 2000px; border: 0"></iframe><script>
onload = () => {
  const page = document.querySelector('iframe').contentDocument;
  const shown = [...page.querySelectorAll('svg')].filter(each => each.getBoundingClientRect().width > 0);
  document.title = JSON.stringify([page.documentElement.scrollWidth, page.documentElement.clientWidth,
    Math.max(...shown.map(each => each.getBoundingClientRect().right)), shown.map(each => each.classList[0])]);
};
</script>"""


CUT = """<iframe src="index.html" style="width: WIDTHpx; height: 2000px; border: 0"></iframe><script>
onload = () => {
  const page = document.querySelector('iframe').contentDocument;
  page.querySelectorAll('details').forEach(each => each.open = true);
  const tables = [...page.querySelectorAll('table.standings, table.games')];
  const cut = tables.filter(each => each.parentNode.scrollWidth > each.parentNode.clientWidth);
  document.title = JSON.stringify([tables.length, cut.length]);
};
</script>"""


def seen(folder: Path, frame: str, width: int) -> str:
    """What a browser makes of a frame of that width around the page in the folder."""
    (folder / "frame.html").write_text(frame.replace("WIDTH", str(width)), encoding="utf-8")
    assert BROWSER is not None
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom"]
    words += [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000", "--window-size=1400,2100"]
    shown = subprocess.run(
        [BROWSER, *words, (folder / "frame.html").as_uri()], capture_output=True, text=True, timeout=90, check=True
    )
    return shown.stdout


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
@pytest.mark.parametrize("width", [1100, 1280])
def test_no_column_of_standings_and_games_is_cut_on_a_laptop(tmp_path: Path, width: int) -> None:
    """With every column that there can be in a round robin, and the commands that show matches again."""
    four = ("direct_encounter", "sonneborn_berger", "wins", "game_scores")
    events = [replace(event_of(name, format_), tie_breaks=four) for name, format_ in FORMATS]
    staged = stage(tmp_path, *events)
    with StoreReader(staged.folder) as reader:
        report = report_tournament(staged.file, reader.contents())
    command = "triarena replay {match} --boards --data-dir class.tournament/server"
    (tmp_path / "index.html").write_text(page(report, BEGIN + timedelta(hours=1), command), encoding="utf-8")
    found = re.search(r"<title>\[(\d+),(\d+)\]</title>", seen(tmp_path, CUT, width))
    assert found is not None
    assert int(found[1]) > len(events)
    assert int(found[2]) == 0


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
@pytest.mark.parametrize(("width", "drawing"), [(320, "narrow"), (360, "narrow"), (1200, "wide")])
def test_neither_the_page_nor_its_chart_is_wider_than_the_screen(tmp_path: Path, width: int, drawing: str) -> None:
    names = [f"Bot {number}, which has a very long name" for number in range(10)]
    staged = stage(tmp_path, event_of("Towers", names=names), event_of("Cup", "knockout", names=names))
    with StoreReader(staged.folder) as reader:
        report = report_tournament(staged.file, reader.contents())
    (tmp_path / "index.html").write_text(page(report, BEGIN + timedelta(hours=1), "replay {match}"), encoding="utf-8")
    found = re.search(r"<title>\[(\d+),(\d+),([\d.]+),(.*?)\]</title>", seen(tmp_path, MEASURE, width))
    assert found is not None
    scroll, client, right = (float(each) for each in found.groups()[:3])
    assert scroll <= client
    assert right <= client
    assert set(re.findall(r"\w+", found[4])) == {drawing}
