"""Faults of tensors and links (M8 to M21). They are named at the tensor's first byte in the file."""

from __future__ import annotations

from collections.abc import Iterator

import wire
from builder import Archive
from invalid_models import refused, tensor_refused
from vector import Invalid, content, model, weight


def vectors() -> Iterator[Invalid]:
    yield from locations()
    yield from numbers()
    yield from ranges()
    yield from data_beside()
    yield from low_bits()
    yield from shapes()
    yield from types()
    yield from two_fields()
    yield from wrong_fields()
    yield from typed_lengths()


# --- M8 to M14 -----------------------------------------------------------------------------------


def locations() -> Iterator[Invalid]:
    def linked(
        name: str, rule: str, about: str, *pairs: tuple[str, object], case: str | None = None
    ) -> Invalid:
        tensor = wire.tensor("w", wire.link(*pairs, ("length", 1024)))
        return tensor_refused(name, rule, about, tensor, case=case)

    yield linked("location_none", "M8", "No location.")
    yield linked("location_empty", "M8", "An empty location.", ("location", ""))
    for name, location, about in (
        ("missing", "v", "A location that is no entry."),
        ("case", "W", "A location that is an entry's name in another case."),
        ("path", "./w", "A location that leads to an entry as a path."),
        ("parent", "../w", "A location that leads out of the folder."),
        ("file", "/etc/passwd", "A location that is a file's path."),
        ("longer", "w\0", "A location that is an entry's name and a NUL."),
    ):
        case = "x30" if name in ("parent", "file") else None
        yield linked(f"location_{name}", "M9", about, ("location", location), case=case)
    for key, value in (("location", "w"), ("offset", 0), ("length", 1024), ("checksum", "0" * 40)):
        pairs = [("location", "w")] + [(key, value)] * (1 if key == "location" else 2)
        tensor = wire.tensor("w", wire.link(*pairs))
        second = tensor.rindex(wire.pair(key, str(value)))
        about = f"The key {key} is given twice."
        yield tensor_refused(f"key_twice_{key}", "M10", about, tensor, at=second)
    pairs = b"".join(wire.block(13, wire.pair("location", each)) for each in "vw")
    tensor = wire.tensor("w", wire.raw(content(1, 1024)), pairs)
    at = tensor.index(wire.pair("location", "w"))
    about = "The key location is given twice, in a tensor that is not linked."
    yield tensor_refused("key_twice_inline", "M10", about, tensor, at=at, size=0)
    indices = wire.linked("v", kind=wire.INT64, dims=(128,))
    data = wire.model(wire.block(15, wire.block(1, wire.linked("w")) + wire.block(2, indices)))
    about = "Indices of a sparse tensor whose location is no entry."
    yield refused("location_indices", "M9", about, data, data.index(indices), w=1024)
    for name, location in (
        ("ort", "*/_ORT_MEM_ADDR_/*"),
        ("ort_other", "*/_ORT_X"),
        ("onnxar", "#onnxar:1:2"),
        ("onnxar_alone", "#onnxar:"),
    ):
        about = f"A location in a process's memory: {location}."
        yield linked(f"marker_{name}", "M14", about, ("location", location))


def numbers() -> Iterator[Invalid]:
    spelt = (
        ("empty", ""),
        ("sign", "-1"),
        ("plus", "+0"),
        ("zeros", "00"),
        ("leading_zero", "01024"),
        ("hexadecimal", "0x400"),
        ("space", " 0"),
        ("space_behind", "1024 "),
        ("point", "0.0"),
        ("exponent", "1e3"),
        ("letters", "all"),
        ("2_64", str(1 << 64)),
        ("long", "9" * 100),
        ("arabic", "\u0661"),
    )
    for name, text in spelt:
        about = f"An offset spelt {text!r:.30}."
        tensor = wire.linked("w", offset=text)
        yield tensor_refused(f"offset_{name}", "M11", about, tensor)
        about = f"A length spelt {text!r:.30}."
        tensor = wire.linked("w", length=text)
        yield tensor_refused(f"length_{name}", "M12", about, tensor)


