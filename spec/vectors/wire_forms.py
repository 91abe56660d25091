"""The wire types that a known field has: rules M2 and M3 in tensors ("Wire types" in checking.md).

A repeated number may be packed or not, in any mixture. A known field of any other wire type is an
unknown one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import wire
from builder import Archive
from invalid_models import tensor_refused
from vector import Invalid, Valid, Vector, content, model, weight

FLOATS, INT32S, INT64S, DOUBLES, UINT64S = 4, 5, 7, 10, 11
FIXED64, FIXED32 = 1, 5  # wire types


def vectors() -> Iterator[Vector]:
    yield from numbers()
    yield from dims()
    yield from other_types()
    yield from cut_numbers()
    yield from cut_fields()
    yield from missing_for_other_types()


def valid(name: str, about: str, *tensors: bytes, **remarks: tuple[str, ...]) -> Valid:
    return Valid(f"wire_{name}", about, Archive([model(wire.model_of(*tensors))]), **remarks)


def fixed(number: int, wire_type: int, *values: bytes) -> bytes:
    tag = wire.varint(number << 3 | wire_type)
    return b"".join(tag + value for value in values)


def packed(number: int, *values: int) -> bytes:
    return wire.block(number, b"".join(map(wire.varint, values)))


# --- both forms are known ------------------------------------------------------------------------


def numbers() -> Iterator[Valid]:
    single = [struct.pack("<f", n) for n in range(5)]
    double = [struct.pack("<d", n) for n in range(5)]
    one_by_one = {
        FLOATS: lambda low, high: fixed(FLOATS, FIXED32, *single[low:high]),
        DOUBLES: lambda low, high: fixed(DOUBLES, FIXED64, *double[low:high]),
    }
    in_a_run = {
        FLOATS: lambda low, high: wire.block(FLOATS, b"".join(single[low:high])),
        DOUBLES: lambda low, high: wire.block(DOUBLES, b"".join(double[low:high])),
    }
    for name, number, kind in (
        ("float", FLOATS, 1),
        ("int32", INT32S, 6),
        ("int64", INT64S, 7),
        ("double", DOUBLES, 11),
        ("uint64", UINT64S, 13),
    ):

        def unpacked(low: int, high: int, number: int = number) -> bytes:
            if number in one_by_one:
                return one_by_one[number](low, high)
            return b"".join(wire.scalar(number, 300 * value) for value in range(low, high))

        def run(low: int, high: int, number: int = number) -> bytes:
            if number in in_a_run:
                return in_a_run[number](low, high)
            return packed(number, *(300 * value for value in range(low, high)))

        tensor = wire.tensor("w", unpacked(0, 5), kind=kind, dims=(5,))
        yield valid(f"{name}_unpacked", f"{name}_data whose values are fields of their own.", tensor)
        mixture = run(0, 2) + unpacked(2, 3) + run(3, 3) + run(3, 5)
        tensor = wire.tensor("w", mixture, kind=kind, dims=(5,))
        about = f"{name}_data as a run, a value alone, an empty run and a run."
        yield valid(f"{name}_mixed", about, tensor)


def dims() -> Iterator[Valid]:
    data = wire.raw(content(1, 24))
    shape = packed(1, 1, 2) + wire.scalar(1, 3) + packed(1) + packed(1, 1)
    tensor = shape + wire.tensor("w", data, dims=())
    about = "Dimensions as a run, one alone, an empty run and a run: 1 x 2 x 3 x 1."
    yield valid("dims_mixed", about, tensor)


def other_types() -> Iterator[Valid]:
    """What is skipped, as a field that no schema knows."""
    data = wire.raw(content(1, 8))
    tensor = wire.tensor("w", data, fixed(1, FIXED32, bytes(4)), fixed(1, FIXED64, bytes(8)), dims=(2,))
    yield valid("dims_fixed", "Fields of dims of 32 and of 64 bits.", tensor)
    strays = (
        wire.scalar(FLOATS, 1),
        fixed(FLOATS, FIXED64, bytes(8)),
        fixed(INT32S, FIXED32, bytes(4)),
        wire.scalar(6, 1),
        fixed(INT64S, FIXED64, bytes(8)),
        wire.scalar(DOUBLES, 1),
        fixed(DOUBLES, FIXED32, bytes(4)),
        fixed(UINT64S, FIXED64, bytes(8)),
    )
    tensor = wire.tensor("w", data, *strays, dims=(2,))
    about = "raw_data beside fields of typed data with wire types that are not theirs."
    yield valid("typed_data_other_type", about, tensor)
    tensor = wire.tensor("w", data, wire.block(2, b"\7"), fixed(2, FIXED32, bytes(4)), dims=(2,))
    yield valid("data_type_other_type", "Fields of data_type that are no varints.", tensor)
    tensor = wire.tensor("w", data, wire.block(14, b"\1"), fixed(14, FIXED32, b"\1\0\0\0"), dims=(2,))
    about = "Fields of data_location that are no varints, of 1: not linked."
    yield valid("data_location_other_type", about, tensor)
    tensor = wire.tensor("w", data, wire.scalar(9, 1), fixed(9, FIXED64, bytes(8)), dims=(2,))
    yield valid("raw_data_other_type", "Fields of raw_data that hold numbers.", tensor)
    odd = fixed(13, FIXED32, bytes(4)) + wire.scalar(13, 1)
    pair = wire.scalar(1, 1) + wire.pair("location", "w") + fixed(2, FIXED64, bytes(8))
    tensor = wire.tensor("w", odd, wire.block(13, pair), wire.link(("length", 1024)))
    archive = Archive([weight("w"), model(wire.model_of(tensor))])
    about = "Fields of external_data, and of a key and a value in it, that hold numbers."
    yield Valid("wire_external_data_other_type", about, archive)


# --- what is cut off -----------------------------------------------------------------------------


def cut_numbers() -> Iterator[Invalid]:
    """They are named at the number."""
    long, wide = b"\x80" * 10 + b"\0", b"\xff" * 9 + b"\2"
    for name, number in (
        ("dims", 1),
        ("int32", INT32S),
        ("int64", INT64S),
        ("uint64", UINT64S),
    ):
        for rule, kind, bad, words in (
            ("M2", "cut", b"\x80", "ends in the middle of a number"),
            ("M3", "long", long, "has a number of 11 bytes"),
            ("M3", "wide", wide, "has a number of 65 bits"),
        ):
            run = wire.block(number, wire.varint(300) + bad)
            tensor = run + wire.tensor("w", dims=())
            about = f"A packed run of {name} {words}, the second one."
            yield tensor_refused(f"wire_packed_{name}_{kind}", rule, about, tensor, at=4, size=0)
    for name, field, about in (
        ("dims", 1, "A dimension"),
        ("data_type", 2, "The data type"),
        ("int32", INT32S, "A value of int32_data"),
        ("uint64", UINT64S, "A value of uint64_data"),
        ("data_location", 14, "The data location"),
    ):
        tensor = wire.tensor("w", dims=(2,)) + wire.varint(field << 3) + b"\x80"
        about += " leaves the tensor, in the middle of the number."
        at = len(tensor) - 1
        yield tensor_refused(f"wire_number_{name}", "M2", about, tensor, at=at, size=0)
    tensor = wire.tensor("w", dims=(2,)) + b"\xf8"
    about = "A tag leaves the tensor."
    yield tensor_refused("wire_tag_in_tensor", "M2", about, tensor, at=len(tensor) - 1, size=0)


def cut_fields() -> Iterator[Invalid]:
    """They are named at the field."""
    head = wire.tensor("w", dims=(2,))
    for name, field, about in (
        ("float", fixed(FLOATS, FIXED32, bytes(3)), "A value of float_data leaves the tensor."),
        ("double", fixed(DOUBLES, FIXED64, bytes(7)), "A value of double_data leaves the tensor."),
        ("int32_fixed", fixed(INT32S, FIXED32, b""), "A field of 32 bits without a byte of them."),
    ):
        tensor = head + field
        at = len(head)
        yield tensor_refused(f"wire_cut_{name}", "M2", about, tensor, at=at, size=0)
    bad = wire.block(FLOATS, bytes(5))
    minus = wire.scalar(1, -1)
    tensor = bad + wire.tensor("w", minus, dims=())
    about = "Two faults: a packed run of 5 bytes of floats, then a dimension of -1, seen first."
    at = len(tensor) - len(minus)
    yield tensor_refused("wire_run_and_dims", "M17", about, tensor, at=at, size=0, also=("M2",))


def missing_for_other_types() -> Iterator[Invalid]:
    raw = wire.raw(content(1, 8))
    tensor = wire.scalar(1, 2) + wire.block(2, b"\1") + wire.block(8, "w") + raw
    about = "A data_type as a packed run, which a field that is not repeated does not have."
    yield tensor_refused("wire_data_type_packed", "M19", about, tensor, size=0)
    tensor = wire.tensor("w", wire.scalar(13, 1), wire.scalar(14, 1))
    about = "Linked, and external_data is a number: there is no location."
    yield tensor_refused("wire_external_data_number", "M8", about, tensor, size=0)
    pair = wire.block(1, "location") + wire.scalar(2, 1)
    tensor = wire.tensor("w", wire.block(13, pair), wire.scalar(14, 1))
    about = "Linked, and the value of the location is a number: it is empty."
    yield tensor_refused("wire_location_number", "M8", about, tensor, size=0)
