"""What was under way when the server last stopped, however it did: opened again before anybody may come in.

So are, for a while, the rooms of matches that had just ended: a player may not have been told yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import structlog
from pydantic import TypeAdapter

from triarena.games import Side, find_game
from triarena.protocol.values import Result, TimeControl

from .journal import RoomForgotten, RoomKept, StoredMatch, ended_since, kept_rooms, list_matches, read_match
from .keeping import KeptRoom
from .lobby import Lobby
from .room import Room

log = structlog.get_logger()

MOST_MATCHES = 10_000
"""How many unfinished matches are opened again; the newest."""
MOST_ENDED = 100
"""How many rooms of matches that had ended are opened again; the newest."""


@dataclass(frozen=True, slots=True)
class Remains:
    """What the journal holds that is not over, or only just."""

    matches: tuple[StoredMatch, ...]
    """Unfinished; the newest first."""
    ended: tuple[StoredMatch, ...]
    """The newest first."""
    rooms: tuple[RoomKept, ...]


def read_remains(database: str, since: datetime) -> Remains:
    """What was under way, and what ended ``since`` then, from the journal. Blocks.

    Raises JournalError if the journal can't be read.
    """
    unfinished = list_matches(database, limit=MOST_MATCHES, finished=False)
    return Remains(
        tuple(read_match(database, each.match) for each in unfinished),
        tuple(ended_since(database, since, MOST_ENDED)),
        tuple(kept_rooms(database)),
    )


async def recover(lobby: Lobby, remains: Remains) -> None:
    """Open the rooms of unfinished matches, paused if they were, the prepared rooms that still wait for one, and the
    rooms of matches that have ended.

    Whatever is wrong with one room, the others are opened.
    """
    kept = {room.match: room for room in remains.rooms}
    lobby.keeping.names.update(room.room for room in remains.rooms)
    for stored in remains.matches:
        try:
            resume_match(lobby, stored, kept.pop(stored.match, None))
        except Exception as error:
            log.error("match_not_resumed", match=stored.match, why=str(error))
    matches = len(lobby.rooms)
    for room in kept.values():
        try:
            if not reopen_room(lobby, room):
                await lobby.journal.write(RoomForgotten(room.room))
                lobby.keeping.names.discard(room.room)
        except Exception as error:
            log.error("room_not_reopened", room=room.room, why=str(error))
    reopened = 0
    for stored in remains.ended:
        try:
            reopen_ended(lobby, stored)
            reopened += 1
        except Exception as error:
            log.error("result_not_reopened", match=stored.match, why=str(error))
    if remains.matches or kept:
        log.info(
            "recovered",
            matches_resumed=matches,
            matches_not_resumed=len(remains.matches) - matches,
            prepared_rooms_reopened=len(lobby.rooms) - matches - reopened,
            results_still_told=reopened,
            hint=f"the players of resumed matches have {lobby.house.resume:g} s to come back with their tokens",
        )


def resume_match(lobby: Lobby, stored: StoredMatch, kept: RoomKept | None = None) -> None:
    """Open the room of a match that broke off when the server did, with what was ``kept`` of it beside the match.

    Raises MoveError, UnknownGame or ValueError if it can't go on.
    """
    room = _room_of(lobby, stored)
    if kept is not None:
        lobby.keeping.restore(room, KeptRoom.model_validate(kept.state), lobby.house.resume)
    for seat in room.seats.values():
        lobby.seating.keep(room, seat)
    lobby.add(room)
    lobby.play(room)
    if room.scribe is not None:
        lobby.start_soon(room.scribe.keep_evidence)


def reopen_ended(lobby: Lobby, stored: StoredMatch) -> None:
    """Open the room of a match that has ended, so that whoever was not told comes back and is.

    Raises what ``resume_match`` raises.
    """
    room = _room_of(lobby, stored)
    room.reopen_ended(Result.model_validate(stored.result))
    for seat in room.seats.values():
        lobby.seating.keep(room, seat)
    lobby.add(room)


def _room_of(lobby: Lobby, stored: StoredMatch) -> Room:
    """The room of a stored match, as it stood at its last ply; nobody sees it yet."""
    opened = stored.opened
    game = find_game(opened.game)
    if game.rules_version != opened.rules_version:
        raise ValueError(f"it was played by version {opened.rules_version} of the rules")
    controls = TypeAdapter(dict[str, TimeControl]).validate_python(opened.time_control)
    clocks = {side: controls[side.value] for side in Side}
    name = opened.room if opened.room not in lobby.rooms else lobby.new_name()
    room = lobby.make_room(name, game, dict(opened.options), opened.seed, clocks)
    names = {Side.RED: opened.red, Side.BLUE: opened.blue}
    for side, seat in room.seats.items():
        seat.name, seat.key = names[side], str(opened.settings["seats"][side.value]["key"])
    room.resume(stored, lobby.house.resume)
    return room


def reopen_room(lobby: Lobby, kept: RoomKept) -> bool:
    """Open a room again in which no match had begun. False for one that was only kept as paused: nobody sits there
    any more, and no code leads there.

    Raises Refusal or ValueError if it can't be opened.
    """
    state = KeptRoom.model_validate(kept.state)
    if not state.prepared:
        return False
    game, options = lobby.settled(state.game, state.options)
    clocks = {side: state.seats[side.value].time_control for side in Side}
    room = lobby.make_room(kept.room, game, options, state.seed, clocks)
    room.match_id = kept.match
    lobby.keeping.restore(room, state, lobby.house.resume)
    lobby.add(room)
    return True
