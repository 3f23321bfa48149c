"""The server's settings: what there is, within which bounds, and its default. One frozen value, made once at start.

``settings_sources`` reads them from a file, the environment and the command line; ``settings_text`` explains them.
Every field has a default and a ``description`` that the organiser sees, so both are written for a person.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import quote

from platformdirs import user_data_dir
from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from triarena.protocol.frames import TO_CLIENT


def _path(value: object) -> Path:
    """Texts become paths, with ``~`` for the home folder; an empty one names nothing."""
    if isinstance(value, str) and value and "\0" not in value:
        return Path(value).expanduser()
    if isinstance(value, Path):
        return value
    raise ValueError("names no file")


Seconds: TypeAlias = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
SecondsOrNone: TypeAlias = Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)]
"""Zero switches the waiting off."""
FilePath: TypeAlias = Annotated[Path, PlainValidator(_path)]


class Section(BaseModel):
    """A table of the settings file: strict, closed and frozen."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class ServerSettings(Section):
    """Where the server listens, keeps its data and logs."""

    host: str = Field("127.0.0.1", min_length=1, description="Address to listen on; 0.0.0.0 or :: opens it to all.")
    port: int = Field(13055, ge=0, le=65_535, description="TCP port; 0 takes any free one.")
    port_file: FilePath | None = Field(
        None, examples=["triarena.port"], description="File that receives the port once the server listens."
    )
    data_dir: FilePath = Field(
        default_factory=lambda: Path(user_data_dir("triarena", appauthor=False)),
        description="Folder for the journal and the administrator's secret.",
    )
    tls_certificate: FilePath | None = Field(
        None,
        examples=["server.pem"],
        description="File with the server's certificate (PEM, with those of its issuers): clients must then use TLS.",
    )
    tls_key: FilePath | None = Field(
        None,
        examples=["server.key"],
        description="File with the private key of tls_certificate (PEM, no password), unless that file holds it, too.",
    )
    database: str | None = Field(
        None,
        min_length=1,
        repr=False,
        examples=["postgresql://user:password@localhost/triarena"],
        description="Where matches are stored: sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME. "
        "Default: journal.sqlite3 in data_dir.",
    )
    log_format: Literal["auto", "console", "json"] = Field(
        "auto", description="console for people, json for machines; auto is console on a terminal, else json."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least important lines that are logged; debug tells every move."
    )
    stop_grace_seconds: SecondsOrNone = Field(
        10.0, description="How long running matches may go on after the server was asked to stop."
    )

    @property
    def database_url(self) -> str:
        """The URL of the journal's database: ``database``, or the file in ``data_dir``."""
        if self.database is not None:
            return self.database
        path = (self.data_dir / "journal.sqlite3").absolute()
        return "sqlite:///" + quote(path.as_posix(), safe="/:")


class ClockSettings(Section):
    """The time control of matches that ask for no other: a fixed time for each move, or a budget for the match."""

    move_seconds: Seconds = Field(
        2.0,
        description="Time for one move. Who is cut off in its own turn has no more than this to come back, however "
        "long rooms.grace_seconds is: choose both together.",
    )
    budget_seconds: SecondsOrNone = Field(
        0.0, description="Time for all moves of a side, instead of move_seconds for each; 0: a time for each move."
    )
    increment_seconds: SecondsOrNone = Field(0.0, description="What every move adds to the budget.")
    margin_ms: int = Field(50, ge=0, le=60_000, description="Granted beyond the limit of a move, for the network.")
    strikes: int = Field(
        0, ge=0, le=1000, description="How many overruns a side is forgiven in a match before it loses on time."
    )
    hard_seconds: Seconds = Field(
        10.0, description="How long an overrun is waited for while strikes are left; at least move_seconds."
    )
    startup_seconds: Seconds = Field(
        30.0, description="Time to get ready at the start of a match, e.g. to load a model; not on the clock."
    )


