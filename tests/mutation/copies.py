"""Changes of a source, and the copy that contains all of them: which one is active is decided at run time (instrument.py)."""

import dataclasses
import pathlib
import re


@dataclasses.dataclass(frozen=True)
class Site:
    """One change; `number` selects it. The other fields identify it across edits of the file."""

    number: int
    file: str
    function: str
    text: str
    changed: str
    nth: int  # among sites of this file and function with the same texts
    line: int

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        return self.file, self.function, self.text, self.changed, self.nth


@dataclasses.dataclass
class Change:
    """A changed text for a range of bytes. Statements have no changed text: they are left out."""

    begin: int
    end: int
    changed: str
    shown: str
    function: str
    cast: str = ""
    statement: bool = False


def squeeze(text: str) -> str:
    """The text in one line, without comments and repeated space."""
    return " ".join(re.sub(r"//[^\n]*", "", text).split())


class Source:
    """One file, and the changes that were found in it."""

    def __init__(self, path: pathlib.Path, name: str) -> None:
        self.path, self.name = path, name
        self.bytes = path.read_bytes()
        self.changes: dict[tuple[int, int, str, bool], Change] = {}
        self.excluded: dict[str, set[tuple[int, int]]] = {}
        self.macros: list[tuple[int, int]] = []
        self.bodies: set[tuple[int, int]] = set()  # of an `if` without `else` whose condition has a site

    def text(self, begin: int, end: int) -> str:
        return self.bytes[begin:end].decode()

    def within_macro(self, begin: int, end: int) -> bool:
        return any(first < end and begin < last for first, last in self.macros)

    def exclude(self, why: str, begin: int, end: int) -> None:
        self.excluded.setdefault(why, set()).add((begin, end))

    def add(self, change: Change) -> None:
        if change.begin >= change.end or self.within_macro(change.begin, change.end):
            self.exclude("macro", change.begin, change.end)
            return
        self.changes.setdefault((change.begin, change.end, change.changed, change.statement), change)


class Writer:
    """Numbers the changes of all sources, and writes the copies."""

    def __init__(self) -> None:
        self.sites: list[Site] = []
        self.counts: dict[tuple[str, str, str, str], int] = {}

    def number(self, source: Source, change: Change) -> int:
        text = squeeze(source.text(change.begin, change.end))
        key = (source.name, change.function, text, change.shown)
        nth = self.counts.get(key, 0)
        self.counts[key] = nth + 1
        line = source.bytes.count(b"\n", 0, change.begin) + 1
        self.sites.append(Site(len(self.sites), *key, nth, line))
        return self.sites[-1].number

    def copy(self, source: Source) -> str:
        """The text of the instrumented copy."""
        changes = sorted(source.changes.values(), key=lambda each: (each.begin, -each.end, not each.statement, each.changed))
        self.pending = changes
        return self.render(source, 0, len(source.bytes))

    def render(self, source: Source, begin: int, end: int) -> str:
        """The bytes from `begin` to `end`, with the pending changes that lie in them."""
        out: list[str] = []
        at = begin
        while self.pending and self.pending[0].begin < end:
            first = self.pending[0]
            assert first.end <= end, f"{source.name}: sites overlap at {first.begin}"
            out.append(source.text(at, first.begin))
            out.append(self.wrapped(source, first.begin, first.end))
            at = first.end
        out.append(source.text(at, end))
        return "".join(out)

    def wrapped(self, source: Source, begin: int, end: int) -> str:
        """One range with all of its changes."""
        prefix, cast, head = "", "", ""
        expression = False
        while self.pending and (self.pending[0].begin, self.pending[0].end) == (begin, end):
            change = self.pending.pop(0)
            number = self.number(source, change)
            if change.statement:
                prefix = f"if (::onnxar::mutate::on({number})) {{}} else "
                continue
            expression = True
            cast = change.cast or cast
            value = f"static_cast<{cast}>({change.changed})" if cast else f"({change.changed})"
            head += f"::onnxar::mutate::on({number}) ? {value} : "
        body = self.render(source, begin, end)
        if not expression:
            return prefix + body
        return f"{prefix}({head}{f'static_cast<{cast}>' if cast else ''}({body}))"
