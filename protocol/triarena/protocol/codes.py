"""Every stable code with its meaning: why matches end, what is wrong with a frame, why something is refused.

The codes of broken rules are the games' own.
"""

from __future__ import annotations

from typing import Final

from .values import AbortReason, ForfeitReason

FORFEITS: Final[dict[ForfeitReason, str]] = {
    "illegal_move": "The move breaks the rules, or is no move of this game. `detail` has `ply`, `move` and the `code` "
    "of the broken rule.",
    "timeout": "The move came too late, or not at all. `detail` has `limit_ms`, `used_ms` and `overrun_ms`.",
    "disconnected": "The connection was lost or closed during the match, and the seat was not taken back with `rejoin` "
    "before the grace period or the clock ran out.",
    "stalled": "The connection stood, but the client did not answer a `ping`, or did not read what it was sent; and it "
    "did not come back in time.",
    "protocol_violation": "The client said in this room what may not be said there then, or the connection was closed "
    "for bad frames.",
    "left": "The client said `leave` during the match.",
    "surrender": "The client said `surrender`.",
    "no_show": "The client did not answer `match_started` with `ready` within the start-up time.",
}
"""Why one side (or both at once: then nobody wins) lost by the referee."""

ABORTS: Final[dict[AbortReason, str]] = {
    "cancelled": "An administrator broke the match off; or the room was closed before a match began in it, and "
    "`detail.code` says why: `server_stopping`, or `empty_room` (nobody was left).",
    "ply_limit": "The game could go on for ever, and the announced number of plies has been played.",
    "not_resumed": "The server went down during the match, and after its restart not everybody came back in time.",
    "storage_lost": "The match could not be stored any more. Only in matches of older servers: now such a match waits.",
    "internal_error": "The server made an error; nobody is to blame.",
}
"""Why a match ended without a winner and without a loser."""

FATAL_FAULTS: Final[dict[str, str]] = {
    "frame_too_large": "The announced length is above the limit. Said as soon as the 4 bytes have come.",
    "greeting_first": "Something else than `hello` came before the greeting was over.",
    "truncated": "The stream ended inside a frame. (Nobody is left to be told; it stands in the server's log.)",
}
"""After these the stream can't be trusted: the connection is closed with this code."""

FAULTS: Final[dict[str, str]] = {
    "not_msgpack": "The payload is not exactly one msgpack value: cut short, with bytes behind it, or no msgpack.",
    "not_a_map": "The payload is msgpack, but no map.",
    "unknown_type": "The map has no `type`, or one that the protocol does not have. The sentence lists "
    "those there are.",
    "invalid_message": "A field is missing or has a wrong type or value. The sentence names the first such field.",
    "not_now": "A message of the protocol, but it may not be sent now: see the tables of who may speak when. Said as "
    "a player of a running match, it is a `protocol_violation` and costs the match.",
}
"""Answered by `error`; too many of them (`limits.bad_frames`) close the connection. Before the greeting is over
they close it at once."""

LATE: Final[dict[str, str]] = {
    "late_move": "The move is for a turn that has passed: it crossed the end of that turn on the wire.",
    "no_seat": "The message crossed the end of the match on the wire.",
}
"""Nobody's fault, and without consequence: told by `notice`."""

WARNINGS: Final[dict[str, str]] = {
    "slow_down": "You send more messages or bytes a second than the server takes from one client. It reads on, but "
    "more slowly, so that you are answered late; if you go on like this you are closed with `too_fast`. A move that "
    "was asked for does not count.",
    "other_options": "A client of the Software-Challenge waits in another room of this game, which has other options. "
    "The sentence says which: who joins with these meets it.",
    "storage_lost": "The server's database can't be written. The match in this room waits; nobody's clock runs, and "
    "what was sent but not answered is not lost. Wait.",
    "storage_back": "The database is back, and the match goes on.",
}
"""Told by `notice`: nothing is refused yet."""

