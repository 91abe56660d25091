"""Formats what objects print in a terminal and in a notebook: at most a screen."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterable, Sequence

from onnxar._errors import printable

WIDTH, ROWS = 79, 16  # of a summary; with its heads it has fewer than 24 lines
_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def size(count: float) -> str:
    """Returns `512 bytes`, `26.2 MB`: units are powers of 1000."""
    unit = 0
    while count >= 1000 and unit + 1 < len(_UNITS):
        count, unit = count / 1000, unit + 1
    return f"{count:.0f} {_UNITS[unit]}" if unit == 0 else f"{count:.1f} {_UNITS[unit]}"


def counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def shape(dims: Sequence[object] | None) -> str:
    return "?" if dims is None else "x".join("?" if dim is None else str(dim) for dim in dims) or "scalar"


def escaped(text: str) -> str:
    return html.escape(printable(text))


def cut(text: str, most: int) -> str:
    """Shortens a text in its middle: beginnings and ends of names and paths say most."""
    text = printable(text)
    if len(text) <= most:
        return text
    front = (most - 3) // 2
    return text[:front] + "..." + text[len(text) - (most - 3 - front) :]


@dataclasses.dataclass
class Summary:
    """A head, lines, and a table, whose first rows are printed."""

    head: str
    lines: list[str] = dataclasses.field(default_factory=list)
    columns: Sequence[str] = ()
    rows: list[Sequence[str]] = dataclasses.field(default_factory=list)
    all_rows: int = 0

    def text(self) -> str:
        lines = [cut(line, WIDTH) for line in (self.head, *(f"  {line}" for line in self.lines))]
        rows = [self.columns, *self._shown()]
        if len(rows) > 1:
            widths = _widths(rows)
            lines += ["  " + "  ".join(cut(cell, width).ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([*lines, *(f"  {line}" for line in self._more())])

    def html(self) -> str:
        parts = [f"<p><b>{escaped(self.head)}</b></p>"]
        parts += [f"<div>{escaped(line)}</div>" for line in self.lines]
        if self.rows:
            parts += ["<table>", _html_row("th", self.columns), *(_html_row("td", row) for row in self._shown()), "</table>"]
        return "\n".join([*parts, *(f"<div>{escaped(line)}</div>" for line in self._more())])

    def _shown(self) -> list[Sequence[str]]:
        return self.rows[: max(ROWS - len(self.lines), 4)]

    def _more(self) -> list[str]:
        more = max(self.all_rows, len(self.rows)) - len(self._shown())
        return [f"... and {more:,} more"] if more > 0 else []


def _widths(rows: Iterable[Sequence[str]]) -> list[int]:
    """Returns the widths of columns. The first columns, which have names, are cut if a row would not fit."""
    widths = [max(len(printable(cell)) for cell in column) for column in zip(*rows)]
    room = WIDTH - 2 * len(widths)
    for index in sorted(range(len(widths)), key=lambda at: -widths[at]):
        others = sum(widths) - widths[index]
        widths[index] = min(widths[index], max(room - others, room // len(widths)))
    return widths


def _html_row(tag: str, row: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escaped(cut(cell, WIDTH))}</{tag}>" for cell in row) + "</tr>"
