"""From settings to what the server runs by."""

from __future__ import annotations

from triarena.protocol.values import PerMove

from .app import Plan
from .connection import Patience
from .lobby import House
from .secret import AdminSecret
from .settings import Settings


def plan(settings: Settings, secret: AdminSecret, software: str) -> Plan:
    """Everything a server needs to know, from its settings; ``software`` is its name and version."""
    server, clock, limits = settings.server, settings.clock, settings.limits
    control = PerMove(
        move_ms=clock.move_seconds * 1000,
        margin_ms=clock.margin_ms,
        hard_ms=clock.hard_seconds * 1000 if clock.strikes else None,
        strikes=clock.strikes,
    )
    house = House(
        software=software,
        clock=control,
        startup=clock.startup_seconds,
        rooms=limits.rooms,
        rooms_per_connection=limits.rooms_per_connection,
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
    )
    return Plan(
        host=server.host,
        port=server.port,
        database=server.database_url,
        is_secret=secret.matches,
        house=house,
        patience=patience,
        connections=limits.connections,
        grace=server.stop_grace_seconds,
    )
