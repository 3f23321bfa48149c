"""The server as a whole: the journal, the lobby, the door; and how it stops.

Three nurseries, one inside the other: connections, matches, the door. Stopping is an explicit act: matches finish
within the grace period, while the door stays open for who plays in them, watches, or administers; then it closes, what
has not ended is broken off to go on at the next start, and everybody is told goodbye. Around them the claim on the
database is guarded: without it everything stops at once.
"""

from __future__ import annotations

import errno
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from secrets import randbelow
from typing import Any, TypeAlias

import structlog
import trio

from .connection import FAREWELL_SECONDS
from .descriptors import RESERVED, provide_descriptors
from .door import Door, DoorRules, Reception
from .garbage import collect_when_idle
from .house import House
from .journal import Claim, Journal, JournalError, claim_database, open_journal
from .lag import LoopLag
from .lobby import Lobby
from .names import Names
from .recovery import Remains, read_remains, recover
from .socha.gateway import Gateway, GatewayRules
from .socha.requests import GAME
from .socha.wrong_port import usual_tongue

log = structlog.get_logger()

SWEEP_SECONDS = 5.0
TICK_SECONDS = 0.025
"""How often the loop wakes while matches run, so that it notices soon when it is kept from running; see ``lag``."""
SUSPEND_SECONDS = 10.0
"""How long matches that were told to break off may take; what is not stored by then (the database is lost) was not
announced either.
"""
MINIMAL_CONNECTIONS = 16
"""So many clients are let in however few files there are; the door survives that there are none left."""
HIGHEST_PORT = 65535
FOR_GATEWAY = " for clients of the Software-Challenge (--socha-port, socha.port, TRIARENA_SOCHA__PORT)"
"""Which port is meant if it can't be listened on, and what sets it."""


class CannotListen(Exception):
    """The address can't be listened on; ``str(error)`` says why and what to do."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a server needs to know."""

    host: str
    port: int
    """0: any free one."""
    database: str
    is_secret: Callable[[str], bool]
    """Whether a text is the administrator's secret; takes the same time whatever is wrong with it."""
    house: House
    door: DoorRules
    grace: float
    """Seconds that matches have to finish when the server is asked to stop."""
    gateway: GatewayRules | None = None
    """How clients of the Software-Challenge come in, if they may."""


Addresses: TypeAlias = Sequence[tuple[str, int]]
Ready: TypeAlias = Callable[[Addresses], None]


@dataclass(slots=True)
class Stay:
    """What the end of a server needs to know of it."""

    lobby: Lobby | None = None
    """Set once it has the matches that the database holds."""

    def told(self) -> dict[str, Any]:
        """For the last line of the log."""
        if self.lobby is None:
            return {"hint": "it had not begun; what its database holds is as it was"}
        kept = self.lobby.kept + self.lobby.running()
        return {"matches_kept": kept, **({"hint": "they go on at the next start"} if kept else {})}


@dataclass(slots=True)
class Listeners:
    """Where clients come in."""

    usual: Sequence[trio.SocketListener] = ()
    gateway: Sequence[trio.SocketListener] = ()
    """For clients of the Software-Challenge."""

    def close(self) -> None:
        """Take nobody any more. Never waits, so that a cancellation leaves none of them open."""
        for listener in (*self.usual, *self.gateway):
            listener.socket.close()


async def serve(
    plan: Plan,
    stop: trio.Event,
    ready: Ready,
    gateway: Ready = lambda addresses: None,
    everything: trio.CancelScope | None = None,
) -> None:
    """Serve until ``stop`` is set. ``ready`` is told the addresses once clients can connect; just before, ``gateway``
    those for clients of the Software-Challenge. Cancelling ``everything``, which nobody has entered yet, stops at once.

    Raises CannotListen, or JournalError if the database can't be opened, another server uses it, or it did not take
    the last records.
    """
    with everything or trio.CancelScope() as all_of_it:
        await _serve(plan, stop, ready, gateway, all_of_it)