def ranges() -> Iterator[Invalid]:
    top = (1 << 64) - 1
    for name, offset, length, about in (
        ("offset", 64, 1024, "The last 64 bytes lie behind the entry."),
        ("by_1", 1, 1024, "The last byte lies behind the entry."),
        ("offset_far", 1 << 40, 1024, "The offset is 2^40."),
        ("offset_wraps", top - 1023, 1024, "Offset and length add up to 2^64."),
        ("offset_max", top, None, "The offset is 2^64 - 1, and there is no length."),
        ("offset_end", 1025, None, "The offset is one byte behind the entry's end."),
        ("no_length", 512, None, "No length: the shape calls for more than there is."),
    ):
        tensor = wire.linked("w", offset=offset, length=length)
        yield tensor_refused(f"range_{name}", "M13", about, tensor, case="x30")
    tensor = wire.linked("w", offset=64)
    archive = Archive([weight("w", local={"time": 1}), model(wire.model_of(tensor))])
    about = "Two faults: another time in an entry's local header, and a link that leaves the entry."
    file = bytes(archive.file)
    yield Invalid("range_and_local", about, "L3", file, 0, "w", stage="use", also=("M13",))
    tensor = wire.linked("w", length=2048, dims=(512,))
    about = "Length and shape call for more than the entry has."
    yield tensor_refused("range_length", "M13", about, tensor, case="x30")
    tensor = wire.linked("w", length=2048, kind=99)
    about = "A length of more than the entry has, of a type that nobody knows."
    yield tensor_refused("range_unknown_type", "M13", about, tensor, case="x30")
    tensor = wire.linked("w", offset=1025, length=None, kind=99)
    about = "An offset behind the entry, no length, and a type that nobody knows."
    yield tensor_refused("range_unknown_rest", "M13", about, tensor, case="x30")


    yield from empty_ranges()


def empty_ranges() -> Iterator[Invalid]:
    """Of no bytes, and yet not in the entry."""
    for name, offset, length, about in (
        ("", 1025, 0, "one byte behind the entry's end"),
        ("_far", (1 << 64) - 1, 0, "at 2^64 - 1"),
        ("_no_length", 1025, None, "one byte behind the entry's end, and no length is given"),
    ):
        tensor = wire.linked("w", offset=offset, length=length, dims=(0,))
        about = f"A link to no bytes {about}."
        yield tensor_refused(f"range_empty{name}", "M13", about, tensor, case="x30")


# --- M15 to M18 ----------------------------------------------------------------------------------


def data_beside() -> Iterator[Invalid]:
    tensor = wire.linked("w", kind=wire.STRING, dims=(2,))
    yield tensor_refused("strings_linked", "M15", "Strings that are linked.", tensor)
    link = wire.link(("location", "w"), ("length", 1024))
    for name, field, about in (
        ("raw", wire.raw(content(2, 1024)), "raw_data beside a link."),
        ("raw_empty", wire.raw(b""), "Empty raw_data beside a link."),
        ("float", wire.varint(4 << 3 | 5) + bytes(4), "A value of float_data beside a link."),
        ("float_packed", wire.block(4, bytes(1024)), "Packed float_data beside a link."),
        ("int32", wire.scalar(5, 1), "A value of int32_data beside a link."),
        ("int64", wire.block(7, b"\1"), "Packed int64_data beside a link."),
        ("string", wire.block(6, "x"), "A value of string_data beside a link."),
        ("double", wire.block(10, bytes(8)), "Packed double_data beside a link."),
        ("uint64", wire.scalar(11, 1), "A value of uint64_data beside a link."),
    ):
        tensor = wire.tensor("w", field, link)
        yield tensor_refused(f"beside_{name}", "M16", about, tensor)


def low_bits() -> Iterator[Invalid]:
    """Parsers take the low 32 bits of numbers that the schema has as 32 bits wide."""
    beyond = 1 << 32
    tensor = wire.tensor("w", wire.scalar(14, beyond | 1))
    about = "data_location is 2^32 + 1, which is EXTERNAL, and there is no location."
    yield tensor_refused("low_bits_location", "M8", about, tensor, size=0)
    tensor = wire.tensor("w", wire.scalar(14, 1), wire.scalar(14, 2))
    about = "data_location is EXTERNAL, then 2, which is no value of it; there is no location."
    yield tensor_refused("low_bits_unknown", "M8", about, tensor, size=0)
    tensor = wire.tensor("w", wire.scalar(14, beyond), wire.scalar(14, (1 << 63) | 1))
    about = "data_location is 2^32, then 2^63 + 1, which is EXTERNAL; there is no location."
    yield tensor_refused("low_bits_last", "M8", about, tensor, size=0)
    tensor = wire.linked("w", kind=beyond | wire.STRING)
    about = "data_type is 2^32 + 8: strings that are linked."
    yield tensor_refused("low_bits_string", "M15", about, tensor)
    tensor = wire.linked("w", kind=beyond | wire.FLOAT, length=1020)
    about = "data_type is 2^32 + 1, FLOAT: one value less than the shape calls for."
    yield tensor_refused("low_bits_length", "M18", about, tensor)
    tensor = wire.linked("w", dims=(beyond | 256,))
    about = "A dimension of 2^32 + 256, all 64 bits of which count."
    yield tensor_refused("low_bits_dims", "M18", about, tensor)


