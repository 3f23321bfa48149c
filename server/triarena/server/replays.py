"""From the journal to a replay: the stored match as a value that needs no database."""

from __future__ import annotations

from triarena.protocol.replay import Replay

from .journal import StoredMatch


def replay_of(stored: StoredMatch) -> Replay:
    """The replay of a stored match, finished or not."""
    opened, ended = stored.opened, stored.ended
    return Replay.model_validate(
        {
            "software": str(opened.settings.get("server", "")),
            "match": opened.match,
            "room": opened.room,
            "game": opened.game,
            "rules_version": opened.rules_version,
            "options": opened.options,
            "seed": opened.seed,
            "time_control": opened.time_control,
            "red": opened.red,
            "blue": opened.blue,
            "started_at": opened.at.isoformat(),
            "ended_at": None if ended is None else ended.at.isoformat(),
            "plies": [
                {"ply": ply.ply, "side": ply.side, "move": ply.move, "text": ply.text, "used_ms": ply.used_ms}
                for ply in stored.plies
            ],
            "result": None if ended is None else ended.result,
        }
    )
