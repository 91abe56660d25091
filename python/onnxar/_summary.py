"""What objects print in a terminal and in a notebook: at most a screen."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from onnxar._errors import Error, printable

if TYPE_CHECKING:
    from onnxar._archive import Archive
    from onnxar._types import DataDifference, Difference, Link, TensorForm
    from onnxar.inspection import CostEstimate, Inspection

WIDTH, ROWS = 79, 16  # of a summary; with its heads it has fewer than 24 lines
_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def size(count: float) -> str:
    """`512 bytes`, `26.2 MB`: powers of 1000, as the sizes of files in shops and shells."""
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
    """Shortens a text in its middle: beginnings and ends of names and paths tell most."""
    text = printable(text)
    if len(text) <= most:
        return text
    front = (most - 3) // 2
    return text[:front] + "..." + text[len(text) - (most - 3 - front) :]


@dataclasses.dataclass
class Summary:
    """A head, lines, and a table of which the first rows are printed."""

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
    """The widths of columns. The first ones, which have names, are cut if a row would not fit."""
    widths = [max(len(printable(cell)) for cell in column) for column in zip(*rows)]
    room = WIDTH - 2 * len(widths)
    for index in sorted(range(len(widths)), key=lambda at: -widths[at]):
        others = sum(widths) - widths[index]
        widths[index] = min(widths[index], max(room - others, room // len(widths)))
    return widths


def _html_row(tag: str, row: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escaped(cut(cell, WIDTH))}</{tag}>" for cell in row) + "</tr>"


# --- archives and links ---


def archive_line(archive: Archive) -> str:
    return f"<onnxar.Archive {cut(archive.path or 'in memory', 40)!r}{_contents(archive)}>"


def _contents(archive: Archive) -> str:
    if archive.closed:
        return " (closed)"
    try:
        entries, files, graphs = archive.entries(), len(archive.side_files()), len(archive.graphs())
        said = f": {counted(len(archive), 'tensor')}, {size(sum(entry.size for entry in entries))}"
    except Error as error:  # what is printed in a debugger must not raise
        return f": {error.code}"
    return said + (f", {counted(files, 'file')}" if files else "") + (f", {counted(graphs, 'graph')}" if graphs else "")


def archive_html(archive: Archive) -> str:
    summary = Summary(archive_line(archive), columns=("tensor", "type", "shape"))
    if not archive.closed:
        try:
            keys = list(archive)
            infos = [(key, archive.info(key)) for key in keys[:ROWS]]
        except Error:
            return summary.html()
        summary.rows, summary.all_rows = [(key, info.dtype, shape(info.shape)) for key, info in infos], len(keys)
    return summary.html()


def link_line(link: Link) -> str:
    return f"Link(model=<{counted(len(link.model), 'byte')}>, folder={cut(str(link.folder), 40)!r})"


# --- inspections ---


def of_inspection(found: Inspection) -> Summary:
    opsets = ", ".join(f"{opset.domain or 'ai.onnx'} {opset.version}" for opset in found.opsets)
    producer = f"{found.producer.name} {found.producer.version}".strip() or "unknown"
    graph = found.graph
    lines = [
        f"producer    {producer}; IR {found.ir_version}; {opsets}",
        f"graph       {graph.name or 'without a name'}: {counted(graph.all_nodes, 'node')}, "
        + (f"{counted(graph.subgraphs, 'subgraph')}, " if graph.subgraphs else "") + f"depth {graph.depth}",
        *(f"{kind:<11} {value.name}: {value.type} {shape(value.shape)}" for kind, values in
          (("input", graph.inputs), ("output", graph.outputs)) for value in values[:3]),
        f"parameters  {found.parameters:,} in {counted(found.tensors.tensors, 'tensor')} of {size(found.tensors.bytes)}",
        f"cost        {_cost(found.cost)}",
    ]  # fmt: skip
    lines += [f"{remark.severity:<11} {remark.message}" for remark in found.remarks[:2]]
    rows: list[Sequence[str]] = [(each.op, each.domain or "ai.onnx", f"{each.nodes:,}") for each in graph.ops]
    head = f"<onnxar.Inspection of an {found.form} of {size(found.storage.file_bytes)}>"
    return Summary(head, lines, ("operator", "domain", "nodes"), rows)


def _cost(cost: CostEstimate) -> str:
    if cost.multiply_adds is not None:
        return f"{cost.multiply_adds:,} multiply-adds"
    if cost.polynomial is not None:
        return f"{cost.polynomial} multiply-adds"
    missing = ", ".join(dict.fromkeys(each.op for each in cost.not_known))
    return f"at least {cost.at_least:,} multiply-adds; not known: {missing}"


# --- differences ---


def of_difference(found: Difference) -> Summary:
    compared = f"{counted(found.compared, 'tensor')} compared"
    if found.same:
        return Summary(f"<onnxar.Difference: none, {compared}>")
    rows: list[Sequence[str]] = [(each.change, each.name or each.site, _change(each.before, each.after)) for each in found.graph]
    rows += [(each.change, each.name or each.site, _data(each.data) if each.data else _change(_form(each.before), _form(each.after)))
             for each in found.tensors]  # fmt: skip
    rows += [(each.change, each.name, _change(_bytes(each.before), _bytes(each.after))) for each in found.files]
    counts = f"{len(found.graph)} in the graph, {len(found.tensors)} in tensors, {len(found.files)} in files"
    return Summary(f"<onnxar.Difference: {counts}; {compared}>", [], ("change", "where", "what"), rows)


def _change(before: str | None, after: str | None) -> str:
    return f"{before} -> {after}" if before is not None and after is not None else before or after or ""


def _form(form: TensorForm | None) -> str | None:
    return None if form is None else f"{form.dtype} {shape(form.shape)}"


def _bytes(count: int | None) -> str | None:
    return None if count is None else size(count)


def _data(data: DataDifference) -> str:
    most = "" if data.max_absolute is None else f", by up to {data.max_absolute:.3g}"
    return f"{data.differing:,} of {data.elements:,} elements{most}"
