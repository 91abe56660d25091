"""Holds what `check` says of tensors against what the Python package onnx says of them: tensors of every data type, with
values in every field, too few, enough and too many, linked or not.

What onnx.checker refuses, or onnx.numpy_helper cannot read, is an error or a warning of `check`. What `check` calls an
error onnx does not take. The exceptions are functions below, each with its reason.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from onnx import TensorProto, checker, helper, numpy_helper
from support import command_line
from support.command_line import DONE, FOUND, ToolCase, run

UNKNOWN = 99  # a data type that no schema has
NEWEST = 28  # the last data type of onnx.proto of ONNX 1.23, the schema that the format is made for
TYPES = {**{number: name for name, number in TensorProto.DataType.items()}, UNKNOWN: "UNKNOWN"}
SHAPES = ([3], [], [0], [2, 0], [5])
TYPED = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
FIELDS = ("raw_data", *TYPED)
BITS = {
    **dict.fromkeys((7, 11, 13, 14), 64),
    **dict.fromkeys((1, 6, 12), 32),
    **dict.fromkeys((4, 5, 10, 16), 16),
    **dict.fromkeys((21, 22, 23), 4),
    **dict.fromkeys((25, 26), 2),
    **dict.fromkeys((27, 28), 6),
    15: 128,
}
COUNTS = ("exact", "short", "long", "empty")


class Case(NamedTuple):
    """A tensor, and what it was made of."""

    tensor: TensorProto
    kind: int
    dims: list[int]
    fields: tuple[tuple[str, str], ...]  # name and count
    link: str = ""

    def __str__(self) -> str:
        return f"{TYPES[self.kind]}{self.dims} {' '.join(map('='.join, self.fields))} {self.link}"


def size_of(kind: int, dims: list[int]) -> int:
    values = 1
    for dim in dims:
        values *= dim
    return (values * BITS.get(kind, 8) + 7) // 8


def exact_count(kind: int, dims: list[int], field: str) -> int:
    """The name in onnx.proto."""
    values = size_of(2, dims)
    if field == "raw_data" or BITS.get(kind, 8) < 6:
        return size_of(kind, dims)
    return values * 2 if kind in (14, 15) else values


def fill(tensor: TensorProto, field: str, count: int) -> None:
    if field == "raw_data":
        tensor.raw_data = bytes(count)
    else:
        getattr(tensor, field).extend([b"" if field == "string_data" else 0] * count)


def made(kind: int, dims: list[int], *fields: tuple[str, str], link: str = "") -> Case | None:
    """Nothing where a count would be negative."""
    tensor = TensorProto(data_type=kind, dims=dims)
    for field, count in fields:
        exact = exact_count(kind, dims, field)
        number = {"exact": exact, "short": exact - 1, "long": exact + 1, "empty": 0}[count]
        if number < 0:
            return None
        fill(tensor, field, number)
    if link:
        tensor.data_location = TensorProto.EXTERNAL
        location = {"good": "data.bin", "missing": "missing.bin"}.get(link)
        pairs = {"location": location, "length": str(size_of(kind, dims))}
        for key, value in pairs.items():
            if value is not None:
                tensor.external_data.add(key=key, value=value)
    return Case(tensor, kind, dims, fields, link)


def one_field() -> Iterator[Case | None]:
    for kind, dims, field, count in itertools.product(TYPES, SHAPES, FIELDS, COUNTS):
        yield made(kind, dims, (field, count))


def two_fields() -> Iterator[Case | None]:
    for kind, dims in itertools.product(TYPES, ([3], [0])):
        for one, other in itertools.combinations(FIELDS, 2):
            for counts in itertools.product(("exact", "empty"), repeat=2):
                yield made(kind, dims, (one, counts[0]), (other, counts[1]))


def no_field() -> Iterator[Case | None]:
    for kind, dims in itertools.product(TYPES, SHAPES):
        yield made(kind, dims)


def linked() -> Iterator[Case | None]:
    for kind, dims, link in itertools.product(TYPES, SHAPES, ("good", "missing", "no location")):
        yield made(kind, dims, link=link)
        for field, count in itertools.product(FIELDS, ("exact", "empty")):
            yield made(kind, dims, (field, count), link=link)


# --- verdicts ------------------------------------------------------------------------------------


class Verdict(NamedTuple):
    checker: str  # why it is refused; empty: it is not
    reader: str


def complaint(action: Callable[[], object]) -> str:
    try:
        action()
    except Exception as error:  # onnx throws exceptions of many types
        return str(error) or type(error).__name__
    return ""


def verdict_of(case: Case) -> Verdict:
    """For a link only the checker's verdict: numpy_helper of some versions does not read external data."""
    refused = complaint(lambda: checker.check_tensor(case.tensor))
    return Verdict(refused, "" if case.link else complaint(lambda: numpy_helper.to_array(case.tensor)))