async def _serve(plan: Plan, stop: trio.Event, ready: Ready, gateway: Ready, everything: trio.CancelScope) -> None:
    listeners, lag, stay = Listeners(), LoopLag(), Stay()
    claim: Claim | None = None
    journal: Journal | None = None
    lag.align(trio.current_time())
    trio.lowlevel.add_instrument(lag)
    try:
        # A port that is taken is told at once; but nobody is taken in who would wait for a slow or locked database.
        (await _listen_all(plan)).close()
        async with claim_database(plan.database) as claim, open_journal(plan.database) as journal:
            still_open = datetime.now(UTC) - timedelta(seconds=plan.house.idle)
            remains = await trio.to_thread.run_sync(read_remains, plan.database, still_open)
            listeners = await _listen_all(plan)
            async with trio.open_nursery() as guarded:
                guarded.start_soon(claim.guard, guarded.cancel_scope)
                guarded.start_soon(journal.guard, guarded.cancel_scope)
                scopes = everything, guarded.cancel_scope
                await _host(plan, stop, ready, gateway, listeners, lag, journal, remains, stay, scopes)
                guarded.cancel_scope.cancel()
    finally:
        trio.lowlevel.remove_instrument(lag)
        listeners.close()
        is_a_stop = _is_a_stop(sys.exception())
        if is_a_stop or stay.lobby is not None:
            log.info("stopped", **stay.told())
        failure = _failure(claim, journal)
        # Told also of a server that is stopped at once: that is when records are lost.
        if failure is not None and is_a_stop:
            raise failure


def _failure(claim: Claim | None, journal: Journal | None) -> JournalError | None:
    """What went wrong with the database, now that it is closed."""
    if claim is None or journal is None:
        return None
    return claim.failure or journal.replaced or journal.unflushed


