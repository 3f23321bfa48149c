"""Reading a tournament's page as a browser would: which texts stand in which tables of which section."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from html.parser import HTMLParser

from triarena.organiser.export import page as pieces
from triarena.organiser.report import TournamentReport

VOID = ("meta", "br", "hr")


@dataclass
class Cell:
    """One cell of a table."""

    text: str = ""
    attributes: dict[str, str | None] = field(default_factory=dict)


@dataclass
class Page(HTMLParser):
    """``feed`` it, then look."""

    sections: dict[str, dict[str, list[list[Cell]]]] = field(default_factory=dict)
    """By the section's id: the rows of bodies of its tables, by the table's class; those of one class together."""
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    """All elements with their attributes, in their order."""
    unclosed: list[str] = field(default_factory=list)
    """At the end: elements that were not closed, or closed in the wrong order."""

    def __post_init__(self) -> None:
        super().__init__()
        self._section = ""
        self._table = ""
        self._body = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag not in VOID:
            self.unclosed.append(tag)
        if tag == "section":
            self._section = attributes["id"] or ""
            self.sections[self._section] = {}
        elif tag == "table":
            self._table = attributes["class"] or ""
        elif tag == "tbody":
            self._body = True
        elif tag == "tr" and self._body:
            self.sections[self._section].setdefault(self._table, []).append([])
        elif tag in ("td", "th") and self._body:
            self.sections[self._section][self._table][-1].append(Cell(attributes=attributes))

    def handle_endtag(self, tag: str) -> None:
        if self.unclosed[-1:] == [tag]:
            self.unclosed.pop()
        if tag == "tbody":
            self._body = False

    def handle_data(self, data: str) -> None:
        rows = self.sections.get(self._section, {}).get(self._table)
        if self._body and rows and rows[-1]:
            rows[-1][-1].text += data

    def rows(self, section: str, table: str) -> list[list[str]]:
        """The texts of a table's rows."""
        return [[cell.text for cell in row] for row in self.sections[section].get(table, [])]


def read_page(html: str) -> Page:
    """The page, read to its end."""
    page = Page()
    page.feed(html)
    page.close()
    return page


def page(report: TournamentReport, at: datetime, replay: str) -> str:
    """The whole document, of whose pieces ``page.page`` tells."""
    return "".join(pieces.page(report, at, replay))
