"""The trio side of the journal: tasks queue their records, one thread saves all that is pending in one transaction.

::

    async with open_journal("sqlite:///journal.sqlite3") as journal:
        await journal.write(MatchOpened(...))      # returns when it is durable
"""

from __future__ import annotations

import math
import queue
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

import structlog
import trio

from triarena.server.journal.direct import DirectPlies
from triarena.server.journal.records import JournalError, MatchEnded, PlyPlayed, Record
from triarena.server.journal.store import Store, Verdict

BACKLOG = 1024
"""How many records may be pending; further writers wait for room. It also bounds a transaction."""
CLOSE_SECONDS = 30.0
"""How long the end of ``open_journal`` waits for a database that does not take what is pending; what fails is tried
again meanwhile.
"""
MOMENT = 2.0
"""So long of it in any case and in silence; then it is said, and a cancellation ends the wait."""
CLOSING_PAUSE = 0.5
"""Seconds between two attempts then."""
AT_ONCE = 8
"""Of so many matches the ends are settled in one turn of the loop."""
_ILLNESS = frozenset({"write_failed", "journal_failed", "database_in_use"})
_log = structlog.get_logger("triarena.journal")


class _Ticket:
    """A record on its way through the thread."""

    __slots__ = ("again", "done", "record", "verdict")

    def __init__(self, record: Record, again: bool) -> None:
        self.record = record
        self.again = again
        self.done = trio.Event()
        self.verdict: Verdict = None