class LimitSettings(Section):
    """What one client, one room and the whole server may use."""

    connections: int = Field(1000, ge=1, le=100_000, description="Open connections; more are refused.")
    connections_per_address: int = Field(
        250,
        ge=1,
        le=100_000,
        description="Open connections from one address (IPv6: from one /64 network). A class behind one router, a "
        "tournament on one machine, and everybody behind a proxy are one address.",
    )
    newcomers: int = Field(
        100,
        ge=1,
        le=100_000,
        description="Open connections that have not said hello. When there are more, the address that has most of them "
        "loses its oldest.",
    )
    greeting_seconds: Seconds = Field(5.0, description="A client that has not said hello by then is closed.")
    write_seconds: Seconds = Field(
        5.0, description="A client that does not read what it was sent for so long is closed."
    )
    heartbeat_seconds: Seconds = Field(
        15.0, description="A connection that is silent for so long is pinged; silent for as long again, it is gone."
    )
    bad_frames: int = Field(
        3, ge=1, le=1000, description="Frames that are no known message before the connection is closed."
    )
    messages_per_second: int = Field(
        1000,
        ge=10,
        le=1_000_000,
        description="Messages from one client, in the long run; a request counts as 5, a move that was asked for not "
        "at all. A faster client is told, and read more slowly.",
    )
    bytes_per_second: int = Field(
        1_048_576, ge=16_384, le=1_073_741_824, description="Bytes from one client, in the long run; likewise."
    )
    flood_seconds: Seconds = Field(
        10.0, description="A client that goes on sending too fast for so long without a pause is closed."
    )
    queue_bytes: int = Field(
        4_194_304,
        ge=2 * TO_CLIENT,
        le=1_073_741_824,
        description="Bytes that may wait to be taken by one client; at least as much as two of the longest messages.",
    )
    observer_queue: int = Field(
        64,
        ge=2,
        le=10_000,
        description="Messages that may wait for one observer; it then gets a fresh position instead.",
    )
    observers_per_room: int = Field(100, ge=0, le=10_000, description="Observers of one room; 0 allows none.")
    observed_rooms_per_connection: int = Field(
        64, ge=0, le=10_000, description="Rooms that one client may watch at once."
    )
    rooms: int = Field(500, ge=1, le=100_000, description="Rooms at the same time.")
    prepared_rooms: int = Field(
        400, ge=0, le=100_000, description="Rooms among them that administrators prepared and whose match is not over."
    )
    enrolled_players: int = Field(
        1000, ge=0, le=100_000, description="Players of tournaments whose names belong to them at the same time."
    )
    rooms_per_address: int = Field(
        100,
        ge=1,
        le=100_000,
        description="Rooms that were opened by joining from one address (see connections_per_address) and whose match "
        "is not over.",
    )
    rooms_per_connection: int = Field(16, ge=1, le=100_000, description="Rooms that one client may play in at once.")


class RoomSettings(Section):
    """How long rooms and reservations wait for players."""

    idle_seconds: Seconds = Field(
        600.0, description="A room that is over, or a prepared one in which nobody sits, is closed after so long."
    )
    reservation_seconds: Seconds = Field(
        3600.0, description="How long a reservation code stays valid if it is not used."
    )
    grace_seconds: SecondsOrNone = Field(
        30.0,
        description="How long the seat of a lost connection is kept during a match, while its clock runs; 0 makes "
        "a loss final.",
    )
    resume_seconds: Seconds = Field(
        120.0, description="How long players may come back to their matches after the server was started again."
    )


class BotSettings(Section):
    """Names that belong to a bot, which proves it by a token."""

    tokens: FilePath | None = Field(
        None,
        examples=["bots.toml"],
        description="File with a line for each such bot, as printed by: triarena token NAME. Read at the start.",
    )
    required: bool = Field(
        False, description="Whether only these bots, and holders of reservations, may play; anybody may watch."
    )


class SochaSettings(Section):
    """A second port for clients of the Software-Challenge 2024, which speak XML and play Mississippi Queen."""

    enabled: bool = Field(False, description="Whether there is such a port. It has no TLS: these clients know none.")
    port: int = Field(13050, ge=0, le=65_535, description="TCP port, on server.host; 0 takes any free one.")
    rules: Literal["server-24.2.5", "seed"] = Field(
        "server-24.2.5", description="Rules of the rooms that these clients open; they expect server-24.2.5."
    )
    password: str | None = Field(
        None,
        min_length=1,
        max_length=128,
        repr=False,
        examples=["examplepassword"],
        description="Makes such a client an administrator, like the server's own secret. It travels unencrypted.",
    )


class Settings(Section):
    """All settings."""

    server: ServerSettings = Field(default_factory=ServerSettings)
    clock: ClockSettings = Field(default_factory=ClockSettings)
    limits: LimitSettings = Field(default_factory=LimitSettings)
    rooms: RoomSettings = Field(default_factory=RoomSettings)
    bots: BotSettings = Field(default_factory=BotSettings)
    socha: SochaSettings = Field(default_factory=SochaSettings)


SECTIONS: dict[str, type[Section]] = {name: type(section) for name, section in Settings()}
"""The sections by name, in the order of the file."""


def contradictions(settings: Settings) -> list[str]:
    """Sentences about settings that are allowed alone but not together; empty if there are none."""
    found = []
    clock = settings.clock
    if clock.strikes and clock.hard_seconds < clock.move_seconds:
        found.append(
            f"clock.hard_seconds ({clock.hard_seconds:g}) must be at least clock.move_seconds "
            f"({clock.move_seconds:g}) where strikes are allowed; set both."
        )
    if clock.strikes and clock.budget_seconds:
        found.append("clock.strikes are for a time for each move; set clock.strikes or clock.budget_seconds to 0.")
    if clock.increment_seconds and not clock.budget_seconds:
        found.append("clock.increment_seconds adds to a budget; set clock.budget_seconds, too, or neither.")
    if settings.socha.enabled and settings.socha.port == settings.server.port != 0:
        found.append(f"socha.port and server.port are both {settings.server.port}; set one of them to another port.")
    if settings.server.tls_key is not None and settings.server.tls_certificate is None:
        found.append("server.tls_key is for TLS, which takes a server.tls_certificate; set both, or none.")
    if settings.limits.rooms_per_connection > settings.limits.rooms:
        found.append(
            f"limits.rooms_per_connection ({settings.limits.rooms_per_connection}) must be at most limits.rooms "
            f"({settings.limits.rooms}); set both."
        )
    return found