def shapes() -> Iterator[Invalid]:
    raw = wire.raw(content(3, 1024))
    link = wire.link(("location", "w"), ("length", 1024))
    for name, payload, size in (("linked", link, 1024), ("raw", raw, 0)):
        for which, dims, at in (("first", (-1, 256), 0), ("last", (256, -1), 3)):
            tensor = wire.tensor("w", payload, dims=dims)
            about = f"The {which} dimension of a tensor is -1; its data is {name}."
            yield tensor_refused(
                f"dims_negative_{which}_{name}", "M17", about, tensor, at=at, size=size
            )
        for product, dims in (("2_64", (1 << 32, 1 << 30)), ("2_68", (1 << 33, 1 << 33))):
            tensor = wire.tensor("w", payload, dims=dims)
            about = f"Dimensions of {product.replace('_', '^')} bytes or more; the data is {name}."
            yield tensor_refused(f"dims_{product}_{name}", "M17", about, tensor, size=size)
    tensor = wire.tensor("w", dims=(-1,))
    about = "A dimension of a tensor without data is -1."
    yield tensor_refused("dims_negative_no_data", "M17", about, tensor, size=0)
    yield from lengths()


def lengths() -> Iterator[Invalid]:
    for name, kind, dims, length, about in (
        ("less", 1, (256,), 1020, "One value less than the shape calls for."),
        ("more", 1, (256,), 1028, "One value more than the shape calls for."),
        ("by_1", 1, (256,), 1023, "One byte less than the shape calls for."),
        ("zero", 1, (256,), 0, "No bytes, where the shape calls for some."),
        ("no_elements", 1, (0, 7), 4, "Four bytes, where the shape calls for none."),
        ("no_elements_of_new_type", 99, (7, 0), 4, "A type that no version has yet: four bytes, where the shape calls for none."),
        ("int4", 22, (2049,), 1024, "2049 values of 4 bits in 1024 bytes."),
        ("int4_more", 22, (2046,), 1024, "2046 values of 4 bits in 1024 bytes."),
        ("uint2", 25, (4097,), 1024, "4097 values of 2 bits in 1024 bytes."),
        ("float6", 27, (1366,), 1024, "1366 values of 6 bits in 1024 bytes."),
        ("bool", 9, (8,), 1, "8 truth values in a byte."),
    ):
        tensor = wire.linked("w", length=length, kind=kind, dims=dims)
        yield tensor_refused(f"length_of_{name}", "M18", f"Linked: {about}", tensor, size=2048)
        if length < 1024 and 0 not in dims:
            tensor = wire.tensor("w", wire.raw(content(4, length)), kind=kind, dims=dims)
            yield tensor_refused(f"raw_of_{name}", "M18", f"raw_data: {about}", tensor, size=0)


# --- M19 to M21, and M18 of typed data -----------------------------------------------------------


def packed(number: int, *values: int) -> bytes:
    """A packed run of varints."""
    return wire.block(number, b"".join(wire.varint(value) for value in values))


def types() -> Iterator[Invalid]:
    for name, field, size, about in (
        ("linked", wire.link(("location", "w"), ("length", 1024)), 1024, "linked"),
        ("raw", wire.raw(content(1, 1024)), 0, "in raw_data"),
        ("typed", wire.block(4, bytes(1024)), 0, "in float_data"),
        ("no_data", b"", 0, "not there"),
    ):
        tensor = wire.tensor("w", field, kind=0)
        about = f"data_type is UNDEFINED; the data is {about}."
        yield tensor_refused(f"type_undefined_{name}", "M19", about, tensor, size=size)
    tensor = wire.scalar(1, 2) + wire.block(8, "w") + wire.raw(bytes(8))
    yield tensor_refused("type_missing", "M19", "No data_type.", tensor, size=0)
    tensor = wire.linked("w", "nowhere", kind=0)
    about = "data_type is UNDEFINED, and the location is no entry."
    yield tensor_refused("type_before_location", "M19", about, tensor, size=0)


def two_fields() -> Iterator[Invalid]:
    raw, floats = wire.raw(bytes(8)), wire.block(4, bytes(8))
    for name, kind, fields, about in (
        ("raw_and_own", 1, (floats, raw), "raw_data and float_data"),
        ("raw_and_other", 1, (packed(5, 1, 2), raw), "raw_data and int32_data"),
        ("two_typed", 1, (floats, packed(5, 1, 2)), "float_data and int32_data"),
        ("unpacked", 1, (wire.varint(4 << 3 | 5) + bytes(4), raw), "raw_data and one float_data"),
        ("strings", 8, (wire.block(6, "a"), wire.block(6, "b"), raw), "raw_data and string_data"),
        ("unknown_type", 99, (floats, raw), "raw_data and float_data, of a type unknown"),
    ):
        tensor = wire.tensor("w", *fields, kind=kind, dims=(2,))
        about = f"A tensor that is not linked has values in {about}."
        yield tensor_refused(f"values_twice_{name}", "M20", about, tensor, size=0)


