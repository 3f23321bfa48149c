"""The version of the tables: what the migrations make is what the program expects, on both databases."""

import logging
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from triarena.server.journal import JournalError, database, list_matches, open_journal, read_match, schema
from triarena.server.journal.store import Store
from triarena.server.journal.tables import metadata

SCRIPTS = Path(schema.__file__).with_name("migrations")


def connect(url: str) -> sa.Connection:
    return database.engine(database.parse_url(url), "rwc").connect()


def set_revision(url: str, revision: str) -> None:
    with connect(url) as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})


def test_the_program_expects_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    assert ScriptDirectory.from_config(config).get_current_head() == schema.REVISION


def test_the_migrations_make_the_tables_that_the_program_uses(url: str) -> None:
    Store(url).open()
    with connect(url) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_a_journal_of_the_first_version_is_brought_up_to_date_with_its_matches(url: str) -> None:
    with connect(url) as connection:
        schema.migrate(connection, "test", target="0001")
        connection.exec_driver_sql(
            "INSERT INTO matches (id, room, game, rules_version, options, seed, time_control, red, blue, settings,"
            " opened_at, result, kind, winner, reason, ended_at) VALUES ('m1', 'r1', 'towerwars', 1,"
            """ '{"size": 8}', '18446744073709551615', '{"move_seconds": 2.0}', 'Ada', 'Blaise', '{"strikes": 0}',"""
            " '2031-05-04 12:30:15.123456', '{}', 'forfeit', 'red', 'timeout', '2031-05-04 12:31:00.000000')"
        )
        connection.exec_driver_sql(
            "INSERT INTO plies (match_id, ply, side, move, text, used_ms, played_at) VALUES ('m1', 0, 'red',"
            """ '{"type": "step"}', 'A1 A2', 1.5, '2031-05-04 12:30:16.000000')"""
        )
    Store(url).open()
    stored = read_match(url, "m1")
    assert stored.opened.seed == 2**64 - 1
    assert stored.opened.options == {"size": 8}
    assert [played.text for played in stored.plies] == ["A1 A2"]
    assert stored.ended is not None
    assert stored.ended.reason == "timeout"


async def test_a_journal_of_a_newer_program_is_refused_by_both_ends(url: str) -> None:
    async with open_journal(url):
        pass
    set_revision(url, "0999")
    with pytest.raises(JournalError, match=r"0999.*update triarena") as refused:
        async with open_journal(url):
            pass
    assert refused.value.code == "database_too_new"
    with pytest.raises(JournalError) as refused:
        list_matches(url)
    assert refused.value.code == "database_too_new"


def test_reading_does_not_bring_an_older_journal_up_to_date(url: str) -> None:
    Store(url).open()
    set_revision(url, "0000")
    for _ in range(2):
        with pytest.raises(JournalError, match=r"0000.*start the server") as refused:
            list_matches(url)
        assert refused.value.code == "database_too_old"


def test_a_migration_that_fails_leaves_the_database_as_it_was(url: str) -> None:
    with connect(url) as connection:
        connection.exec_driver_sql("CREATE TABLE plies (something TEXT)")
    with pytest.raises(JournalError, match=r"plies.*already exists") as refused:
        Store(url).open()
    assert refused.value.code == "cannot_open"
    with connect(url) as connection:
        assert set(sa.inspect(connection).get_table_names()) == {"plies"}


def test_migrating_leaves_logging_alone(url: str) -> None:
    before = (logging.root.level, list(logging.root.handlers), logging.getLogger("alembic").level)
    mine = logging.getLogger("somebody.elses")
    Store(url).open()
    assert (logging.root.level, list(logging.root.handlers), logging.getLogger("alembic").level) == before
    assert not mine.disabled
