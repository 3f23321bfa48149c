"""``triarena report``: all that is known of a stored match, for whoever has to judge it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .invocation import command
from .storage import journal_explained, journal_url, storage_options, storage_words
from .table import table
from .times import clock

if TYPE_CHECKING:
    from triarena.server.journal import PlyPlayed, StoredMatch

SIDES = ("red", "blue")
PLY_HEADINGS = ("ply", "side", "arrived (UTC)", "move", "used", "limit", "overhead", "lag")
WIDTH = 120
"""Longer lines of what was said are cut."""
FIRST = ("ply", "side", "clock", "used_ms", "code", "message", "reason", "text", "move")
"""What matters most in a message, in the order in which it is shown."""
LONG = ("position", "plies", "view")
"""What is left out unless all is asked for."""


@click.command()
@click.argument("match")
@storage_options
@click.option("--wide", is_flag=True, help="What was last said in full, positions included, whatever its length.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, with all that is stored.")
def report(
    match: str, config: Path | None, data_dir: Path | None, database: str | None, wide: bool, as_json: bool
) -> None:
    """Tell all that is known of MATCH: who, when, by which terms, how it ended, every ply's times, the last words.

    MATCH is the id of a stored match or the beginning of one (see: triarena matches). All times are UTC, durations are
    milliseconds: what a ply was charged (used) and could have taken (limit), what the server took before it asked
    (overhead), and the worst lag of the server's loop while it waited (lag). A last line with a star is the turn in
    which the match ended, without a ply of its own: the one that ran out, for example.

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
        for section in sections(stored, wide=wide, where=storage_words(config, data_dir, database)):
            click.echo(section)


def _plain(stored: StoredMatch) -> dict[str, Any]:
    from triarena.server.evidence import known_evidence

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
        "evidence": known_evidence(stored) or None,
    }


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")


def sections(stored: StoredMatch, *, wide: bool = False, where: Sequence[str] = ()) -> Iterator[str]:
    """What is printed, part by part; ``wide``: all of what was last said. ``where`` are options that name the
    database, for the command at the end.
    """
    from triarena.server.evidence import known_evidence

    evidence = known_evidence(stored)
    yield _heading(stored, evidence)
    for side in SIDES:
        yield _player(stored, side, evidence)
    yield ""
    yield from _plies(stored, evidence)
    for side in SIDES:
        frames = evidence.get(side, {}).get("frames")
        if frames is not None:
            yield f"\nwhat was last said over {side}'s connection; >> by the player, << by the server"
            yield from _words(frames, wide)
    if evidence.get("restarts") and _words_are_kept(stored):
        yield "\nwhat was said before the server was started again was lost with it"
    yield f"\ncheck it by the rules, and see it again: {command('replay', stored.match, *where, '--boards')}"


def _words_are_kept(stored: StoredMatch) -> bool:
    """Whether the match ended in a way of which last words are kept."""
    return stored.ended is not None and stored.ended.kind != "outcome" and stored.ended.reason != "ply_limit"


def _heading(stored: StoredMatch, evidence: Mapping[str, Any]) -> str:
    opened, ended = stored.opened, stored.ended
    options = ", ".join(f"{name} {value}" for name, value in opened.options.items())
    until = "not ended" if ended is None else f"ended {_iso(ended.at)}"
    return (
        f"match {stored.match} in room {opened.room}: {opened.game} ({options}; seed {opened.seed}), "
        f"version {opened.rules_version} of the rules, on {opened.settings.get('server', 'an unknown server')}\n"
        f"started {_iso(opened.at)}, {until}, {len(stored.plies)} plies\n"
        f"{_ending(stored)}\n"
        + "".join(f"{side} left and gave as its reason: {why}\n" for side, why in leaving(stored, evidence))
    )