def wrong_fields() -> Iterator[Invalid]:
    floats, doubles = wire.block(4, bytes(8)), wire.block(10, bytes(16))
    for name, kind, field, about in (
        ("float_in_int32", 1, packed(5, 1, 2), "FLOAT in int32_data"),
        ("float_in_double", 1, doubles, "FLOAT in double_data"),
        ("double_in_float", 11, floats, "DOUBLE in float_data"),
        ("int64_in_int32", 7, packed(5, 1, 2), "INT64 in int32_data"),
        ("int32_in_int64", 6, packed(7, 1, 2), "INT32 in int64_data"),
        ("uint32_in_int32", 12, packed(5, 1, 2), "UINT32 in int32_data"),
        ("uint8_in_uint64", 2, packed(11, 1, 2), "UINT8 in uint64_data"),
        ("float16_in_float", 10, floats, "FLOAT16 in float_data"),
        ("complex64_in_double", 14, doubles * 2, "COMPLEX64 in double_data"),
        ("int4_in_uint64", 22, packed(11, 1), "INT4 in uint64_data"),
        ("float_in_string", 1, wire.block(6, "1") * 2, "FLOAT in string_data"),
        ("string_in_raw", 8, wire.raw(b"ab"), "STRING in raw_data"),
        ("string_in_int32", 8, packed(5, 1, 2), "STRING in int32_data"),
    ):
        tensor = wire.tensor("w", field, kind=kind, dims=(2,))
        yield tensor_refused(f"field_{name}", "M21", f"Values of type {about}.", tensor, size=0)


def typed_lengths() -> Iterator[Invalid]:
    for name, kind, dims, field, about in (
        ("float", 1, (3,), wire.block(4, bytes(8)), "Two of three FLOATs"),
        ("scalar", 7, (), wire.block(7, b""), "An empty run and empty raw_data for one INT64"),
        ("unpacked", 6, (3,), wire.scalar(5, 1) * 2, "Two of three INT32s, not packed"),
        ("wide", 6, (3,), packed(5, -1, -1), "Two of three INT32s, of ten bytes each"),
        ("complex64", 14, (2,), wire.block(4, bytes(12)), "Three of four numbers of COMPLEX64"),
        ("complex128", 15, (1,), wire.block(10, bytes(8)), "One of two numbers of COMPLEX128"),
        ("int4", 22, (3,), packed(5, 1), "One of two bytes of three INT4s"),
        ("uint2", 25, (5,), packed(5, 1), "One of two bytes of five UINT2s"),
        ("float6", 28, (4,), packed(5, 1, 1, 1), "Three of four FLOAT6E3M2s, which fill three bytes"),
        ("bool", 9, (8,), packed(5, 255), "One of eight BOOLs"),
        ("string", 8, (2,), wire.block(6, "a"), "One of two STRINGs"),
    ):
        fields = (field, wire.raw(b"")) if name == "scalar" else (field,)
        tensor = wire.tensor("w", *fields, kind=kind, dims=dims)
        yield tensor_refused(f"typed_of_{name}", "M18", f"{about}.", tensor, size=0)
    tensor = wire.tensor("w", wire.block(4, bytes(8)), wire.raw(b""), dims=(2,))
    about = "Empty raw_data beside all values in float_data: it has too few bytes."
    yield tensor_refused("raw_of_empty_beside_typed", "M18", about, tensor, size=0)
    tensor = wire.tensor("w", wire.raw(b""), dims=(2,))
    yield tensor_refused("raw_of_empty", "M18", "Empty raw_data for two FLOATs.", tensor, size=0)
    tensor = wire.tensor("w", wire.block(6, "a"), kind=8, dims=(1 << 40, 1 << 40))
    about = "One of 2^80 STRINGs."
    yield tensor_refused("typed_of_many_strings", "M18", about, tensor, size=0)
    for name, kind, field, about in (
        ("raw", 1, wire.raw(bytes(4)), "raw_data"),
        ("float", 1, wire.block(4, bytes(4)), "float_data"),
        ("string", 8, wire.block(6, ""), "string_data"),
        ("unknown_type", 99, wire.raw(bytes(4)), "raw_data of a type unknown"),
    ):
        tensor = wire.tensor("w", field, kind=kind, dims=(0, 7))
        about = f"A tensor without elements that has {about}."
        yield tensor_refused(f"values_of_none_{name}", "M18", about, tensor, size=0)
