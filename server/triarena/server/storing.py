"""How a match waits for the database: what can't be written down is tried again, and meanwhile nobody's time runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import trio

from .absences import Absences
from .events import Cancelled, Event, Gone, Lost, Mailbox, Surrendered, Suspended
from .terms import Book, StorageLost


@dataclass(slots=True)
class Storing:
    """Of one match."""

    book: Book
    mailbox: Mailbox
    absences: Absences
    postponed: deque[Event] = field(default_factory=deque)
    """What happened while nothing could be stored, and is to be judged now."""

    async def keep(
        self,
        writing: Awaitable[None],
        heed: Callable[[Event], None],
        is_final: Callable[[Lost], bool],
        *,
        final: bool = False,
    ) -> Cancelled | Suspended | None:
        """Have something written down, however long it takes: None; or else what made an end of it, by an
        administrator's word or since the server stops.

        ``heed`` is told what happens meanwhile, but for what would end the match (``is_final`` says of a loss whether
        it would): that is judged afterwards. If it is the end that is written (``final``), no word of an administrator
        makes another.
        """
        began = trio.current_time()
        try:
            await writing
        except StorageLost:
            end = await self._insist(heed, is_final, (Suspended,) if final else (Cancelled, Suspended))
            self.absences.renew(trio.current_time())
            return end
        self.absences.postpone(trio.current_time() - began)
        return None

    async def _insist(
        self,
        heed: Callable[[Event], None],
        is_final: Callable[[Lost], bool],
        ends: tuple[type[Cancelled | Suspended], ...],
    ) -> Cancelled | Suspended | None:
        """Try until it is stored: None; or else what made an end of it, if that ``ends`` the attempt."""
        stored = False

        async def insist() -> None:
            nonlocal stored
            await self.book.insist()
            stored = True
            nursery.cancel_scope.cancel()

        end = next((event for event in self.postponed if isinstance(event, ends)), None)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(insist)
                while end is None:
                    event = await self.mailbox.get()
                    if isinstance(event, Cancelled | Suspended):
                        end = event if isinstance(event, ends) else None
                    elif isinstance(event, Surrendered | Gone) or (isinstance(event, Lost) and is_final(event)):
                        self._postpone(event)
                    else:
                        heed(event)  # who comes and goes is noted at once
                nursery.cancel_scope.cancel()
        finally:
            if not stored and not isinstance(end, Cancelled):  # the server stops, or is stopped at once
                self.book.leave()
        if stored and end is not None:
            self.postponed.appendleft(end)
        return None if stored else end

    def _postpone(self, event: Surrendered | Gone | Lost) -> None:
        """Nobody wins or loses what can't be stored: it is judged afterwards."""
        if (type(event), event.side) not in ((type(e), getattr(e, "side", None)) for e in self.postponed):
            self.postponed.append(event)  # each once: nobody may fill our memory
