"""Faults of chapter 6: the model. A tensor's are named at its first byte in the file, those of
protobuf's wire at the field, or at the number, that is wrong."""

from __future__ import annotations

from collections.abc import Iterator

import wire
from builder import MODEL, Archive
from vector import Invalid, content, model, weight

G = 6  # of an AttributeProto: a graph


def vectors() -> Iterator[Invalid]:
    yield from no_models()
    yield from wires()
    yield from tags()
    yield from nesting()
    yield from repeated()
    yield from locations()
    yield from numbers()
    yield from ranges()
    yield from data_beside()
    yield from shapes()


def refused(
    name: str, rule: str, about: str, data: bytes, at: int, *, case: str | None = None, **sizes: int
) -> Invalid:
    """This model, and entries of these sizes beside it; `at` counts from the model's first byte."""
    entries = [weight(entry, size) for entry, size in sizes.items()]
    archive = Archive([*entries, model(data)])
    offset = archive.data[-1] + at
    return Invalid(name, about, rule, bytes(archive.file), offset, MODEL, "check", case)


def tensor_refused(
    name: str,
    rule: str,
    about: str,
    tensor: bytes,
    *,
    case: str | None = None,
    at: int = 0,
    size: int = 1024,
) -> Invalid:
    """A model of one tensor, beside an entry `w`; `at` counts from the tensor's first byte."""
    data = wire.model_of(tensor)
    place = data.index(tensor) + at
    return refused(name, rule, about, data, place, case=case, **({"w": size} if size else {}))


# --- M1 ------------------------------------------------------------------------------------------


def no_models() -> Iterator[Invalid]:
    graph = wire.graph()
    for name, data, about in (
        ("empty", b"", "A model of no bytes."),
        ("no_graph", wire.scalar(1, 8), "A model without a graph."),
        ("other_fields", wire.block(2, "producer") + wire.block(8, b""), "Other fields, no graph."),
        ("graph_number", wire.scalar(7, 1), "The graph's field holds a number."),
        ("training_graph", wire.block(20, wire.block(1, graph)), "A graph for training alone."),
        ("function", wire.block(25, wire.node()), "A function alone."),
    ):
        yield refused(f"model_{name}", "M1", about, data, 0)


# --- M2 to M5 ------------------------------------------------------------------------------------


def wires() -> Iterator[Invalid]:
    head = wire.scalar(1, 8) + wire.block(7, wire.graph())
    graph = wire.block(2, "graph")
    for name, rule, tail, at, about in (
        ("tag", "M2", b"\x80", 0, "The model ends in a tag."),
        ("number", "M2", wire.varint(8) + b"\x80", 1, "The model ends in a number."),
        ("no_number", "M2", wire.varint(8), 1, "The model ends before a number."),
        (
            "fixed64",
            "M2",
            wire.varint(10 << 3 | 1) + bytes(7),
            0,
            "The model ends in a field of 64 bits.",
        ),
        (
            "fixed32",
            "M2",
            wire.varint(10 << 3 | 5) + bytes(3),
            0,
            "The model ends in a field of 32 bits.",
        ),
        ("bytes", "M2", wire.block(2, "x")[:-1], 0, "The model ends in a string."),
        (
            "length",
            "M2",
            wire.varint(2 << 3 | 2) + wire.varint((1 << 64) - 1),
            0,
            "A string of 2^64 - 1.",
        ),
        ("no_length", "M2", wire.varint(2 << 3 | 2), 1, "The model ends before a length."),
        ("varint_11", "M3", wire.varint(8) + b"\x80" * 10 + b"\0", 1, "A number of 11 bytes."),
        ("varint_65_bits", "M3", wire.varint(8) + b"\xff" * 9 + b"\2", 1, "A number of 65 bits."),
        ("varint_length", "M3", b"\x12" + b"\xff" * 10 + b"\1", 1, "A length of 11 bytes."),
    ):
        yield refused(f"wire_{name}", rule, about, head + tail, len(head) + at)
    # A field that ends outside of the message it is in, but inside of the model.
    for name, field, about in (
        ("in_graph", wire.varint(5 << 3 | 2) + wire.varint(3), "A tensor leaves the graph."),
        ("name_in_graph", wire.varint(10 << 3 | 2) + wire.varint(1), "A string leaves the graph."),
    ):
        data = wire.block(7, graph + field) + wire.block(2, "producer")
        yield refused(f"wire_{name}", "M2", about, data, data.index(graph) + len(graph))
    tensor = wire.tensor("w", wire.varint(9 << 3 | 2) + wire.varint(9), dims=(1,))
    about = "The raw_data of a tensor leaves the tensor."
    yield tensor_refused("wire_in_tensor", "M2", about, tensor, at=len(tensor) - 2, size=0)
    for name, field, values, at, sentence in (
        ("varints", 7, b"\1\x80", 1, "numbers ends in the middle of one"),
        ("floats", 4, bytes(5), -2, "floats holds 5 bytes"),
        ("doubles", 10, bytes(12), -2, "doubles holds 12 bytes"),
    ):
        tensor = wire.tensor("w", wire.block(field, values), dims=(2,))
        about = f"A packed run of {sentence}."
        start = tensor.index(wire.block(field, values)) + 2
        yield tensor_refused(f"wire_packed_{name}", "M2", about, tensor, at=start + at, size=0)
    pair = wire.block(1, "location") + wire.varint(2 << 3 | 2) + wire.varint(9)
    tensor = wire.tensor("w", wire.block(13, pair) + wire.scalar(14, 1))
    about = "The value of a pair in external_data leaves it."
    at = tensor.index(pair) + len(pair) - 2
    yield tensor_refused("wire_in_pair", "M2", about, tensor, at=at, size=0)


