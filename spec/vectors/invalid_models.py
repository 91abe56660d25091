"""Faults of the model's messages (M1 to M7). They are named at the field, or at the number, that is
wrong."""

from __future__ import annotations

from collections.abc import Iterator

import wire
from builder import MODEL, Archive
from vector import Invalid, content, model, weight

T, G = 5, 6  # of an AttributeProto: a tensor, a graph


def vectors() -> Iterator[Invalid]:
    yield from no_models()
    yield from wires()
    yield from tags()
    yield from nesting()
    yield from repeated()
    yield from orders()


def refused(
    name: str,
    rule: str,
    about: str,
    data: bytes,
    at: int,
    *,
    case: str | None = None,
    is_linked: bool = False,
    also: tuple[str, ...] = (),
    **sizes: int,
) -> Invalid:
    """This model, and entries of these sizes beside it; `at` counts from the model's first byte."""
    entries = [weight(entry, size) for entry, size in sizes.items()]
    archive = Archive([*entries, model(data)])
    offset = archive.data[-1] + at
    file = bytes(archive.file)
    return Invalid(
        name, about, rule, file, offset, MODEL, "check", case, is_linked=is_linked, also=also
    )


def tensor_refused(
    name: str,
    rule: str,
    about: str,
    tensor: bytes,
    *,
    case: str | None = None,
    at: int = 0,
    size: int = 1024,
    also: tuple[str, ...] = (),
) -> Invalid:
    """A model of one tensor, beside an entry `w`; `at` counts from the tensor's first byte."""
    data = wire.model_of(tensor)
    place = data.index(tensor) + at
    sizes = {"w": size} if size else {}
    how = {"case": case, "is_linked": tensor.endswith(wire.scalar(14, 1)), "also": also}
    return refused(name, rule, about, data, place, **how, **sizes)


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
        ("varint_10_cut", "M3", wire.varint(8) + b"\x80" * 10, 1, "It ends after 10 bytes of 11."),
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
    yield from too_deep_for_links()
    graphs = [wire.graph()]
    for _ in range(500):
        graphs.append(wire.graph(wire.node(wire.attribute(G, graphs[-1]))))
    data = wire.block(7, graphs[-1])
    # All of them end where the model does. The one 100 deep is 33 steps within the outermost.
    at = len(data) - len(graphs[-34]) + len(wire.graph())
    yield refused("depth_1501", "M6", "Messages that nest 1501 deep.", data, at)


def at_level_100(tensor: bytes) -> bytes:
    """A model in which this tensor nests 100 deep, the most there is."""
    graph = wire.graph(wire.node(wire.attribute(T, tensor)))
    for _ in range(32):
        graph = wire.graph(wire.node(wire.attribute(G, graph)))
    return wire.block(7, graph)


def too_deep_for_links() -> Iterator[Invalid]:
    link = wire.link(("location", "w"), ("length", 1024))
    negative = wire.scalar(1, -1)
    for name, rule, tensor, at, about in (
        ("", "M6", wire.tensor("w", link), link, "A link of a tensor 100 deep"),
        (
            "_inline",
            "M6",
            wire.tensor("w", wire.raw(content(1, 1024)), link[:-2]),
            link[:-2],
            "External data of a tensor 100 deep that is not linked",
        ),
        ("_first", "M6", link + negative, link, "A link, then a dimension of -1, 100 deep"),
        ("_behind", "M17", negative + link, negative, "A dimension of -1, then a link, 100 deep"),
    ):
        data = at_level_100(tensor)
        about += "; its pairs are 101 deep."
        at = data.index(at)
        yield refused(f"depth_external{name}", rule, about, data, at, is_linked=rule == "M17")


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
    sparse = wire.block(22, wire.block(1, tensor))
    data = wire.model(wire.node(wire.block(1, "value") + sparse * 2))
    about = "Two sparse tensors in one attribute."
    yield refused("repeated_sparse_tensor", "M7", about, data, data.rindex(sparse))
    training = wire.block(1, wire.graph())
    data = wire.model(behind=wire.block(20, training * 2))
    at = data.rindex(training)
    yield refused("repeated_initialization", "M7", "Two graphs of one training_info.", data, at)


def orders() -> Iterator[Invalid]:
    """Two faults each: the first in the order of the bytes counts, however deep it lies."""
    bad = wire.tensor("w", wire.raw(content(1, 4)), dims=(-1,))
    stray = wire.varint(2 << 3 | 6) + bytes(8)
    data = wire.model(wire.node(wire.attribute(T, bad) + stray))
    about = "A tensor with a dimension of -1, and behind it wire type 6 in the same attribute."
    yield refused("order_attribute", "M17", about, data, data.index(bad), also=("M5",))
    data = wire.model(wire.node(stray + wire.attribute(T, bad)))
    about = "The same, wire type 6 first."
    yield refused("order_attribute_first", "M5", about, data, data.index(stray), also=("M17",))
    data = wire.model(wire.initializer(bad), behind=stray)
    about = "A tensor with a dimension of -1, and behind the graph wire type 6."
    yield refused("order_model", "M17", about, data, data.index(bad), also=("M5",))
