"""Finds the functions of the C++ sources and the calls between them, from the text alone.

The answer errs on one side: a call by an object counts for every class whose header the caller includes, and that has a
member of this name. Calls through templates and overload sets are not told apart.
"""

import pathlib
import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

SILENT = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|(?<!\w)\'(?:[^\'\\\n]|\\.)+\'')  # comments and literals
CLASS = re.compile(r"^(?:template <.*?>\s*)?(?:class|struct) (?:\w+::)*(\w+)(?: final)?(?:\s*:\s*([^{]*))?\s*{", re.DOTALL)
NAME = re.compile(r"((?:\w+::)*~?\w+)\(")
CALL = re.compile(r"(?:(\w+)::|(\.|->))?(~?\w+)(?:<[\w:, ]+>)?[({]")
TYPE = re.compile(r"\b([A-Z]\w+)\b(?!::)")
LABEL = re.compile(r"\s*(?:public|private|protected):")


class Function(NamedTuple):
    file: pathlib.Path
    owner: str  # its class; empty: none
    name: str
    body: str


def chunks(text: str) -> Iterator[str]:
    """The declarations and definitions of a namespace or class body."""
    depth, lines = 0, []
    for line in text.splitlines():
        if depth == 0 and (not line.strip() or line.startswith(("#", "namespace", "}")) or LABEL.match(line)):
            lines = []
            continue
        lines.append(line)
        depth += line.count("{") - line.count("}")
        if depth == 0 and line.rstrip().endswith((";", "}")):
            yield "\n".join(lines)
            lines = []


class Sources:
    def __init__(self, root: pathlib.Path) -> None:
        files = [*root.glob("src/**/*.h"), *root.glob("src/**/*.cc"), *root.glob("include/**/*.h")]
        self.root = root
        self.texts = {file: SILENT.sub(lambda found: "" if found[0].startswith("/") else '""', file.read_text()) for file in files}
        self.bases: dict[str, list[str]] = {}
        self.homes: dict[str, set[pathlib.Path]] = {}  # class -> files that define it
        self.functions = [function for file, text in self.texts.items() for function in self.parse(file, text, "")]
        self.by_name: dict[str, list[Function]] = {}
        for function in self.functions:
            self.by_name.setdefault(function.name, []).append(function)
        self.visible_from = {file: self.includes(file) for file in files}

    def parse(self, file: pathlib.Path, text: str, owner: str) -> Iterator[Function]:
        for chunk in chunks(text):
            if found := CLASS.match(chunk.lstrip()):
                name = found[1]
                self.homes.setdefault(name, set()).add(file)
                self.bases.setdefault(name, []).extend(TYPE.findall(found[2] or ""))
                yield from self.parse(file, chunk[chunk.index("{") + 1 : chunk.rindex("}")], name)
            elif "{" in chunk and (found := NAME.search(chunk.replace("decltype(auto)", "auto"))):
                *scopes, name = found[1].split("::")
                yield Function(file, scopes[-1] if scopes else owner, name, chunk.replace(found[1] + "(", "(", 1))

    def includes(self, file: pathlib.Path) -> set[pathlib.Path]:
        found: set[pathlib.Path] = set()
        waiting = [file]
        while waiting:
            each = waiting.pop()
            if each in found:
                continue
            found.add(each)
            for name in re.findall(r'#include "([^"]+)"', each.read_text()):
                waiting += [path for path in (self.root / "src" / name, self.root / "include" / name) if path in self.texts]
        return found

    @cached_property
    def declared(self) -> dict[str, set[pathlib.Path]]:
        """Where the name of a function occurs in a header."""
        places: dict[str, set[pathlib.Path]] = {}
        for file, text in self.texts.items():
            for name in re.findall(r"(\w+)\(", text) if file.suffix == ".h" else ():
                places.setdefault(name, set()).add(file)
        return places

    def is_visible(self, caller: Function, target: Function) -> bool:
        seen = self.visible_from[caller.file]
        if caller.file == target.file:
            return True
        if not target.owner:
            homes = (each for each in self.declared.get(target.name, set()) & seen if each in self.visible_from[target.file])
            return any(each.parent == target.file.parent or "include" in each.parts for each in homes)
        return any(self.homes.get(each, set()) & seen for each in (target.owner, *self.bases.get(target.owner, ())))

    def called_by(self, caller: Function) -> Iterator[Function]:
        wanted = {(name, name) for name in TYPE.findall(caller.body)}  # constructors
        for scope, dot, name in CALL.findall(caller.body):
            wanted.add((name, scope if scope[:1].isupper() else "." if dot else ""))
        for name, scope in wanted:
            for target in self.by_name.get(name, ()):
                if not scope:  # a free function, or a member of the caller's class or of its derived classes
                    family = {"", caller.owner}
                    fits = target.owner in family or caller.owner in self.bases.get(target.owner, ())
                else:
                    fits = bool(target.owner) if scope == "." else target.owner == scope
                if fits and self.is_visible(caller, target):
                    yield target

    def steps(self, starts: list[Function], ends: list[Function], without: list[Function]) -> int | None:
        """The least number of calls from one of `starts` to one of `ends` that avoids `without`; None: there is no way."""
        found: set[Function] = set(without)
        here, count = set(starts), 0
        while here:
            if here & set(ends):
                return count
            found |= here
            here = {target for caller in here for target in self.called_by(caller)} - found
            count += 1
        return None
