"""From settings to what the server runs by."""

from __future__ import annotations

from triarena.protocol.values import Budget, PerMove

from .admission import Bounds
from .app import Plan
from .bots import BotTokens, load_bot_tokens
from .door import DoorRules
from .handler import Patience
from .house import House
from .rate import Pace
from .secret import Vault
from .settings import ClockSettings, Settings
from .socha.gateway import GatewayRules
from .tls import server_context

TRIALS = 8
"""How many connections more than may be are let in at a time, to show that they are administrators."""


def plan(settings: Settings, vault: Vault, software: str) -> Plan:
    """Everything a server needs to know, from its settings; ``software`` is its name and version.

    Raises SettingsError for files that can't be used: certificates, the bots' tokens.
    """
    bots = settings.bots
    digests = load_bot_tokens(bots.tokens) if bots.tokens is not None else {}
    certificate = settings.server.tls_certificate
    tls = server_context(certificate, settings.server.tls_key) if certificate is not None else None
    server, clock, limits = settings.server, settings.clock, settings.limits
    house = House(
        software=software,
        clock=time_control(clock),
        startup=clock.startup_seconds,
        rooms=limits.rooms,
        rooms_per_address=limits.rooms_per_address,
        rooms_per_connection=limits.rooms_per_connection,
        observed_rooms_per_connection=limits.observed_rooms_per_connection,
        prepared_rooms=limits.prepared_rooms,
        enrolled_players=limits.enrolled_players,
        guessable_secret=vault.secret.guessable,
        bots=BotTokens(digests, bots.required),
        observers_per_room=limits.observers_per_room,
        observer_queue=limits.observer_queue,
        bad_frames=limits.bad_frames,
        greeting=limits.greeting_seconds,
        heartbeat=limits.heartbeat_seconds,
        idle=settings.rooms.idle_seconds,
        reservation=settings.rooms.reservation_seconds,
        grace=settings.rooms.grace_seconds,
        resume=settings.rooms.resume_seconds,
    )
    patience = Patience(
        greeting=limits.greeting_seconds,
        write=limits.write_seconds,
        heartbeat=limits.heartbeat_seconds,
        bad_frames=limits.bad_frames,
        queue_bytes=limits.queue_bytes,
        pace=Pace(limits.messages_per_second, limits.bytes_per_second, limits.flood_seconds),
    )
    socha = settings.socha
    gateway = GatewayRules(socha.port, socha.rules, socha.password) if socha.enabled else None
    bounds = Bounds(limits.connections, limits.connections_per_address, limits.newcomers, TRIALS)
    return Plan(
        host=server.host,
        port=server.port,
        database=server.database_url,
        is_secret=vault.matches,
        house=house,
        door=DoorRules(bounds, patience, tls),
        grace=server.stop_grace_seconds,
        gateway=gateway,
    )


def time_control(clock: ClockSettings) -> PerMove | Budget:
    """By which clock matches are played that ask for no other."""
    if clock.budget_seconds:
        budget_ms, increment_ms = clock.budget_seconds * 1000, clock.increment_seconds * 1000
        return Budget(budget_ms=budget_ms, increment_ms=increment_ms, margin_ms=clock.margin_ms)
    return PerMove(
        move_ms=clock.move_seconds * 1000,
        margin_ms=clock.margin_ms,
        hard_ms=clock.hard_seconds * 1000 if clock.strikes else None,
        strikes=clock.strikes,
    )
