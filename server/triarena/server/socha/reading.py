"""A stream of XML as the elements below its root, each as soon as it is complete; locked down and bounded.

The standard library's expat does the reading, one piece at a time. What a message never needs is refused: document
types (and with them entities and all that can be loaded or blown up), depth, size. Texts, comments and processing
instructions are skipped; attributes are kept whatever they are called.
"""

from __future__ import annotations

import weakref
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

MESSAGE_BYTES: Final = 16 * 1024
"""The most that one message may take; the longest legal move takes less than 4 KiB."""
ELEMENTS: Final = 256
"""How many elements one message may have."""
DEPTH: Final = 8
"""How deep elements may be nested, the root included; no message needs more than 5."""
NAMES: Final = 256
"""How many different names elements and attributes may have over one connection, of which clients use some 30. The
parser keeps each for as long as it lives, at ten times its length and more.
"""


class BadXml(Exception):
    """The stream can't be read on. ``code`` is stable: ``not_xml``, ``document_type``, ``too_deep``, ``too_large``,
    ``unknown_element``, ``no_root``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(slots=True)
class Element:
    """An element with everything in it but its text."""

    name: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)

    def child(self, name: str) -> Element | None:
        """The first child of that name."""
        return next((child for child in self.children if child.name == name), None)


class XmlReader:
    """Reads one document. After a failure, or the end of the root, nothing more is read."""

    __slots__ = (
        "__weakref__",
        "_began",
        "_fed",
        "_messages",
        "_names",
        "_open",
        "_parser",
        "_ready",
        "_size",
        "closed",
        "failure",
        "opened",
    )

    def __init__(self, messages: Container[str]) -> None:
        """``messages`` are the names of those that there are: another one is not waited for to its end, which may never
        come (as when a client opens its document a second time).
        """
        self._messages = messages
        self.opened = False
        """Whether the root has begun."""
        self.closed = False
        """Whether the root has ended."""
        self.failure: BadXml | None = None
        """Why nothing more is read."""
        self._open: list[Element] = []
        self._ready: list[Element] = []
        self._fed = 0
        self._began = 0
        self._size = 0
        self._names: set[str] = set()
        self._parser = expat.ParserCreate("utf-8")
        self._lock_down(self._parser)

    def feed(self, data: bytes) -> list[Element]:
        """The messages that ``data`` completes, also those before a failure in it."""
        if self.failure is None and not self.closed:
            self._fed += len(data)
            try:
                self._parser.Parse(data, False)
                if self._fed - self._parser.CurrentByteIndex > MESSAGE_BYTES:
                    raise _too_large()
            except BadXml as failure:
                self.failure = failure.with_traceback(None)  # which refers to this reader
            except expat.ExpatError as error:
                if not self.closed:  # whatever follows the end is nobody's business
                    why = expat.errors.messages.get(error.code, "it can't be read")
                    self.failure = BadXml("not_xml", f"this is no well-formed XML: {why}")
        ready, self._ready = self._ready, []
        return ready

    def _lock_down(self, parser: expat.XMLParserType) -> None:
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        if hasattr(parser, "SetReparseDeferralEnabled"):
            # A move that comes in two packets shall not wait for a third; what is read again is bounded by ourselves.
            parser.SetReparseDeferralEnabled(False)
        parser.StartDoctypeDeclHandler = _refuse_document_type
        parser.EntityDeclHandler = _refuse_document_type
        me = weakref.proxy(self)  # in a circle with its parser it would wait for the collector, which seldom looks

        def start(name: str, attributes: dict[str, str]) -> None:
            me._start(name, attributes)

        def end(name: str) -> None:
            me._end(name)

        parser.StartElementHandler = start
        parser.EndElementHandler = end

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self.closed:
            return
        depth = len(self._open)
        if depth == 0:
            if name in self._messages:
                raise BadXml("no_root", f"open your document first: <protocol>, and then <{name}> in it")
            self.opened = True
        elif depth == 1:
            self._began, self._size = self._parser.CurrentByteIndex, 0
            if name not in self._messages:
                raise BadXml("unknown_element", f"there is no message <{name[:40]}>")
        elif depth >= DEPTH:
            raise BadXml("too_deep", f"elements may be nested {DEPTH} deep")
        self._size += 1
        if depth and (self._size > ELEMENTS or self._parser.CurrentByteIndex - self._began > MESSAGE_BYTES):
            raise _too_large()
        self._names.add(name)
        self._names.update(attributes)
        if len(self._names) > NAMES:
            raise BadXml("too_large", f"elements and attributes may have {NAMES} different names over one connection")
        element = Element(name, attributes)
        if depth > 1:
            self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, name: str) -> None:
        element = self._open.pop()
        if self._open and self._parser.CurrentByteIndex - self._began > MESSAGE_BYTES:
            raise _too_large()
        if not self._open:
            self.closed = True
        elif len(self._open) == 1:
            self._ready.append(element)


def _refuse_document_type(*_: object) -> None:
    raise BadXml("document_type", "document types and entities are not read here")


def _too_large() -> BadXml:
    return BadXml("too_large", f"a message may have {MESSAGE_BYTES} bytes and {ELEMENTS} elements")