REFUSALS: Final[dict[str, str]] = {
    "already_in_room": "This connection sits in that room, or watches it, or has done so until the match was over.",
    "bad_option": "The game has no such option, or not with this value. The sentence says what there is.",
    "bad_time_control": "A room was to be prepared with two clocks at once. The sentence says what goes together.",
    "match_over": "The match has ended.",
    "match_running": "The match has begun; its seats are taken for good.",
    "name_taken": "Names are unique within a room. Of `enrol`: on this server the name belongs to somebody else.",
    "no_seat": "You have no seat in that room.",
    "not_administrator": "Only an administrator may do this.",
    "not_enrolled": "Nobody has enrolled that player, or not yet: the organiser's program may be about to. A bot "
    "stays connected, and enlists again every few seconds.",
    "not_paused": "`step` is for paused rooms.",
    "not_started": "The room still waits for players.",
    "not_waiting": "That player is not enlisted, or is busy with another match.",
    "reservation_expired": "The code was not used in time.",
    "reservation_used": "The code was used, and its player is still connected, or has left the match.",
    "room_full": "Both seats are taken.",
    "seat_reserved": "The open seats want a code.",
    "server_stopping": "The server is about to stop.",
    "storage_lost": "What was asked for must outlive the server, and could not be stored. So it was not done; "
    "try again later.",
    "throttled": "Too many wrong secrets or tokens; the sentence says how long to wait.",
    "token_required": "On this server only bots with a token of their own, and holders of reservations, may play. "
    "To `enlist` takes a name and its token on every server.",
    "too_many_observers": "The room is full of observers.",
    "too_many_players": "As many players are enrolled as may be.",
    "too_many_rooms": "You have, or the server has, as many rooms as it may.",
    "unknown_connection": "There is no such connection.",
    "unknown_game": "There is no such game. The sentence lists those there are.",
    "unknown_reservation": "There is no such code.",
    "unknown_room": "There is no such room.",
    "unknown_token": "No seat belongs to this token: its match is long over, or had not begun.",
    "wrong_secret": "That is not the administrator's secret.",
    "wrong_token": "The name that wants to `enlist` has another token than the one in `hello`.",
}
"""Why a request (or a word in a room) was answered by `error`."""

FAREWELLS: Final[dict[str, str]] = {
    "address_full": "As many connections come from this address as one may have.",
    "dismissed": "The tournament is over for this player: the sentence is the organiser's. Do not come back.",
    "displaced": "Somebody took the seat over another connection, with its token; or enlisted over another one, under "
    "the same name.",
    "greeting_timeout": "No `hello` came in time.",
    "internal_error": "The server made an error; nobody is to blame.",
    "kicked": "An administrator closed the connection.",
    "protocol_version": "The server speaks another version of the protocol. The sentence says who is to be updated.",
    "server_busy": "Too many clients have connected and not said `hello` yet, most of them from this address.",
    "server_full": "The server has as many connections as it may.",
    "server_stopping": "The server stops.",
    "stalled": "More bytes waited for the client than may, since it did not read. A seat may be taken back.",
    "throttled": "Too many wrong tokens for this name came from this address; the sentence says how long to wait.",
    "tls_required": "This port speaks TLS, and the client began without it. Sent in plain, as the only words.",
    "too_fast": "Messages came faster than the server takes them from one client, or than a match can.",
    "too_many_bad_frames": "`limits.bad_frames` was reached.",
    "wrong_port": "The port is the one for clients of the Software-Challenge, and the sentence names ours. Sent in a "
    "frame all the same, as the only words.",
    "wrong_token": "The name in `hello` belongs to a bot with a token, and this is not its token, or not any more.",
    "xml": "The client began with XML: it has the wrong port. Said in XML, with the right one.",
}
"""Why the server hung up, in `goodbye` or `refused`; the codes of faults may stand there too."""
