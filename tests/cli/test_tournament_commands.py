"""``triarena tournament`` and ``triarena compare`` as an organiser meets them: in a process, at a real server."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.conftest import RunningServer

from triarena.cli.tournament.resume import changed
from triarena.organiser.folder import Folder, read_new
from triarena.organiser.pairing import format_of
from triarena.organiser.store import StoreReader

SECONDS = 90.0
"""For whatever is waited for; much less on an idle machine."""
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
HEAD = 'name = "Class"\ngame = "towerwars"\noptions = { size = 4 }\nseed = 5\nconcurrency = 2\n'
TWO = '[[bots]]\nname = "Ann"\nshipped = "random"\n[[bots]]\nname = "Bob"\nshipped = "greedy"\n'


def words(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "triarena.cli", *arguments]


class Desk:
    """A folder in which an organiser types commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("TRIARENA_")}
        self.environment |= {"PYTHONIOENCODING": "utf-8", "COLUMNS": "200"}
        self.started: list[subprocess.Popen[str]] = []

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run a command to its end; what it said. No traceback of its own is ever part of that."""
        done = subprocess.run(
            words(*arguments), cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, encoding="utf-8", timeout=SECONDS, check=False,
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert not re.search("^Traceback", said, re.MULTILINE)
        assert "internal_error" not in said
        assert done.returncode == code, said
        return said

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            words(*arguments), cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
        )  # fmt: skip
        self.started.append(process)
        return process

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text, encoding="utf-8")
        return name


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    for process in desk.started:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def until_said(process: subprocess.Popen[str], pattern: str) -> re.Match[str]:
    """Read until a line says so."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if found := re.search(pattern, line):
            return found
    raise AssertionError(f"{pattern} was not said: {''.join(said)}")


def without_times(said: str) -> str:
    return re.sub(r"\d+(\.\d+)? (s|min)\b", "T", said)


# -- wrong use ---------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["check", "run", "resume", "standings", "export", "cancel"])
def test_every_subcommand_says_what_it_does(desk: Desk, command: str) -> None:
    assert f"tournament {command} [OPTIONS]" in desk.run("tournament", command, "--help")
    assert command in desk.run("tournament", "--help")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["tournament", "rum"], 2, "did you mean run"),
        (["tournament", "run", "no.toml"], 2, "no.toml"),
        (["tournament", "run", "."], 2, "is a directory"),
        (["tournament", "check", "no.toml"], 2, "no.toml"),
        (["tournament", "resume", "nowhere"], 1, "there is no tournament in nowhere"),
        (["tournament", "resume", "."], 1, "no_store"),
        (["tournament", "standings", "nowhere"], 1, "no_store"),
        (["tournament", "export", "nowhere"], 1, "no_store"),
        (["tournament", "cancel", "nowhere"], 1, "no_store"),
        (["tournament", "run", "two.toml", "--port", "99999"], 2, "99999"),
        (["tournament", "run", "two.toml", "--server", "nonsense"], 2, "takes HOST:PORT"),
        (["tournament", "run", "two.toml", "--server", "h:1", "--port", "2"], 2, "leave them or --server out"),
        (["tournament", "run", "two.toml", "--secret-file", "x"], 2, "name it with --server"),
        (["tournament", "run", "two.toml", "--server", "h:1", "--secret-file", "no"], 1, "no"),
        (["tournament", "run", "broken.toml"], 2, "broken.toml"),
        (["tournament", "run", "two.toml", "--folder", "two.toml/in"], 1, "two.toml/in"),
        (["compare", "random", "greedy", "--game", "towerwars", "--elo0", "9", "--elo1", "1"], 2, "must be less"),
        (["compare", "random", "greedy", "--game", "chess", "--seed", "1"], 2, "chess"),
        (["compare", "random", "gredy", "--game", "towerwars"], 2, "there is no bot gredy: did you mean greedy?"),
        (["compare", "mine.py", "my.py", "--game", "towerwars"], 2, "there is no bot mine.py: did you mean"),
        (["compare", "random", "greedy", "--game", "towerwar"], 2, "did you mean 'towerwars'"),
        (["compare", "random", "nobody", "--game", "towerwars"], 2, "there is no bot nobody: give a Python file"),
        (["compare", "random", "missing.py", "--game", "towerwars"], 2, "missing.py"),
    ],
)
def test_wrong_use_is_told_in_a_sentence(desk: Desk, arguments: list[str], code: int, said: str) -> None:
    desk.write("two.toml", HEAD + TWO)
    desk.write("broken.toml", "name = ")
    desk.write("mines.py", "")
    there = set(desk.folder.iterdir())
    assert said in desk.run(*arguments, code=code)
    assert set(desk.folder.iterdir()) == there


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every name is a text")
def test_a_name_that_is_no_text_is_told_wherever_it_stands(desk: Desk) -> None:
    bad = os.fsdecode(b"b\xff.tournament")
    desk.write("two.toml", HEAD + TWO)
    (desk.folder / bad).mkdir()
    (desk.folder / bad / "two.toml").write_text(HEAD + TWO)
    (desk.folder / bad / "tournament.sqlite").touch()
    for arguments in (
        ["tournament", "run", "two.toml", "--folder", bad + "2"],
        ["tournament", "run", f"{bad}/two.toml"],
        ["tournament", "resume", bad],
        ["tournament", "standings", bad],
        ["compare", "random", "greedy", "--game", "towerwars", "--folder", bad + "2"],
    ):
        assert "is no text in UTF-8: rename it, or work elsewhere [bad_path]" in desk.run(*arguments, code=1)
    assert not (desk.folder / (bad + "2")).exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_place_that_cannot_be_written_is_told(desk: Desk) -> None:
    desk.write("two.toml", HEAD + TWO)
    (desk.folder / "there").mkdir(mode=0o500)
    assert "can't be written" in desk.run("tournament", "run", "two.toml", "--folder", "there/it", code=1)