def _is_a_stop(error: BaseException | None) -> bool:
    """Whether the server has ended as it was told to, be it at once."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(trio.Cancelled)[1] is None
    return error is None or isinstance(error, trio.Cancelled)


async def _host(
    plan: Plan,
    stop: trio.Event,
    ready: Ready,
    gateway: Ready,
    listeners: Listeners,
    lag: LoopLag,
    journal: Journal,
    remains: Remains,
    stay: Stay,
    scopes: Sequence[trio.CancelScope],
) -> None:
    """From the first client to the last. Who cancels one of the ``scopes`` stops everything at once."""
    async with trio.open_nursery() as connections:
        async with trio.open_nursery() as matches:
            lobby = Lobby(
                plan.house, journal, matches, Names(randbelow), plan.is_secret, partial(datetime.now, UTC), lag
            )
            lobby.all_ends = lambda: any(scope.cancel_called for scope in scopes)
            try:
                await recover(lobby, remains)
                stay.lobby = lobby
                await _open_house(plan, stop, ready, gateway, listeners, lag, lobby, connections)
                lobby.suspend_matches()
            finally:
                lobby.all_ends = lambda: True  # connections end after the matches, and must begin nothing among these
            matches.cancel_scope.deadline = trio.current_time() + SUSPEND_SECONDS
        for guest in list(lobby.guests.values()):
            guest.connection.close("server_stopping", "the server is stopping; try again later")
        connections.cancel_scope.deadline = trio.current_time() + FAREWELL_SECONDS + 1


async def _open_house(
    plan: Plan,
    stop: trio.Event,
    ready: Ready,
    gateway: Ready,
    listeners: Listeners,
    lag: LoopLag,
    lobby: Lobby,
    connections: trio.Nursery,
) -> None:
    """Let clients in until the server is to stop, and what runs then has had its time."""
    lobby.socha_ports = {GAME: _addresses(listeners.gateway)[0][1]} if listeners.gateway else {}
    usual = usual_tongue(lobby.socha_ports.get(GAME))
    entrance = Door(_affordable(plan.door), lobby.serve, connections, lag, lobby.serve_on_trial, usual)
    async with trio.open_nursery() as door:
        for listener in listeners.usual:
            door.start_soon(entrance.keep, listener)
        if plan.gateway is not None:
            way_in = Gateway(plan.gateway, lobby, _addresses(listeners.usual)[0][1])
            for listener in listeners.gateway:
                door.start_soon(entrance.keep, listener, Reception(way_in.tongue, way_in.serve))
        door.start_soon(_sweep, lobby)
        door.start_soon(collect_when_idle, lobby.running)
        door.start_soon(_tick, lobby)
        gateway(_addresses(listeners.gateway))
        ready(_addresses(listeners.usual))
        await stop.wait()
        log.info(
            "stopping",
            matches=lobby.running(),
            grace=plan.grace,
            hint="a second Ctrl-C or SIGTERM stops at once",
        )
        await _finish_matches(lobby, plan.grace)
        door.cancel_scope.cancel()


async def watch_signals(  # noqa: ASYNC114 - ASYNC113 is not asked of it
    stop: trio.Event,
    everything: trio.CancelScope,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """The first signal asks the server to stop, the second means it; more change nothing.

    Not itself inside of ``everything``: while the last records are saved, a signal must not find the system's own
    handlers, which end the process where it stands.
    """
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for number in signals:
            if stop.is_set():
                everything.cancel()
            log.info("signal", name=signal.Signals(number).name)
            stop.set()


async def _listen_all(plan: Plan) -> Listeners:
    listeners = Listeners(await _listen(plan.host, plan.port))
    if plan.gateway is not None:
        try:
            listeners.gateway = await _listen(plan.host, plan.gateway.port, FOR_GATEWAY)
        except CannotListen:
            listeners.close()
            raise
    return listeners


async def _listen(host: str, port: int, purpose: str = "") -> list[trio.SocketListener]:
    try:
        return await trio.open_tcp_listeners(port, host=host)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            why = "another program (another server?) uses it: stop that, or choose another port, 0 means any free one"
            if not purpose and port < HIGHEST_PORT:
                why += f" (--port {port + 1}, and for the commands that talk to it TRIARENA_PORT={port + 1})"
        elif error.errno == errno.EACCES:
            why = "this user may not use it: choose a port above 1023"
        elif isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            why = "this machine has no such address: 127.0.0.1 serves this machine, 0.0.0.0 all networks"
        else:
            why = error.strerror or str(error)
        raise CannotListen(f"cannot listen on {host}:{port}{purpose}: {why}") from None


def _addresses(listeners: Sequence[trio.SocketListener]) -> list[tuple[str, int]]:
    named = (listener.socket.getsockname()[:2] for listener in listeners)
    return [(str(host), int(port)) for host, port in named]


def _affordable(rules: DoorRules) -> DoorRules:
    """The rules with no more connections than the system has files for."""
    wanted = rules.bounds.connections + RESERVED
    files = provide_descriptors(wanted)
    if files is None or files >= wanted:
        return rules
    connections = max(MINIMAL_CONNECTIONS, files - RESERVED)
    log.warning(
        "few_files",
        why=f"the system lets this server open {files} files: limits.connections is {connections} instead of "
        f"{rules.bounds.connections}; raise its limit (ulimit -n {wanted}), or lower the setting",
    )
    return replace(rules, bounds=replace(rules.bounds, connections=connections))


async def _sweep(lobby: Lobby) -> None:
    while True:
        await trio.sleep(SWEEP_SECONDS)
        lobby.sweep()


async def _tick(lobby: Lobby) -> None:
    """Let the loop look at least so often as its looks are to tell when bytes came."""
    while True:  # noqa: ASYNC110 - nothing is waited for: to wake up is all there is to it
        await trio.sleep(TICK_SECONDS if lobby.running() else 1.0)


async def _finish_matches(lobby: Lobby, grace: float) -> None:
    """Let matches come to their end, for so long; what is paused comes to none, and is broken off at once."""
    lobby.drain()
    lobby.suspend_matches(only_paused=True)
    with trio.move_on_after(grace):
        await lobby.matches_ended()
