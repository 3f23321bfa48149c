"""The journal: the durable record of every match, written ply by ply; replays and recovery read it.

========================  =====================================================================
``records``               what is stored, as frozen values, and the one error: ``JournalError``
``writer``                ``open_journal``: the trio side, in front of one writer thread
``direct``                plies for SQLite past that thread, while it has nothing to do
``store``                 what the thread does: one transaction per batch, retries, refusals
``refusals``              why a record was not saved, in sentences
``sqlite_log``            SQLite's log: kept short by the thread, and rescued should somebody delete it
``reader``                ``list_matches`` and ``read_match`` for the command line; the others for recovery
``claim``                 ``claim_database``: one server per database
``fence``                 that who lost its claim unnoticed can write nothing more
``rows``                  records to rows and back
``tables``                the tables, and their column types
``database``              database URLs, engines, and driver errors told in a sentence
``schema``                the version of the tables: checked by readers, migrated by the writer
``migrations/``           alembic's scripts, one file per version of the tables
========================  =====================================================================

Durable means committed, and what was committed survives the death of the server process. A power cut is another
matter: SQLite runs in WAL mode, where a transaction that holds the end of a match, or what is kept of a room, waits for
the disk (``synchronous=FULL``) and takes along all that was committed before it; one with nothing but plies does not
(``NORMAL``), so the last moments of a match that goes on may be lost, but never the integrity of the file.
PostgreSQL's durability is what its own configuration says.
"""

from triarena.server.journal.claim import Claim, claim_database
from triarena.server.journal.reader import ended_since, kept_rooms, list_matches, read_match
from triarena.server.journal.records import (
    EvidenceKept,
    JournalError,
    MatchEnded,
    MatchOpened,
    MatchSummary,
    PlyPlayed,
    Record,
    RoomForgotten,
    RoomKept,
    StoredMatch,
)
from triarena.server.journal.writer import Journal, open_journal

__all__ = [
    "Claim",
    "EvidenceKept",
    "Journal",
    "JournalError",
    "MatchEnded",
    "MatchOpened",
    "MatchSummary",
    "PlyPlayed",
    "Record",
    "RoomForgotten",
    "RoomKept",
    "StoredMatch",
    "claim_database",
    "ended_since",
    "kept_rooms",
    "list_matches",
    "open_journal",
    "read_match",
]