def leaving(stored: StoredMatch, evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The side that forfeited the match by leaving it and said why; a bot's fault, for example.

    A connection's last words may be about matches that it played before.
    """
    result = stored.result or {}
    offenders = (result.get("detail") or {}).get("offenders", ()) if result.get("reason") == "left" else ()
    for side in SIDES:
        for frame in evidence.get(side, {}).get("frames", {}).get("from_client", ()):
            message = frame.get("message", {})
            of_it = message.get("type") == "leave" and message.get("room") == stored.opened.room
            if side in offenders and of_it and message.get("reason"):
                yield side, _printable(str(message["reason"]))
                break


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
    last = evidence.get("last_turn", {})
    used += last["used_ms"] if last.get("side") == side else 0
    lines = [f"{side:<5} {name}: {clock(stored.opened.time_control.get(side, {}))}; used {used:.0f} ms"]
    visits = evidence.get(side, {}).get("visits", ())
    for visit in visits:
        software = _printable(visit["software"]) or "unnamed software"
        came = f"from {_clock_time(visit['since'])} {_until(visit, over=stored.ended is not None)}"
        lines.append(f"      {software}, connection {visit['connection']} from {visit['address']}, {came}")
    if not visits:
        software = stored.opened.settings.get("seats", {}).get(side, {}).get("software") or "unnamed"
        lines.append(f"      {_printable(software)}")
    reason = (stored.result or {}).get("reason")
    if reason == "not_resumed" and visits and (visits[-1]["until"] or visits[-1]["why"]):
        lines.append("      was not there when the wait after the restart of the server was over")
    return "\n".join(lines)


def _until(visit: Mapping[str, Any], *, over: bool) -> str:
    if visit["until"]:
        return f"to {_clock_time(visit['until'])} ({visit['why']})"
    if visit["why"]:  # nobody saw the end
        return f"until {visit['why']}"
    return "to the end" if over else "on"


def _plies(stored: StoredMatch, evidence: Mapping[str, Any]) -> Iterator[str]:
    """A table of the plies and of the turn in which the match ended, with a line wherever the server was restarted, or
    the match paused.
    """
    rows = [_ply(ply) for ply in stored.plies]
    if (last := evidence.get("last_turn")) is not None:
        rows.append(_last_turn(stored, last))
    heading, *lines = table(PLY_HEADINGS, rows).split("\n")
    restarts, pauses = evidence.get("restarts", ()), evidence.get("pauses", ())
    events = [(each["at"], each["ply"], _restart(each)) for each in restarts]
    events += [(each["at"], each["ply"], _pause(each)) for each in pauses]
    events.sort(key=lambda event: event[0])
    yield heading if rows else "no ply was played"
    for number in range(len(rows) + 1):
        yield from (line for _, ply, line in events if ply == number)
        if number < len(rows):
            yield lines[number]
    if last is not None:
        yield f"* the turn in which the match ended; it was asked for at {_clock_time(last['asked_at'])}"


def _restart(restart: Mapping[str, Any]) -> str:
    return f"--- the server was started again at {_clock_time(restart['at'])} ---"


def _pause(pause: Mapping[str, Any]) -> str:
    until = "on" if pause["until"] is None else f"to {_clock_time(pause['until'])}"
    return f"--- paused by an {pause['by']} from {_clock_time(pause['at'])} {until} ---"


def _last_turn(stored: StoredMatch, turn: Mapping[str, Any]) -> tuple[str, ...]:
    refused = ((stored.result or {}).get("detail") or {}).get("move") or "(not accepted)"
    return (
        f"{turn['ply']}*",
        turn["side"],
        "-" if turn["arrived_at"] is None else _clock_time(turn["arrived_at"]),
        _printable(str(refused)) if turn["answered"] else "(no answer)",
        *_durations(turn["used_ms"], turn["limit_ms"], turn["overhead_ms"], turn["lag_ms"]),
    )


def _durations(*times: float | None) -> Iterator[str]:
    return ("-" if time is None else f"{time:.1f}" for time in times)


def _ply(ply: PlyPlayed) -> tuple[str, ...]:
    return (
        str(ply.ply),
        ply.side,
        ply.at.strftime("%H:%M:%S.%f")[:-3],
        ply.text,
        *_durations(ply.used_ms, ply.limit_ms, ply.overhead_ms, ply.lag_ms),
    )


def _words(frames: Mapping[str, list[Mapping[str, Any]]], wide: bool) -> Iterator[str]:
    """Both directions in the order of time, one line each."""
    both = [(frame["at"], ">>", frame) for frame in frames["from_client"]]
    both += [(frame["at"], "<<", frame) for frame in frames["to_client"]]
    for at, mark, frame in sorted(both, key=lambda entry: entry[0]):
        untaken = " (never taken)" if mark == "<<" and frame["taken"] is None else ""
        said, whole = _content(frame, wide)
        line = f"{_clock_time(at)} {mark} {said}"
        shown = line if wide else line[:WIDTH]
        cut = "" if whole and shown == line and not frame.get("cut") else " ..."
        yield f"{_printable(shown)}{cut}{untaken}"


def _content(frame: Mapping[str, Any], wide: bool) -> tuple[str, bool]:
    """What a frame says, with what matters most first; and whether that is all of it."""
    if "message" not in frame:
        return f"{frame['bytes']} bytes that are no message: {frame['hex']}", True
    fields = dict(frame["message"])
    kind = str(fields.pop("type", "a message without a type"))
    if kind == "xml":
        return " ".join(str(fields.get("text", "")).split()), True
    left_out = [] if wide else [name for name in LONG if fields.pop(name, None) is not None]
    told: dict[str, Any] = {}
    for name in sorted(fields, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST)):
        value = fields[name]
        told |= value if name == "clock" and isinstance(value, dict) else {name: value}
    rest = ", ".join(f"{name} {_short(value)}" for name, value in told.items() if value is not None)
    return (f"{kind}: {rest}" if rest else kind), not left_out


def _short(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _clock_time(iso: str) -> str:
    return datetime.fromisoformat(iso).strftime("%H:%M:%S.%f")[:-3]
