"""Log lines: what reaches them, in which form, and what never does."""

import io
import json
from collections.abc import Iterator
from typing import Any, Literal

import pytest
import structlog

from triarena.server.logs import configure_logging


class Terminal(io.TextIOWrapper):
    """A text stream over bytes, perhaps a terminal, that remembers what was written."""

    def __init__(self, *, tty: bool = False) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty

    @property
    def text(self) -> str:
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode()


@pytest.fixture
def stream() -> Iterator[Terminal]:
    yield Terminal()
    structlog.reset_defaults()


def lines(stream: Terminal) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.text.splitlines()]


def test_a_machine_gets_one_json_object_a_line(stream: Terminal) -> None:
    configure_logging("info", "json", stream)
    structlog.get_logger().info("match_over", match="m1", winner="red", sides={"red": 3}, ply=4)
    structlog.get_logger().warning("wrong_secret")
    first, second = lines(stream)
    timestamp = first.pop("timestamp")
    assert timestamp.endswith("Z")
    assert first == {
        "event": "match_over", "level": "info", "match": "m1", "winner": "red", "sides": {"red": 3}, "ply": 4,
    }  # fmt: skip
    assert (second["event"], second["level"]) == ("wrong_secret", "warning")


def test_a_person_gets_a_readable_line(stream: Terminal) -> None:
    configure_logging("info", "console", stream)
    structlog.get_logger().info("match_over", match="m1", winner="red")
    (line,) = stream.text.splitlines()
    assert "match_over" in line
    assert "winner=red" in line
    assert "\x1b" not in line


@pytest.mark.parametrize(("tty", "readable_by_machines"), [(True, False), (False, True)])
def test_the_format_follows_the_stream(tty: bool, readable_by_machines: bool) -> None:
    stream = Terminal(tty=tty)
    configure_logging("info", "auto", stream)
    structlog.get_logger().info("started")
    structlog.reset_defaults()
    assert stream.text.startswith("{") is readable_by_machines


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("debug", ["debug", "info", "warning", "error"]),
        ("info", ["info", "warning", "error"]),
        ("warning", ["warning", "error"]),
        ("error", ["error"]),
    ],
)
def test_lines_below_the_level_are_not_written(
    stream: Terminal, level: Literal["debug", "info", "warning", "error"], expected: list[str]
) -> None:
    configure_logging(level, "json", stream)
    log = structlog.get_logger()
    for method in (log.debug, log.info, log.warning, log.error):
        method("something")
    assert [line["level"] for line in lines(stream)] == expected


@pytest.mark.parametrize("log_format", ["json", "console"])
@pytest.mark.parametrize(
    "key", ["secret", "token", "reservation", "rejoin_token", "admin_secret", "reservations", "Token", "password"]
)
def test_what_is_secret_is_hidden(stream: Terminal, log_format: Literal["json", "console"], key: str) -> None:
    configure_logging("info", log_format, stream)
    structlog.get_logger().info("told", **{key: "swordfish"}, other={"deep": [{key: ["swordfish"]}]}, kept="herring")
    assert "swordfish" not in stream.text
    assert stream.text.count("***") == 2
    assert "herring" in stream.text


def test_what_only_sounds_secret_is_shown(stream: Terminal) -> None:
    configure_logging("info", "json", stream)
    structlog.get_logger().info("told", reservation_seconds=3600, tokens_used=1)
    assert lines(stream)[0]["reservation_seconds"] == 3600


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_an_exception_is_told_without_local_variables(stream: Terminal, log_format: Literal["json", "console"]) -> None:
    configure_logging("info", log_format, stream)
    hidden = "sword" + "fish"
    try:
        raise ValueError("a sentence", len(hidden))
    except ValueError:
        structlog.get_logger().exception("match_crashed", match="m1")
    assert "match_crashed" in stream.text
    assert "ValueError: ('a sentence', 9)" in stream.text.replace("\\n", "\n")
    assert "swordfish" not in stream.text


@pytest.mark.parametrize("value", [2**70, "\ud800", {1: 2}, {"x": object()}, {3, 4}, b"bytes", float("nan")])
def test_no_value_makes_a_line_fail(stream: Terminal, value: object) -> None:
    configure_logging("info", "json", stream)
    structlog.get_logger().info("strange", value=value)
    assert [line["event"] for line in lines(stream)] == ["strange"]


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_a_stream_that_nobody_reads_any_more_does_not_stop_the_server(
    log_format: Literal["json", "console"],
) -> None:
    stream = Terminal()
    configure_logging("info", log_format, stream)
    log = structlog.get_logger()
    log.info("heard")
    stream.close()
    log.info("unheard")
    structlog.reset_defaults()
    assert stream.closed
