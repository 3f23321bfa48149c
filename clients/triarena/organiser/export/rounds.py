"""The rounds of an event with all their games, and a knockout's bracket."""

from __future__ import annotations

from collections.abc import Iterator

from triarena.organiser.report import EventReport
from triarena.organiser.rounds import Game, Meeting, RoundReport
from triarena.organiser.wording import counted, milliseconds, number, reason, score, standing

from .markup import Markup, join, pieces, tag

HEADINGS = ("game", "red", "", "blue", "why", "score", "plies", "red used", "blue used", "see it again")


def rounds(report: EventReport, replay: str) -> Iterator[Markup]:
    """Every round, folded but the newest one of a running event. ``replay`` is a command with ``{match}`` in it."""
    newest = report.newest_round if report.state == "running" else None
    only = len(report.rounds) == 1
    for each in report.rounds:
        yield from pieces(
            "details",
            tag("summary", each.title, " ", tag("span", _how_far(each), class_="soft")),
            _byes(each),
            _games(each, replay),
            id=f"{report.event.slug}-round-{each.number}",
            open=True if only or each.number == newest else None,
        )


def bracket(report: EventReport) -> list[Markup]:
    """A knockout's rounds from left to right; those of the losers, if they go on, below."""
    lanes: dict[bool, list[Markup]] = {False: [], True: []}
    for each in report.rounds:
        matches = tag("div", [_match(meeting) for meeting in each.meetings], class_="slots")
        lanes[each.title.startswith("Losers")].append(tag("div", tag("h4", each.title), matches))
    return [tag("div", tag("div", lane, class_="bracket"), class_="scroll") for lane in lanes.values() if lane]


def _how_far(each: RoundReport) -> str:
    games = list(each.games())
    done = sum(game.result is not None for game in games)
    all_of_them = counted(len(games), "game")
    return all_of_them if done == len(games) else f"{done} of {all_of_them} played"


def _byes(each: RoundReport) -> Markup | None:
    if not each.byes:
        return None
    return tag("p", f"No opponent in this round: {', '.join(each.byes)}.", class_="soft")


def _games(each: RoundReport, replay: str) -> Iterator[Markup]:
    head = tag("tr", [tag("th", title, class_="c" if not title else None, scope="col") for title in HEADINGS])
    body = pieces("tbody", (_rows(meeting, replay) for meeting in each.meetings))
    return pieces("div", pieces("table", tag("thead", head), body, class_="games"), class_="scroll")


def _rows(meeting: Meeting, replay: str) -> list[Markup]:
    rows = [tag("tr", _game(game, replay)) for game in meeting.games]
    if len(meeting.games) == 1 and meeting.decision is None:
        return rows
    points = f"{number(meeting.first_points)} : {number(meeting.second_points)}"
    title = f"{meeting.first} {points} {meeting.second}" + ("" if meeting.over else ", not over")
    if meeting.decision is not None and meeting.decision.ground != "wins":
        title = f"{title}: {meeting.decision}"
    return [tag("tr", tag("td", title, colspan=len(HEADINGS)), class_="meeting"), *rows]


def _game(game: Game, replay: str) -> list[Markup]:
    played, fixture = game.played, game.fixture
    winner = None if played is None else played.winner
    start = [
        tag("td", fixture.id),
        tag("td", fixture.red, class_=f"side red{' won' if winner == 'red' else ''}"),
        tag("td", "–" if played is None else score(played), class_="c"),
        tag("td", fixture.blue, class_=f"side blue{' won' if winner == 'blue' else ''}"),
    ]
    if played is None or game.result is None:
        return [*start, tag("td", standing(game), class_="soft", colspan=len(HEADINGS) - len(start))]
    message = tag("span", game.result.message, class_="soft") if played.offenders else None
    spent = next((each.spent for each in game.attempts if each.number == game.result.attempt), None)
    command = replay.replace("{match}", game.result.match) if game.result.match else None
    return [
        *start,
        tag("td", reason(played), message, _repeated(game), class_="said"),
        tag("td", f"{number(played.red_score)} : {number(played.blue_score)}", class_="n"),
        tag("td", str(played.plies), class_="n"),
        tag("td", milliseconds(spent.red_ms if spent else None), class_="n"),
        tag("td", milliseconds(spent.blue_ms if spent else None), class_="n"),
        tag("td", tag("code", command) if command else "it never began"),
    ]


def _repeated(game: Game) -> Markup | None:
    failed = [attempt for attempt in game.attempts if attempt.went_wrong]
    if not failed:
        return None
    count = "one attempt" if len(failed) == 1 else f"{len(failed)} attempts"
    return tag("span", f"after {count} that did not count: {failed[-1].why}", class_="soft")


def _match(meeting: Meeting) -> Markup:
    winner = None if meeting.decision is None else meeting.decision.winner
    sides = [(meeting.first, meeting.first_points), (meeting.second, meeting.second_points)]
    begun = any(game.result is not None for game in meeting.games)
    return join(
        tag(
            "div",
            [
                tag(
                    "div",
                    tag("span", name, title=name),
                    tag("span", number(points) if begun else ""),
                    class_="won" if name == winner else None,
                )
                for name, points in sides
            ],
            class_="match",
            title=None if meeting.decision is None else str(meeting.decision),
        )
    )