# --- exceptions ----------------------------------------------------------------------------------


def of_a_type_of_a_later_schema(case: Case) -> bool:
    """Which field is its own, and how many values are enough, that schema says."""
    return case.kind > NEWEST


def of_a_type_that_this_numpy_helper_does_not_read(case: Case) -> bool:
    """Older ones know complex numbers and bfloat16 in one form only. The checker takes these."""
    return bool(complaint(lambda: numpy_helper.to_array(made(case.kind, [3], (own_field(case.kind), "exact")).tensor)))


def linked_beside_empty_raw_data(case: Case) -> bool:
    """M16: a raw_data field counts as data even if it is empty: readers that test for its presence take it."""
    return bool(case.link) and ("raw_data", "empty") in case.fields


def linked_to_the_wrong_length_or_nowhere(case: Case) -> bool:
    """Older checkers do not look for the file, and no checker tests whether strings can be external."""
    return bool(case.link)


def own_field(kind: int) -> str:
    named = {"float_data": (1, 14), "double_data": (11, 15), "uint64_data": (12, 13), "int64_data": (7,), "string_data": (8,)}
    return next((field for field, kinds in named.items() if kind in kinds), "int32_data")


TAKEN_BY_US_ALONE = (of_a_type_of_a_later_schema, of_a_type_that_this_numpy_helper_does_not_read)
TAKEN_BY_ONNX_ALONE = (linked_beside_empty_raw_data, linked_to_the_wrong_length_or_nowhere)


class OnnxChecker(ToolCase):
    def found(self, cases: list[Case]) -> dict[int, set[str]]:
        """The findings of `check` by the number of the tensor: severities with codes."""
        for number, case in enumerate(cases):
            case.tensor.name = f"t{number}"
            for pair in case.tensor.external_data:
                pair.value = pair.value.replace("missing.", f"missing_{number}.")  # `check` reports each file once
        graph = helper.make_graph([], "g", [], [], [case.tensor for case in cases])
        done = run("check", "--json", self.write("m.onnx", helper.make_model(graph).SerializeToString()))
        self.assertIn(done.returncode, (DONE, FOUND), done.stderr)
        by_number: dict[int, set[str]] = defaultdict(set)
        for finding in json.loads(done.stdout)["findings"]:
            site = re.search(r"\(graph\.initializer\[(\d+)\]\)", finding["message"])
            self.assertIsNotNone(site, finding)
            by_number[int(site[1])].add(f"{finding['severity']}[{finding['code']}]")
        return by_number

    def agree(self, made_of: Iterator[Case | None]) -> None:
        cases = [case for case in made_of if case]
        found = self.found(cases)
        remark_of_links = {"warning[onnx.external.small]", "warning[onnx.external.unaligned]", "note[archive.entry.shared]",
                           "warning[archive.entry.overlapping_links]"}  # fmt: skip
        with contextlib.chdir(self.folder):  # where the checker looks for data files
            verdicts = [verdict_of(case) for case in cases]
        disagreements = []
        for number, (case, verdict) in enumerate(zip(cases, verdicts)):
            said = found[number] - remark_of_links
            is_error = any(each.startswith("error") for each in said)
            is_excused = True
            if verdict.checker and not said:
                is_excused = of_a_type_of_a_later_schema(case)
            elif verdict.reader and not said:
                is_excused = any(excuses(case) for excuses in TAKEN_BY_US_ALONE)
            elif is_error and not any(verdict):
                is_excused = any(excuses(case) for excuses in TAKEN_BY_ONNX_ALONE)
            if not is_excused:
                disagreements.append(f"{case}: onnx: {verdict}, check: {said}")
        self.assertEqual(disagreements, [], "\n".join(disagreements))

    def setUp(self) -> None:
        super().setUp()
        self.write("data.bin", bytes(64))

    def test_values_in_one_field(self) -> None:
        self.agree(one_field())

    def test_values_in_two_fields(self) -> None:
        self.agree(two_fields())

    def test_no_values(self) -> None:
        self.agree(no_field())

    def test_links(self) -> None:
        self.agree(linked())

    def test_good_tensors_are_good(self) -> None:
        """`check` finds nothing in tensors that onnx itself writes: every known type, in both forms."""
        cases = [made(kind, dims, (field, "exact")) for kind in TYPES for dims in SHAPES
                 for field in {own_field(kind), *(() if kind == TensorProto.STRING else ("raw_data",))}
                 if 0 < kind <= NEWEST]  # fmt: skip
        self.assertEqual(self.found([case for case in cases if case]), {})


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    command_line.main()
