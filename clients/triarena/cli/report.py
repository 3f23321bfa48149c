"""``triarena report``: all that is known of a stored match, for whoever has to judge it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .invocation import command
from .storage import journal_explained, journal_url, storage_options
from .table import table
from .times import clock

if TYPE_CHECKING:
    from triarena.server.journal import PlyPlayed, StoredMatch

SIDES = ("red", "blue")
PLY_HEADINGS = ("ply", "side", "arrived (UTC)", "move", "used", "limit", "overhead", "lag")
WIDTH = 120
"""Longer lines of what was said are cut."""


@click.command()
@click.argument("match")
@storage_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object, with all that is stored.")
def report(match: str, config: Path | None, data_dir: Path | None, database: str | None, as_json: bool) -> None:
    """Tell all that is known of MATCH: who, when, by which terms, how it ended, every ply's times, the last words.

    MATCH is the id of a stored match or the beginning of one (see: triarena matches). All times are UTC, durations are
    milliseconds: what a ply was charged (used) and could have taken (limit), what the server took before it asked
    (overhead), and the worst lag of the server's loop while it waited (lag).

    \b
    $ triarena report 7k2m
    $ triarena report 7k2m --json | jq .evidence.red.visits
    """
    from triarena.server.journal import read_match

    url = journal_url(config, data_dir, database)
    with journal_explained():
        stored = read_match(url, match)
    if as_json:
        click.echo(json.dumps(_plain(stored)))
    else:
        for section in sections(stored):
            click.echo(section)


def _plain(stored: StoredMatch) -> dict[str, Any]:
    opened, ended = asdict(stored.opened), stored.ended
    opened["settings"] = {name: value for name, value in opened["settings"].items() if name != "seats"}
    return {
        **{name: value for name, value in opened.items() if name != "at"},
        "started_at": stored.opened.at.isoformat(),
        "ended_at": None if ended is None else ended.at.isoformat(),
        "result": stored.result,
        "plies": [
            {**{name: value for name, value in asdict(ply).items() if name not in ("at", "match")}, "at": _iso(ply.at)}
            for ply in stored.plies
        ],
        "evidence": None if ended is None else ended.evidence,
    }


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")


def sections(stored: StoredMatch) -> Iterator[str]:
    """What is printed, part by part."""
    evidence = stored.ended.evidence if stored.ended is not None and stored.ended.evidence is not None else {}
    yield _heading(stored, evidence)
    for side in SIDES:
        yield _player(stored, side, evidence.get(side, {}))
    yield ""
    yield table(PLY_HEADINGS, [_ply(ply) for ply in stored.plies]) if stored.plies else "no ply was played"
    for side in SIDES:
        frames = evidence.get(side, {}).get("frames")
        if frames is not None:
            yield f"\nwhat was last said over {side}'s connection; >> by the player, << by the server"
            yield from _words(frames)
    yield f"\ncheck it by the rules, and see it again: {command('replay', stored.match, '--boards')}"


def _heading(stored: StoredMatch, evidence: Mapping[str, Any]) -> str:
    opened, ended = stored.opened, stored.ended
    options = ", ".join(f"{name} {value}" for name, value in opened.options.items())
    until = "not ended" if ended is None else f"ended {_iso(ended.at)}"
    return (
        f"match {stored.match} in room {opened.room}: {opened.game} ({options}; seed {opened.seed}), "
        f"version {opened.rules_version} of the rules, on {opened.settings.get('server', 'an unknown server')}\n"
        f"started {_iso(opened.at)}, {until}, {len(stored.plies)} plies\n"
        f"{_ending(stored)}\n"
        + "".join(f"{side} left and gave as its reason: {why}\n" for side, why in _reasons(evidence))
    )


def _reasons(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The sides that left the match saying why; a bot's fault, for example."""
    for side in SIDES:
        for frame in evidence.get(side, {}).get("frames", {}).get("from_client", ()):
            message = frame.get("message", {})
            if message.get("type") == "leave" and message.get("reason"):
                yield side, _printable(str(message["reason"]))


def _printable(text: str) -> str:
    """A player's words, without what a terminal might obey."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _ending(stored: StoredMatch) -> str:
    if stored.result is None:
        return "no result is stored: the match goes on, or broke off"
    from triarena.clients.results import sentence
    from triarena.protocol.values import Result

    return sentence(Result.model_validate(stored.result))


def _player(stored: StoredMatch, side: str, evidence: Mapping[str, Any]) -> str:
    name = stored.opened.red if side == "red" else stored.opened.blue
    used = sum(ply.used_ms for ply in stored.plies if ply.side == side)
    lines = [f"{side:<5} {name}: {clock(stored.opened.time_control.get(side, {}))}; used {used:.0f} ms"]
    for visit in evidence.get("visits", ()):
        end = f"to {_clock_time(visit['until'])} ({visit['why']})" if visit["until"] else "to the end"
        software = _printable(visit["software"]) or "unnamed software"
        came = f"from {_clock_time(visit['since'])} {end}"
        lines.append(f"      {software}, connection {visit['connection']} from {visit['address']}, {came}")
    if not evidence:
        software = stored.opened.settings.get("seats", {}).get(side, {}).get("software") or "unnamed"
        lines.append(f"      {_printable(software)}")
    return "\n".join(lines)


def _ply(ply: PlyPlayed) -> tuple[str, ...]:
    times = (ply.used_ms, ply.limit_ms, ply.overhead_ms, ply.lag_ms)
    return (
        str(ply.ply),
        ply.side,
        ply.at.strftime("%H:%M:%S.%f")[:-3],
        ply.text,
        *("-" if value is None else f"{value:.1f}" for value in times),
    )


def _words(frames: Mapping[str, list[Mapping[str, Any]]]) -> Iterator[str]:
    """Both directions in the order of time, one line each."""
    both = [(frame["at"], ">>", frame) for frame in frames["from_client"]]
    both += [(frame["at"], "<<", frame) for frame in frames["to_client"]]
    for at, mark, frame in sorted(both, key=lambda entry: entry[0]):
        untaken = " (never taken)" if mark == "<<" and frame["taken"] is None else ""
        line = f"{_clock_time(at)} {mark} {_content(frame)}"
        cut = " ..." if len(line) > WIDTH or frame.get("cut") else ""
        yield f"{_printable(line[:WIDTH])}{cut}{untaken}"


def _content(frame: Mapping[str, Any]) -> str:
    if "message" not in frame:
        return f"{frame['bytes']} bytes that are no message: {frame['hex']}"
    fields = dict(frame["message"])
    kind = str(fields.pop("type", "a message without a type"))
    rest = ", ".join(f"{name} {_short(value)}" for name, value in fields.items())
    return f"{kind}: {rest}" if rest else kind


def _short(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _clock_time(iso: str) -> str:
    return datetime.fromisoformat(iso).strftime("%H:%M:%S.%f")[:-3]