def tags() -> Iterator[Invalid]:
    head = wire.scalar(1, 8) + wire.block(7, wire.graph())
    for name, rule, field, about in (
        ("field_0", "M4", wire.varint(0) + b"\0", "Field number 0."),
        ("field_0_bytes", "M4", wire.varint(2) + b"\0", "Field number 0, with a length."),
        ("field_2_29", "M4", wire.varint(1 << 32) + b"\0", "Field number 2^29."),
        ("tag_6_bytes", "M4", wire.varint(8, 6) + b"\1", "A tag of 6 bytes."),
        ("tag_10_bytes", "M4", wire.varint((1 << 64) - 8) + b"\1", "A tag of 10 bytes."),
        ("group", "M5", wire.varint(2 << 3 | 3) + wire.varint(2 << 3 | 4), "A group, empty."),
        ("group_end", "M5", wire.varint(2 << 3 | 4), "A group's end."),
        ("type_6", "M5", wire.varint(2 << 3 | 6) + bytes(8), "Wire type 6."),
        ("type_7", "M5", wire.varint(2 << 3 | 7) + bytes(8), "Wire type 7."),
    ):
        yield refused(f"wire_{name}", rule, about, head + field, len(head))
    field = wire.varint(2 << 3 | 6) + bytes(8)
    tensor = wire.tensor("w", wire.raw(content(1, 4)), field, dims=(1,))
    at = len(tensor) - len(field)
    about = "Wire type 6 in a tensor."
    yield tensor_refused("wire_type_in_tensor", "M5", about, tensor, at=at, size=0)


# --- M6 and M7 -----------------------------------------------------------------------------------


def nesting() -> Iterator[Invalid]:
    """Each step of graph, node, attribute is 3 messages deeper; 33 of them and a graph are 100."""
    node = wire.node()
    for name, innermost, about in (
        ("101", wire.graph(node), "Messages that nest 101 deep: a node too many."),
        (
            "tensor_101",
            wire.graph(wire.initializer(wire.tensor("w", dims=(0,)))),
            "A tensor 101 deep.",
        ),
    ):
        graph = innermost
        for _ in range(33):
            graph = wire.graph(wire.node(wire.attribute(G, graph)))
        data = wire.block(7, graph)
        at = data.index(innermost) + len(wire.graph())
        yield refused(f"depth_{name}", "M6", about, data, at)
    graphs = [wire.graph()]
    for _ in range(500):
        graphs.append(wire.graph(wire.node(wire.attribute(G, graphs[-1]))))
    data = wire.block(7, graphs[-1])
    # All of them end where the model does. The one 100 deep is 33 steps within the outermost.
    at = len(data) - len(graphs[-34]) + len(wire.graph())
    yield refused("depth_1501", "M6", "Messages that nest 1501 deep.", data, at)


def repeated() -> Iterator[Invalid]:
    graph = wire.block(7, wire.graph())
    yield refused("repeated_graph", "M7", "Two graphs.", graph * 2, len(graph))
    attribute = wire.attribute(G, wire.graph(), wire.graph())
    data = wire.model(wire.node(attribute))
    field = wire.block(G, wire.graph())
    yield refused(
        "repeated_subgraph", "M7", "Two graphs in one attribute.", data, data.rindex(field)
    )
    tensor = wire.tensor("w", wire.raw(content(1, 4)), dims=(1,))
    data = wire.model(wire.node(wire.attribute(5, tensor, tensor)))
    at = data.rindex(wire.block(5, tensor))
    yield refused("repeated_tensor", "M7", "Two tensors in one attribute.", data, at)
    data = wire.model(wire.block(15, wire.block(1, tensor) * 2))
    at = data.rindex(wire.block(1, tensor))
    yield refused("repeated_values", "M7", "Two values of one sparse tensor.", data, at)
    training = wire.block(1, wire.graph())
    data = wire.model(behind=wire.block(20, training * 2))
    at = data.rindex(training)
    yield refused("repeated_initialization", "M7", "Two graphs of one training_info.", data, at)


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
    tensor = wire.linked("w", length=2048, dims=(512,))
    about = "Length and shape call for more than the entry has."
    yield tensor_refused("range_length", "M13", about, tensor, case="x30")
    tensor = wire.linked("w", length=2048, kind=99)
    about = "A length of more than the entry has, of a type that nobody knows."
    yield tensor_refused("range_unknown_type", "M13", about, tensor, case="x30")
    tensor = wire.linked("w", offset=1025, length=None, kind=99)
    about = "An offset behind the entry, no length, and a type that nobody knows."
    yield tensor_refused("range_unknown_rest", "M13", about, tensor, case="x30")


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
        ("int4", 22, (2049,), 1024, "2049 values of 4 bits in 1024 bytes."),
        ("int4_more", 22, (2046,), 1024, "2046 values of 4 bits in 1024 bytes."),
        ("uint2", 25, (4097,), 1024, "4097 values of 2 bits in 1024 bytes."),
        ("bool", 9, (8,), 1, "8 truth values in a byte."),
    ):
        tensor = wire.linked("w", length=length, kind=kind, dims=dims)
        yield tensor_refused(f"length_of_{name}", "M18", f"Linked: {about}", tensor, size=2048)
        if length < 1024 and name != "no_elements":
            tensor = wire.tensor("w", wire.raw(content(4, length)), kind=kind, dims=dims)
            yield tensor_refused(f"raw_of_{name}", "M18", f"raw_data: {about}", tensor, size=0)
