"""What each part of a platform's tests came to, in measured/NAME.json: one part a line."""

from __future__ import annotations

import json
from typing import NamedTuple

from parts import Part, parts_of
from running import Outcome, Outcomes
from targets import ROOT, Platform

MEASURED = ROOT / "tests/platforms/measured"
NEEDS_PROTOBUF = "needs protobuf"  # tests/support/command_line.py says this


class Record(NamedTuple):
    state: str  # of the part, when it was measured
    passed: int
    failed: list[str]
    skipped: list[str]


Records = dict[str, Record]  # by the part's name


def base_name(name: str) -> str:
    """The name in the source: a parametrised case is run as Room.Prefix/Suite.Case/parameter."""
    room, suite, case = (name.split(".", 2) + ["", ""])[:3]
    parts = suite.split("/")
    suite = parts[1] if len(parts) > 1 and not parts[1].isdigit() else parts[0]
    return f"{room}.{suite}.{case.split('/')[0]}"


def with_absent(outcomes: Outcomes, names: set[str]) -> Outcomes:
    """Adds the cases that have no outcome. Leaves out those that need protobuf, where there is none."""
    seen = {base_name(name) for name in outcomes}
    absent = {name: Outcome("skipped", "not built, or not reached") for name in names - seen}
    kept = {name: outcome for name, outcome in outcomes.items() if outcome != Outcome("skipped", NEEDS_PROTOBUF)}
    return {**kept, **absent}


def record_of(state: str, outcomes: Outcomes) -> Record:
    names = {what: sorted(name for name, outcome in outcomes.items() if outcome.what == what) for what in ("passed", "failed", "skipped")}
    return Record(state, len(names["passed"]), names["failed"], names["skipped"])


def read(platform: Platform) -> Records:
    """Those of parts that still are."""
    file = MEASURED / f"{platform.name}.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    return {part.name: Record(*found[part.name]) for part in parts_of(platform) if part.name in found}


def write(platform: Platform, records: Records) -> None:
    lines = (f"{json.dumps(part.name)}: {json.dumps(records[part.name])}" for part in parts_of(platform) if part.name in records)
    MEASURED.mkdir(exist_ok=True)
    (MEASURED / f"{platform.name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def old_parts(platform: Platform, records: Records) -> list[Part]:
    """Parts that were not measured, or in another state."""
    return [part for part in parts_of(platform) if part.name not in records or records[part.name].state != part.state]


def due_parts(platform: Platform, records: Records) -> list[Part]:
    """Those that are old, and those with failed tests, which a change of any source may have mended."""
    old = old_parts(platform, records)
    return [part for part in parts_of(platform) if part in old or records[part.name].failed]
