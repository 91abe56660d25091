"""Writes bench/RESULTS.md, in sections of one table each. A run replaces the sections that it measured and keeps the others."""

from __future__ import annotations

import pathlib
import re
from dataclasses import dataclass, field

HEAD = """# Results

The newest table of `./dev bench` for each bar. *Xeon* has AVX-512, *EPYC* AVX2; both are virtual machines with 2 cores, 24 GiB and Linux 6.18. Figures are medians,
with the page cache warm unless stated. Compare ratios, which come from one run. Every output is compared with its source. Bars are the project's own goals.
"""


@dataclass
class Section:
    """A table, printed row by row."""

    title: str
    intro: str
    columns: tuple[str, ...]
    rows: list[str] = field(default_factory=list)

    def row(self, *cells: str) -> None:
        line = "|" + "|".join(cells + ("",) * (len(self.columns) - len(cells))) + "|"
        if not self.rows:
            print(f"\n{self.title}", flush=True)
        print(line, flush=True)
        self.rows.append(line)

    def text(self, machine: str) -> str:
        head = ["|" + "|".join(self.columns) + "|", "|" + "---|" * len(self.columns)]
        return "\n".join([f"## {self.title}", "", f"{machine}. {self.intro}", "", *head, *self.rows, ""])


def sections_of(text: str) -> dict[str, str]:
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
    return {part.splitlines()[0][3:]: part.rstrip() + "\n" for part in parts}


def write(path: pathlib.Path, measured: list[Section], machine: str) -> None:
    known = sections_of(path.read_text()) if path.exists() else {}
    notes = known.pop("Notes", None)
    known.update({section.title: section.text(machine) for section in measured})
    if notes:
        known["Notes"] = notes
    path.write_text("\n".join([HEAD, *known.values()]))