# -- an evening --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_tournament_from_its_check_to_its_exports(desk: Desk) -> None:
    desk.write("two.toml", HEAD + "games_per_pairing = 4\n" + TWO)
    assert "4 games" in without_times(desk.run("tournament", "run", "two.toml", "--dry-run"))
    assert not (desk.folder / "two.tournament").exists()
    said = desk.run("tournament", "run", "two.toml")
    assert "4 games played" in said
    folder = desk.folder / "two.tournament"
    games = [json.loads(line) for line in (folder / "games.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(games) == 4
    (folder / "index.html").unlink()
    assert "index.html" in desk.run("tournament", "export", "two.tournament")
    assert (folder / "index.html").exists()
    table = json.loads(desk.run("tournament", "standings", "two.tournament", "--json"))
    assert {line["player"] for line in table["standings"]} == {"Ann", "Bob"}
    assert "store_exists" in desk.run("tournament", "run", "two.toml", code=1)
    (folder / "index.html").unlink()
    assert "is finished: there is nothing" in desk.run("tournament", "resume", "two.tournament")
    assert (folder / "index.html").exists()
    assert "nothing was changed" in desk.run("tournament", "cancel", "two.tournament")


@pytest.mark.slow
def test_an_export_that_cannot_be_written_is_told_at_the_end_and_by_the_exit_code(desk: Desk) -> None:
    desk.write("two.toml", HEAD + "games_per_pairing = 2\n" + TWO)
    folder = desk.folder / "two.tournament"
    (folder / "games.csv").mkdir(parents=True)
    said = desk.run("tournament", "run", "two.toml", code=1)
    assert "2 games played" in said
    assert "everything is in" not in said
    assert "what was played is stored in two.tournament, but not all of its page and tables is up to date" in said
    last = said.splitlines()[-1]
    assert f"{folder / 'games.csv'} can't be written: " in last
    assert "; write them anew with: " in last
    assert last.endswith("tournament export two.tournament [cannot_write]")
    assert len((folder / "games.jsonl").read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.slow
def test_a_check_tells_which_bots_fail_and_what_they_said_last(desk: Desk) -> None:
    desk.write("broken.py", "raise RuntimeError('my engine is missing')\n")
    bots = '[[bots]]\nname = "Broken"\nfile = "broken.py"\n'
    bots += f'[[bots]]\nname = "Wrong"\ncommand = ["{sys.executable}", "-c", "exit(3)"]\n'
    desk.write("class.toml", HEAD + TWO + bots)
    said = desk.run("tournament", "check", "class.toml", code=1)
    assert "✓ Ann, towerwars" in said
    assert "✗ Broken, towerwars: start failed: " in said
    assert "my engine is missing" in said
    assert "its program ended before the match began: it ended by itself (exit code 3)" in said
    assert "2 of the trials failed" in said


@pytest.mark.slow
@POSIX
def test_ctrl_c_lets_games_end_and_resume_plays_the_rest_also_after_a_kill(desk: Desk) -> None:
    desk.write("two.toml", HEAD + "games_per_pairing = 14\n" + TWO)
    process = desk.start("tournament", "run", "two.toml")
    until_said(process, r"1\.1\.3 ")
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, said
    assert "triarena tournament resume two.tournament" in said
    assert 3 <= len(games_of(desk.folder / "two.tournament")) < 14
    process = desk.start("tournament", "resume", "two.tournament")
    until_said(process, r"1\.1\.\d+ ")
    process.kill()
    process.communicate(timeout=SECONDS)
    standings = desk.run("tournament", "standings", "two.tournament")
    assert "broken off" in standings
    assert "go on with: triarena tournament resume two.tournament" in standings
    assert "interrupted" in standings
    assert "14 games played" in desk.run("tournament", "resume", "two.tournament")


@POSIX
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_before_anything_is_begun_is_told(desk: Desk, times: int) -> None:
    desk.write("two.toml", HEAD + TWO)
    with closing(socket.create_server(("127.0.0.1", 0))) as door:  # it takes connections, and says nothing
        where = ["--server", f"127.0.0.1:{door.getsockname()[1]}", "--secret", "x"]
        process = desk.start("tournament", "run", "two.toml", *where)
        door.settimeout(SECONDS)
        connection, _ = door.accept()
        with closing(connection):
            for _ in range(times):
                process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert said == "interrupted: nothing was begun\n"
    assert not (desk.folder / "two.tournament").exists()


@pytest.mark.slow
def test_a_running_tournament_is_looked_at_exported_and_cancelled_from_another_terminal(desk: Desk) -> None:
    desk.write("two.toml", HEAD + "games_per_pairing = 400\n" + TWO)
    process = desk.start("tournament", "run", "two.toml")
    until_said(process, r"1\.1\.2 ")
    for again in (["resume", "two.tournament"], ["run", "two.toml"]):
        assert f"Another tool (process {process.pid} on " in desk.run("tournament", *again, code=1)
    assert "Ann" in desk.run("tournament", "standings", "two.tournament")
    assert "games.csv" in desk.run("tournament", "export", "two.tournament")
    assert "is cancelled" in desk.run("tournament", "cancel", "two.tournament")
    said, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 1
    assert "the tournament was cancelled; what was played is kept" in said
    assert "is cancelled: there is nothing" in desk.run("tournament", "resume", "two.tournament", code=1)


@pytest.mark.slow
@POSIX
def test_a_folder_that_is_renamed_while_the_tournament_runs_is_told_and_can_be_resumed(desk: Desk) -> None:
    desk.write("two.toml", HEAD + "games_per_pairing = 400\n" + TWO)
    process = desk.start("tournament", "run", "two.toml")
    until_said(process, r"1\.1\.2 ")
    (desk.folder / "two.tournament").rename(desk.folder / "other.tournament")
    said, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 1
    assert "the folder two.tournament was renamed, moved or deleted while the tournament was played in it" in said
    assert "Nothing that was played is lost" not in said
    # The server's own claim makes its place anew, and nothing else does.
    assert not [path for path in (desk.folder / "two.tournament").glob("*") if path.name != "server"]
    assert len(games_of(desk.folder / "other.tournament")) >= 2
    assert "interrupted" in desk.run("tournament", "standings", "other.tournament")


@pytest.mark.slow
def test_a_file_that_was_changed_since_the_start_is_told_when_its_tournament_is_resumed(desk: Desk) -> None:
    desk.write("two.toml", HEAD + TWO)
    begun(desk, "two.toml")
    desk.write("two.toml", HEAD + TWO.replace("Ann", "Anna"))
    said = desk.run("tournament", "resume", "two.tournament")
    assert "two.toml was changed since this tournament was begun: it goes on as it was begun" in said
    assert "2 games played" in said


@pytest.mark.parametrize(
    ("text", "kept", "told"),
    [
        (HEAD + TWO, True, False),
        ("\ufeff" + (HEAD + TWO).replace("\n", "\r\n"), True, False),
        (HEAD + TWO + "# a remark\n", True, True),
        (HEAD + TWO + "# a remark\n", False, True),
        (None, True, False),
    ],
    ids=["unchanged", "saved by another editor", "changed", "changed, by an earlier version", "gone"],
)
def test_whether_a_file_was_changed_is_found_out_where_it_still_lies(
    desk: Desk, text: str | None, kept: bool, told: bool
) -> None:
    path = desk.folder / "two.toml"
    desk.write("two.toml", HEAD + TWO)
    begun(desk, "two.toml")
    if text is None:
        path.unlink()
    else:
        path.write_bytes(text.encode())
    place = Folder(desk.folder / "two.tournament")
    assert bool(changed(place, place.contents(), str(path) if kept else None)) is told


@POSIX
def test_a_reader_that_goes_away_ends_no_game(desk: Desk) -> None:
    desk.write("two.toml", HEAD + "games_per_pairing = 4\n" + TWO)
    process = desk.start("tournament", "run", "two.toml")
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    process.wait(timeout=SECONDS)
    assert len(games_of(desk.folder / "two.tournament")) == 4
    with StoreReader(desk.folder / "two.tournament") as reader:
        assert reader.state() == "finished"


def test_a_tournament_at_a_running_server_with_a_remote_bot(desk: Desk, real_server: RunningServer) -> None:
    desk.write("three.toml", HEAD + TWO + '[[bots]]\nname = "Cleo"\nremote = true\n')
    secret = str(real_server.data_dir / "admin-secret")
    where = ["--server", f"127.0.0.1:{real_server.port}", "--secret-file", secret]
    process = desk.start("tournament", "run", "three.toml", *where)
    token = until_said(process, r"Cleo joins with: .*--token (\S+)").group(1)
    remote = desk.start(
        "join", "--tournament", "random", "--name", "Cleo", "--token", token,
        "--host", "127.0.0.1", "--port", str(real_server.port),
    )  # fmt: skip
    said, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, said
    farewell, _ = remote.communicate(timeout=SECONDS)
    assert remote.returncode == 0, farewell
    assert "dismissed: the tournament is over; Cleo" in farewell
    assert len(games_of(desk.folder / "three.tournament")) == 6


@POSIX
def test_a_second_tournament_with_the_names_of_one_that_runs_is_refused_and_the_first_is_not_disturbed(
    desk: Desk, real_server: RunningServer
) -> None:
    where = ["--server", f"127.0.0.1:{real_server.port}", "--secret-file", str(real_server.data_dir / "admin-secret")]
    desk.write("first.toml", HEAD + "games_per_pairing = 400\n" + TWO)
    first = desk.start("tournament", "run", "first.toml", *where)
    until_said(first, r"1\.1\.2 ")
    desk.write("second.toml", HEAD + TWO.replace("Ann", "ANN"))
    said = desk.run("tournament", "run", "second.toml", *where, code=1)
    assert "another tournament that runs on this server has a bot called 'ANN'" in said
    assert "[name_taken]" in said
    assert not (desk.folder / "second.tournament").exists()
    until_said(first, r"1\.1\.\d+")
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=SECONDS)
    games = games_of(desk.folder / "first.tournament")
    assert len(games) >= 2
    assert "name_taken" not in (desk.folder / "first.tournament" / "games.jsonl").read_text(encoding="utf-8")
    with StoreReader(desk.folder / "first.tournament") as reader:
        assert [result.played.offenders for result in reader.contents().results] == [()] * len(games)


@POSIX
def test_a_tournament_is_resumed_at_the_server_where_it_was_played_without_the_options(
    desk: Desk, real_server: RunningServer
) -> None:
    secret = str(real_server.data_dir / "admin-secret")
    desk.write("many.toml", HEAD + "games_per_pairing = 40\n" + TWO)
    where = ["--server", f"127.0.0.1:{real_server.port}", "--secret-file", secret]
    process = desk.start("tournament", "run", "many.toml", *where)
    until_said(process, r"1\.1\.2 ")
    process.kill()
    process.communicate(timeout=SECONDS)
    assert "40 games played" in desk.run("tournament", "resume", "many.tournament")
    server = desk.folder / "many.tournament" / "server"
    assert list(server.iterdir()) == [], "no server of its own was started"


@pytest.mark.parametrize("source", ["option", "variable", "file", "another server"])
def test_a_wrong_secret_of_a_running_server_is_told_before_anything_is_begun_with_its_source(
    desk: Desk, real_server: RunningServer, source: str
) -> None:
    desk.write("two.toml", HEAD + TWO)
    where = ["--server", f"127.0.0.1:{real_server.port}"]
    named = "--secret"
    if source == "option":
        where += ["--secret", "a guess"]
    elif source == "variable":
        desk.environment["TRIARENA_SECRET"] = "a guess"
        named = "the variable TRIARENA_SECRET"
    elif source == "file":
        where += ["--secret-file", desk.write("guess.txt", "a guess")]
        named = "the file guess.txt"
    else:
        (desk.folder / "other").mkdir()
        (desk.folder / "other" / "admin-secret").write_text("a guess", encoding="utf-8")
        desk.environment["TRIARENA_SERVER__DATA_DIR"] = str(desk.folder / "other")
        named = f"the file {desk.folder / 'other' / 'admin-secret'}"
    said = desk.run("tournament", "run", "two.toml", *where, code=1)
    assert f"the secret from {named}" in said
    assert f"is not the one of the server at 127.0.0.1:{real_server.port}" in said
    assert not (desk.folder / "two.tournament").exists()


@pytest.mark.parametrize("command", ["run", "resume"])
def test_a_running_server_that_is_not_there_is_waited_for_shortly_and_told(desk: Desk, command: str) -> None:
    desk.write("two.toml", HEAD + TWO)
    if command == "resume":
        begun(desk, "two.toml")
    with closing(socket.create_server(("127.0.0.1", 0))) as door:
        port = door.getsockname()[1]
    where = ["--server", f"127.0.0.1:{port}", "--secret", "x"]
    said = desk.run("tournament", command, "two.toml" if command == "run" else "two.tournament", *where, code=1)
    assert f"there is no server at 127.0.0.1:{port}" in said
    assert "or leave --server out" in said
    assert (desk.folder / "two.tournament").exists() == (command == "resume")


def test_where_no_server_runs_no_secret_is_asked_for(desk: Desk) -> None:
    desk.write("two.toml", HEAD + TWO)
    desk.environment["TRIARENA_SERVER__DATA_DIR"] = str(desk.folder / "nowhere")
    said = desk.run("tournament", "run", "two.toml", "--server", "127.0.0.1:1", code=1)
    assert "nobody listens on 127.0.0.1:1" in said
    assert "secret" not in said


@pytest.mark.parametrize("command", ["run", "resume"])
def test_a_port_that_is_taken_is_told_before_anything_is_begun(desk: Desk, command: str) -> None:
    desk.write("two.toml", HEAD + TWO)
    if command == "resume":
        begun(desk, "two.toml")
    with closing(socket.create_server(("127.0.0.1", 0))) as door:
        port = door.getsockname()[1]
        name = "two.toml" if command == "run" else "two.tournament"
        said = desk.run("tournament", command, name, "--port", str(port), code=1)
    assert f"port {port} at 127.0.0.1 is taken by another program" in said
    assert (desk.folder / "two.tournament").exists() == (command == "resume")


def test_an_address_that_this_computer_does_not_have_is_told_at_once(desk: Desk) -> None:
    desk.write("two.toml", HEAD + TWO)
    said = desk.run("tournament", "run", "two.toml", "--host", "192.0.2.1", "--port", "13055", code=1)
    assert "this computer has no address 192.0.2.1" in said


def begun(desk: Desk, name: str) -> None:
    """A tournament that was interrupted before its first game."""
    path = desk.folder / name
    with Folder(path.with_suffix(".tournament")).make(path, read_new(path, 1), datetime.now(UTC)):
        pass


def test_a_dry_run_shows_the_boards_of_the_file_s_seed_only(desk: Desk) -> None:
    desk.write("given.toml", HEAD + TWO)
    desk.write("drawn.toml", HEAD.replace("seed = 5\n", "") + TWO)
    given = desk.run("tournament", "run", "given.toml", "--dry-run")
    drawn = desk.run("tournament", "run", "drawn.toml", "--dry-run")
    board = re.search(r"board (\d+), then sides swapped", given)
    assert board
    assert "its seed is drawn at the start" in drawn
    assert "1 board, then sides swapped" in drawn
    file = read_new(desk.folder / "given.toml", 1)
    assert {str(each.seed) for each in format_of(file.events[0]).plan({}).fixtures()} == {board.group(1)}
    assert drawn == desk.run("tournament", "run", "drawn.toml", "--dry-run")


def test_a_no_show_leaves_what_there_is_to_know_of_it(desk: Desk) -> None:
    desk.write("noisy.py", "import sys\nprint('out of', file=sys.stderr)\nprint('cheese', file=sys.stderr)\nexit(7)\n")
    bots = '[[bots]]\nname = "Ann"\nshipped = "random"\n[[bots]]\nname = "Noisy"\n'
    bots += f'command = ["{sys.executable}", "noisy.py"]\n'
    desk.write("two.toml", HEAD + bots)
    said = desk.run("tournament", "run", "two.toml")
    assert "Noisy could not be started for its match: its program ended before the match began" in said
    place = desk.folder / "two.tournament" / "irregular" / "class-1.1.1-1"
    readme = (place / "README.txt").read_text(encoding="utf-8")
    side = "red" if "Noisy (red)" in readme else "blue"
    assert (
        "Noisy could not be started for its match: its program ended before the match began: it ended by itself "
        in (readme)
    )
    assert "(exit code 7); it said: out of / cheese" in readme
    assert "see it again:   the match never began, so no ply was played" in readme
    assert "cheese" in (place / f"{side}.log").read_text(encoding="utf-8")
    report = (place / "report.txt").read_text(encoding="utf-8")
    assert "There is no report of the match, and nothing to replay" in report
    assert "room" in report
    assert json.loads((place / "result.json").read_text(encoding="utf-8"))["played"]["reason"] == "start_failed"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a bot may outlive its guard")
@pytest.mark.parametrize(
    ("deed", "told", "replays"),
    [
        ("os.kill(os.getppid(), signal.SIGKILL)", "it was given up: its guard was killed", 2),
        ("open(f'/proc/{os.getppid()}/fd/1', 'w').write('garbage\\n')", "it was given up: its guard was harmed", 0),
    ],
    ids=["kills, which may be an accident", "speaks in its place, which is none"],
)
def test_a_bot_that_makes_its_guard_fail_has_lost_in_the_end(desk: Desk, deed: str, told: str, replays: int) -> None:
    source = f"import os, signal, time\n\ndef choose_move(position):\n    {deed}\n    time.sleep(60)\n"
    desk.write("killer.py", source)
    bots = '[[bots]]\nname = "Ann"\nshipped = "random"\n[[bots]]\nname = "Killer"\nfile = "killer.py"\n'
    desk.write("two.toml", HEAD + "server = { rooms = { grace_seconds = 1 } }\n" + bots)
    said = desk.run("tournament", "run", "two.toml")
    assert told in said
    assert said.count("is to be played again") == replays
    with StoreReader(desk.folder / "two.tournament") as reader:
        contents = reader.contents()
    assert contents.state == "finished"
    for each in contents.results:
        assert each.played.winner_name == "Ann"
        assert each.played.reason == "disconnected"
        assert told in each.message
        assert ("it counts as a crash of Killer: something harms the guard of its process" in each.message) == (
            replays > 0
        )
    assert sum(each.state == "failed" for each in contents.attempts) == replays


@pytest.mark.slow
def test_a_game_that_reaches_its_limit_is_drawn_and_the_tournament_finishes(desk: Desk) -> None:
    desk.write("two.toml", HEAD.replace("size = 4", "size = 6, max_plies = 3") + TWO)
    said = desk.run("tournament", "run", "two.toml")
    assert "unfinished" in said
    table = json.loads(desk.run("tournament", "standings", "two.tournament", "--json"))
    assert [(line["draws"], line["unfinished"], line["points"]) for line in table["standings"]] == 2 * [(2, 2, 1.0)]


# -- comparing ---------------------------------------------------------------------------------


def test_a_comparison_that_is_decided_says_so(desk: Desk) -> None:
    said = desk.run(
        "compare", "greedy", "random", "--game", "towerwars", "--option", "size=4", "--elo1", "300", "--seed", "1"
    )
    assert "decided: greedy over random is 300 Elo rather than 0" in said


@pytest.mark.parametrize(("most", "games"), [("4", 4), ("3", 2), ("2", 2)])
def test_a_comparison_that_is_not_decided_says_how_far_it_is_and_plays_no_more_games_than_it_may(
    desk: Desk, most: str, games: int
) -> None:
    arguments = ["--game", "towerwars", "--option", "size=4", "--elo1", "5", "--seed", "1", "--max-games", most]
    said = desk.run("compare", "random", "random", *arguments)
    assert "undecided between 0 and 5 Elo, random-1 over random-2" in said
    assert len(games_of(desk.folder / "random-1-random-2.tournament")) == games
    assert (f"games come in pairs, so at most {games} are played" in said) is (int(most) != games)


def test_a_comparison_whose_file_cannot_be_written_says_so(desk: Desk) -> None:
    (desk.folder / "here.tournament" / "compare.toml").mkdir(parents=True)
    arguments = ["--game", "towerwars", "--folder", "here.tournament"]
    said = desk.run("compare", "random", "greedy", *arguments, code=1)
    assert "compare.toml can't be written" in said
    assert "[cannot_open]" in said


def games_of(folder: Path) -> list[str]:
    """The results that are stored."""
    with StoreReader(folder) as reader:
        return [result.played.fixture.id for result in reader.contents().results]
