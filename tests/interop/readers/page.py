"""Writes the results of ./dev interop between the markers of docs/interop.md."""

from __future__ import annotations

import json
import re
import textwrap

from interop.readers import models
from interop.readers.cells import REFUSED
from interop.readers.tools import ROOT

PAGE = ROOT / "docs/interop.md"
MODELS = [*models.SMALL, models.LARGE]
LONGEST = 120  # characters of a message; tests/interop/readers/results.json has the rest


def results() -> dict:
    return json.loads((ROOT / "tests/interop/readers/results.json").read_text())


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


def general(message: str) -> str:
    """A message without what differs between models and forms, the names of tensor and data file, and without ONNX Runtime's prefix."""
    message = re.sub(r"(\w+: )?\[ONNXRuntimeError\] : \d+ : |tensorprotoutils\.cc:\d+ ", "", message)
    message = re.sub(r'(for initializer: |tensor name: |in node "|^\w[^:]*: Tensor )\w+', r"\1NAME", message)
    message = re.sub(r'(FOLDER/|for path ")[\w.]+"', r'\1FILE"', message)
    return re.sub(r"(should be stored in FOLDER/).*", r"\1FILE, but it i...", message)


class Notes:
    """Numbered messages; those that differ in names alone have one number. Each names the versions that print it."""

    def __init__(self) -> None:
        self.versions: dict[str, list[str]] = {}

    def number(self, version: str, refusal: str) -> int:
        message = general(refusal.removeprefix(REFUSED))
        versions = self.versions.setdefault(message, [])
        if version not in versions:
            versions.append(version)
        return list(self.versions).index(message) + 1

    def lines(self) -> list[str]:
        short = {message: textwrap.shorten(message, LONGEST, placeholder=" ...") for message in self.versions}
        return [f"{i}. {escaped(', '.join(versions))}: {escaped(short[message])}" for i, (message, versions) in enumerate(self.versions.items(), 1)]


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
    outcomes: dict[str, list[str]] = {}
    for form, cell in sorted(cells.items(), key=lambda each: each[1] != "same"):
        told = cell if cell == "same" else "**wrong**" if cell == "wrong" else str(notes.number(version, cell))
        outcomes.setdefault(told, []).append(form)
    return "; ".join(f"{', '.join(forms)} {told}" for told, forms in outcomes.items())


def table(found: dict) -> str:
    notes = Notes()
    lines = [f"|tool|{'|'.join(MODELS)}|", f"|---|{'---|' * len(MODELS)}"]
    for tool, row in found["tools"].items():
        cells = [cell_text(row["version"], row["models"].get(model), notes) for model in MODELS]
        archive = any("archive" in entry["forms"] for entry in row["models"].values())
        lines.append(f"|{tool} ({row['version']}){', also the archive' if archive else ''}|{'|'.join(cells)}|")
    return "\n".join([*lines, "", "## Messages", "", *notes.lines()])


def summary(found: dict) -> str:
    counts = dict.fromkeys(("same", "refused", "wrong", "plain refused", "ran alone"), 0)
    for _, _, _, cell in rows(found):
        counts[cell.partition(":")[0]] += 1
    compared = counts["same"] + counts["refused"] + counts["wrong"]
    return (
        f"Of {compared} cells whose plain model runs, {counts['same']} have the same output, {counts['refused']} are refused and "
        f"{counts['wrong']} are wrong. In {counts['plain refused']} further cells the tool refuses both the plain model and the form"
        + (f"; in {counts['ran alone']} it refuses the plain model but runs the form." if counts["ran alone"] else ".")
        + f" Run at commit `{found['commit']}`."
    )


def text(found: dict) -> str:
    """The page with what the results say between its markers."""
    whole = PAGE.read_text()
    for name, part in (("summary", summary(found)), ("table", table(found))):
        whole = re.sub(rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)", lambda found, part=part: f"{found[1]}{part}\n{found[2]}", whole, flags=re.DOTALL)
    return whole


def write(found: dict) -> None:
    PAGE.write_text(text(found))
