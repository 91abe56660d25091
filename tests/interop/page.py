"""Writes docs/interop.md from the results of ./dev interop."""

from __future__ import annotations

import json

from interop import models
from interop.cells import REFUSED
from interop.tools import ROOT

PAGE = ROOT / "docs/interop.md"
TEXT = ROOT / "tests/interop/page.md"  # what the page says besides the table
MODELS = [*models.SMALL, models.LARGE]


def results() -> dict:
    return json.loads((ROOT / "tests/interop/results.json").read_text())


def rows(found: dict) -> list[tuple[str, str, str, str]]:
    """Every cell: tool, model, form, and what is known of it."""
    return [
        (tool, model, form, cell)
        for tool, row in found["tools"].items()
        for model, entry in row["models"].items()
        for form, cell in entry["forms"].items()
        if form != "plain"
    ]


def wrong_cells(found: dict) -> list[str]:
    return [f"wrong: {tool}, {model}, {form}" for tool, model, form, cell in rows(found) if cell == "wrong"]


def refused_by_runtimes(found: dict) -> list[tuple[str, str, str]]:
    """Cells of runtimes that are refused although the plain model runs."""
    return [
        (tool, model, form)
        for tool, model, form, cell in rows(found)
        if cell.startswith(REFUSED) and found["tools"][tool]["kind"] == "runtime"
    ]


def escaped(text: str) -> str:
    for special in "\\`*_|<>[]":
        text = text.replace(special, "\\" + special)
    return text


class Notes:
    """Numbered messages; equal ones have one number."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[str, str], int] = {}

    def number(self, version: str, refusal: str) -> int:
        return self.numbers.setdefault((version, refusal.removeprefix(REFUSED)), len(self.numbers) + 1)

    def lines(self) -> list[str]:
        return [f"{number}. {escaped(version)}: {escaped(message)}" for (version, message), number in self.numbers.items()]


def cell_text(version: str, entry: dict | None, notes: Notes) -> str:
    if entry is None:
        return ""
    cells = dict(entry["forms"])
    plain = cells.pop("plain")
    if plain.startswith(REFUSED):
        ran = [form for form, cell in cells.items() if cell == "ran alone"]
        return f"plain {notes.number(version, plain)}" + (f", {' and '.join(ran)} run{'s' if len(ran) == 1 else ''}" if ran else "")
    faults = [(form, cell) for form, cell in cells.items() if cell != "same"]
    if not faults:
        return "same"
    same = [form for form, cell in cells.items() if cell == "same"]
    told = [f"**{form} wrong**" if cell == "wrong" else f"{form} {notes.number(version, cell)}" for form, cell in faults]
    return ", ".join([*(f"{form} same" for form in same), *told])


def table(found: dict) -> str:
    notes = Notes()
    lines = [f"| tool | {' | '.join(MODELS)} |", f"|---|{'---|' * len(MODELS)}"]
    for tool, row in found["tools"].items():
        cells = [cell_text(row["version"], row["models"].get(model), notes) for model in MODELS]
        archive = any("archive" in entry["forms"] for entry in row["models"].values())
        lines.append(f"| {tool} ({row['version']}){', also the archive' if archive else ''} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", "## Messages", "", *notes.lines()])


def summary(found: dict) -> str:
    counts = {state: 0 for state in ("same", "refused", "wrong", "plain refused", "ran alone")}
    for _, _, _, cell in rows(found):
        counts[cell.partition(":")[0]] += 1
    compared = counts["same"] + counts["refused"] + counts["wrong"]
    return (
        f"Of {compared} cells whose plain model runs, {counts['same']} have the same output, {counts['refused']} are refused and "
        f"{counts['wrong']} are wrong. {counts['plain refused']} further cells belong to tools that refuse the plain model, too"
        + (f"; in {counts['ran alone']} the tool refuses the plain model and runs the form." if counts["ran alone"] else ".")
        + f" Run at commit `{found['commit']}`."
    )


def text(found: dict) -> str:
    return TEXT.read_text().replace("SUMMARY\n", summary(found) + "\n").replace("TABLE\n", table(found) + "\n")


def write(found: dict) -> None:
    PAGE.write_text(text(found))