class Journal:
    """The writing end of one database. Made by ``open_journal``; all methods belong to trio's thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._token = trio.lowlevel.current_trio_token()
        self._room = trio.Semaphore(BACKLOG)
        self._gathered: list[_Ticket] = []
        """What was written in this turn of the loop."""
        self._direct: DirectPlies | None = None
        self._pending: queue.SimpleQueue[_Ticket | None] = queue.SimpleQueue()
        self._handed = 0
        """How many records the thread has been given and has not given back."""
        self._ends: deque[tuple[_Ticket, Verdict]] = deque()
        """Ends of matches that came back from it and are not settled yet."""
        self._thread = threading.Thread(target=self._run, name="triarena-journal", daemon=True)
        self._opened = trio.Event()
        self._stopped = trio.Event()
        self._left: list[_Ticket] = []
        """What is to be tried again at the end."""
        self._closed = False
        self._given_up = threading.Event()
        """Nobody waits for the thread any more."""
        self._startup_error: Exception | None = None
        self._failure: JournalError | None = None
        self._latest_failure: JournalError | None = None
        """What went wrong with the latest attempt that is to be made again."""
        self._unsaved: JournalError | None = None
        """Why, at the end, a record could not be saved."""
        self.replaced: JournalError | None = None
        """That another server writes to the database, and this one can't any more."""
        self._replaced = trio.Event()
        self.unflushed: JournalError | None = None
        """At the end: that what was pending could not be saved."""

    async def guard(self, scope: trio.CancelScope) -> None:
        """Cancel ``scope`` once another server has opened the database: ``replaced`` says so."""
        await self._replaced.wait()
        scope.cancel()

    @property
    def healthy(self) -> bool:
        """Whether the database took what it was last given. A refused record (``duplicate_ply`` ...) is no illness."""
        return self._failure is None

    @property
    def failure(self) -> JournalError | None:
        """Why the journal is not healthy, None if it is."""
        return self._failure

    async def write(self, record: Record, *, again: bool = False, patience: float = math.inf) -> None:
        """Returns when the record is committed; records are saved in the order of the calls.

        ``again``: it was given before, and nobody knows what became of it. Found as it is, it counts as written.

        Raises JournalError, whose docstring lists the codes of writing, and trio.TooSlowError if that takes more than
        ``patience`` seconds. Cancelled, or given up, while it waits for room, the record is not written; later, it is
        saved all the same, only nobody hears of it.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        try:
            self._room.acquire_nowait()
        except trio.WouldBlock:
            with trio.fail_after(patience):
                await self._room.acquire()
        if self._closed:
            self._room.release()
            message = f"The journal in {self._store.place} is closed; nothing more can be written."
            raise JournalError("journal_closed", message)
        ticket = _Ticket(record, again)
        self._gathered.append(ticket)
        if self._direct is not None:
            await trio.lowlevel.cancel_shielded_checkpoint()  # others may have something to write in this turn, too
        if not ticket.done.is_set():  # else what waits now came in this turn, and may have more company
            self._save_gathered()
        if not ticket.done.is_set():
            with trio.fail_after(patience):
                await ticket.done.wait()
        if (verdict := ticket.verdict) is not None:
            raise JournalError(verdict.code, verdict.message)  # a fresh one: a batch may share its verdict

    def _save_gathered(self) -> None:
        """Save what was written in this turn of the loop, or hand it to the thread."""
        batch, self._gathered = self._gathered, []
        if batch and not self._save_directly(batch):
            self._hand_over(batch)

    def _save_directly(self, batch: Sequence[_Ticket]) -> bool:
        if self._direct is None or self._handed or self._failure is not None:
            return False
        plies = [t.record for t in batch if isinstance(t.record, PlyPlayed) and not t.again]
        if len(plies) < len(batch):
            return False
        saved = self._direct.save(plies)
        if saved:
            for ticket in batch:
                self._settle(ticket, None)
        elif saved is None:
            for ticket in batch:
                ticket.again = True
        return bool(saved)

    def _hand_over(self, batch: Sequence[_Ticket]) -> None:
        self._handed += len(batch)
        for ticket in batch:
            self._pending.put(ticket)

    def leave(self, record: Record) -> None:
        """Have a record saved at the end, and don't wait for it: it was given before, in vain as it seemed, and whoever
        would give it again has no more time. Does nothing once the journal is closed.
        """
        if not self._closed:
            self._left.append(_Ticket(record, again=True))

    async def _open(self) -> None:
        """Starts the thread. Raises what ``Store.open`` raised in it."""
        self._thread.start()
        # Short, and an open database must not be left behind. The drivers have deadlines of their own.
        with trio.CancelScope(shield=True):
            await self._opened.wait()
        if self._startup_error is not None:
            raise self._startup_error
        self._direct = DirectPlies(self._store)

    async def _close(self) -> None:
        """Lets the thread save what is pending and stop. Sets ``unflushed`` if it can't."""
        self._closed = True
        self._save_gathered()
        for _ in self._left:
            with suppress(trio.WouldBlock):  # a few too many do no harm any more
                self._room.acquire_nowait()
        self._hand_over(self._left)
        self._pending.put(None)
        began = trio.current_time()
        try:
            with trio.move_on_after(min(MOMENT, CLOSE_SECONDS), shield=True):
                await self._stopped.wait()
            if not self._stopped.is_set() and trio.current_effective_deadline() > began:
                _log.warning(
                    "journal_waits",
                    why=f"{self._store.place} has not taken the last records yet",
                    records=BACKLOG - self._room.value,
                    at_most_seconds=CLOSE_SECONDS,
                    hint="a second Ctrl-C or SIGTERM stops without them",
                )
                with trio.move_on_at(began + CLOSE_SECONDS):
                    await self._stopped.wait()
        finally:
            self._given_up.set()
            if not self._stopped.is_set() or self._unsaved or self._failure or self._store.lost:
                self._give_up(round(trio.current_time() - began, 1))

    def _give_up(self, waited: float) -> None:
        """What is pending will not be saved."""
        place = self._store.place
        failure = self._unsaved or self._failure or self._latest_failure
        why = self._store.lost or ("it does not answer" if failure is None else failure.cause)
        if self._store.lost or self._store.log_deleted:
            _log.error("journal_log_lost", database=place, why=why)
            message = (
                f"Somebody has deleted or replaced the -wal or -shm file of the journal {place}, and the server has "
                f"stopped before what was in it could be saved ({why}). What was announced shortly before may be "
                "missing. End what has the database open before you start the server again: its end may save that, and "
                "a server that was started earlier would lose more."
            )
        else:
            _log.error("journal_not_flushed", database=place, waited_seconds=waited)
            is_full = "is full" in why or "No space left" in why
            advice = "Make room there" if is_full else "See what locks the database, or keeps it from answering,"
            message = (
                f"The journal in {place} did not take the last records within {waited:g} s, and the server has stopped "
                f"without them ({why}); what was announced is there. {advice} before you start the server again."
            )
        self.unflushed = JournalError("journal_not_flushed", message)

    def _run(self) -> None:
        """The thread, from the opening of the database to its closing."""
        try:
            self._store.open()
        except Exception as error:  # raised again by _open, where somebody waits for it
            self._startup_error = error
            self._tell(self._opened.set)
            return
        self._tell(self._opened.set)
        try:
            while batch := self._next_batch():
                self._tell(self._give_back, batch, self._insist(batch))
            self._store.close()
        finally:
            self._tell(self._stopped.set)

    def _next_batch(self) -> list[_Ticket]:
        """Waits for a record and takes all that are pending with it; empty when the journal is closed and done."""
        batch: list[_Ticket] = []
        ticket = self._pending.get()
        while ticket is not None:
            batch.append(ticket)
            try:
                ticket = self._pending.get_nowait()
            except queue.Empty:
                return batch
        if batch:
            self._pending.put(None)  # met while records were in hand: to be met again after them
        return batch

    def _insist(self, batch: Sequence[_Ticket]) -> list[Verdict]:
        """Saves a batch. At the end of the journal nobody gives a record again that could not be saved: it is tried
        again here, as long as that is waited for.
        """
        verdicts = self._save(batch)
        while self._closed and (failed := [index for index, verdict in enumerate(verdicts) if _may_pass(verdict)]):
            self._latest_failure = verdicts[failed[0]]
            if self._given_up.wait(CLOSING_PAUSE):
                break
            for index in failed:
                batch[index].again = True
            anew = self._save([batch[index] for index in failed])
            for index, verdict in zip(failed, anew, strict=True):
                verdicts[index] = verdict
        return verdicts

    def _save(self, batch: Sequence[_Ticket]) -> list[Verdict]:
        try:
            again = {index for index, ticket in enumerate(batch) if ticket.again}
            return self._store.save([ticket.record for ticket in batch], again)
        except Exception as error:  # a bug of ours must not leave the referees waiting for ever
            message = f"The journal failed in a way that was not foreseen ({error!r}); please report it."
            return [JournalError("journal_failed", message)] * len(batch)

    def _give_back(self, batch: Sequence[_Ticket], verdicts: Sequence[Verdict]) -> None:
        """Back in trio's thread, after the other has saved a batch."""
        if self._closed:
            self._unsaved = next(filter(_is_illness, verdicts), self._unsaved)
        self._note_health(verdicts[-1])
        self._handed -= len(batch)
        settles_already = bool(self._ends)
        for ticket, verdict in zip(batch, verdicts, strict=True):
            if isinstance(ticket.record, MatchEnded):
                self._ends.append((ticket, verdict))
            else:
                self._settle(ticket, verdict)
        if self._closed or not settles_already:
            self._settle_ends()

    def _settle_ends(self) -> None:
        """A few of them, and the next ones in the loop's next turn: what follows an end (all are told, the room is
        cleared) takes long enough to keep everybody waiting if fifty did it in one.
        """
        for _ in range(len(self._ends) if self._closed else min(AT_ONCE, len(self._ends))):
            self._settle(*self._ends.popleft())
        if self._ends:
            self._tell(self._settle_ends)

    def _settle(self, ticket: _Ticket, verdict: Verdict) -> None:
        """Wake who waits for a record."""
        ticket.verdict = verdict
        ticket.done.set()
        self._room.release()

    def _note_health(self, latest: Verdict) -> None:
        if latest is not None and latest.code == "database_in_use" and self.replaced is None:
            self.replaced = latest
            self._replaced.set()
        failure = latest if _is_illness(latest) else None
        if failure is not None and self._failure is None and not self._closed:
            _log.error("journal_lost", code=failure.code, detail=failure.message)
        elif failure is None and self._failure is not None:
            _log.info("journal_recovered", database=self._store.place)
        self._failure = failure

    def _tell(self, call: Callable[..., object], *arguments: object) -> None:
        """Has trio's thread call something soon."""
        with suppress(trio.RunFinishedError):  # nobody is left to hear it, but the records are still to be saved
            self._token.run_sync_soon(call, *arguments)


@asynccontextmanager
async def open_journal(url: str) -> AsyncIterator[Journal]:
    """The journal in the database at ``url``, created or brought up to date; at the end all that is pending is saved,
    or ``unflushed`` says why it could not be.

    Raises JournalError ``bad_url``, ``driver_missing``, ``cannot_open`` or ``database_too_new``.
    """
    journal = Journal(Store(url))
    await journal._open()
    try:
        yield journal
    finally:
        await journal._close()  # noqa: ASYNC102 - shielded for a moment; what ends the rest is a signal that means it


def _is_illness(verdict: Verdict) -> bool:
    return verdict is not None and verdict.code in _ILLNESS


def _may_pass(verdict: Verdict) -> bool:
    """Whether another attempt may succeed: not after a bug of ours, or once another server writes."""
    return verdict is not None and verdict.code == "write_failed"
