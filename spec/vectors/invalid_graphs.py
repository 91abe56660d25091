"""Archives that break rule G2 or G3, or a rule of models in a further graph (../graphs.md)."""

from __future__ import annotations

from collections.abc import Iterator

import wire
from builder import Archive, Entry
from graph_entries import graph, linked, main, metadata
from vector import Invalid, content, model, weight


def vectors() -> Iterator[Invalid]:
    yield from broken_graphs()
    yield from broken_tensors()
    yield from links_to_archives()


def refused(
    name: str, rule: str, about: str, data: bytes, at: int, *, case: str | None = None
) -> Invalid:
    """A further graph of these bytes beside `w`; `at` counts from its first byte."""
    archive = Archive([weight("w"), Entry("b.onnx", data), main(linked())])
    offset = archive.data[1] + at
    file = bytes(archive.file)
    return Invalid(f"graph_{name}", about, rule, file, offset, "b.onnx", "check", case)


def broken_graphs() -> Iterator[Invalid]:
    whole = wire.model()
    head = wire.scalar(1, 8) + wire.block(7, wire.graph())
    for name, rule, data, at, about in (
        ("empty", "M1", b"", 0, "A graph of no bytes."),
        ("no_graph", "M1", wire.scalar(1, 8), 0, "A ModelProto without a graph."),
        ("cut", "M2", whole[:-1], whole.rindex(wire.block(8, b"")[:1]), "Its last byte is missing."),
        ("varint", "M3", head + b"\x08" + b"\x80" * 10 + b"\0", len(head) + 1, "A long number."),
        ("tag_0", "M4", head + b"\0\0", len(head), "A field of number 0."),
        ("wire_type", "M5", head + b"\x0b", len(head), "A group begins."),
        ("twice", "M7", head + wire.block(7, b""), len(head), "Its graph is given twice."),
    ):
        if name == "cut":
            at = whole.index(wire.block(8, wire.block(1, "") + wire.scalar(2, 17)))
        yield refused(name, rule, about, data, at)
    text = b"ir_version: 8 graph { }\n"
    yield refused("text", "M5", "A model as text.", b"\x0b" + text, 0)
    about = "The first of two graphs is broken, and the second is not."
    archive = Archive([graph(name="c.onnx"), Entry("b.onnx", b""), graph(name="a.onnx"), model()])
    file = bytes(archive.file)
    yield Invalid("graph_first", about, "M1", file, archive.data[1], "b.onnx", "check")
    archive = Archive([graph(name="c.onnx"), graph(name="a.onnx"), Entry("b.onnx", b""), model()])
    file, about = bytes(archive.file), "The last of three graphs is broken."
    yield Invalid("graph_last", about, "M1", file, archive.data[2], "b.onnx", "check")
    archive = Archive([weight("w"), graph(linked(), both={"crc32": 1}), main(linked())])
    about = "A graph's bytes have another CRC-32."
    file = bytes(archive.file)
    yield Invalid("graph_crc", about, "T1", file, archive.data[1], "b.onnx", "data")
    archive = Archive([weight("w"), graph(linked(), local={"time": 1}), main(linked())])
    about = "A graph's local header has another time."
    file = bytes(archive.file)
    yield Invalid("graph_local", about, "L3", file, archive.headers[1], "b.onnx", "use")


def broken_tensors() -> Iterator[Invalid]:
    """One for each rule; other files go through the rules of tensors."""
    data = wire.raw(content(1, 1024))
    key = wire.pair("location", "w")
    twice = wire.tensor("w", wire.block(13, key) * 2, wire.scalar(14, 1))
    for name, rule, tensor, about in (
        ("no_location", "M8", wire.tensor("w", wire.link(("length", 1024))), "no location"),
        ("missing", "M9", linked("v"), "a location that is not an entry"),
        ("path", "M9", linked("./w"), "a location that is a path to an entry"),
        ("offset", "M11", linked(offset="+0"), "an offset with a sign"),
        ("length", "M12", linked(length="01024"), "a length with a zero in front"),
        ("range", "M13", linked(offset=64), "a range that leaves the entry"),
        ("marker", "M14", linked("*/_ORT_MEM_ADDR_/*"), "a location in memory"),
        ("string", "M15", linked(kind=wire.STRING), "strings that are linked"),
        ("beside", "M16", linked() + data, "data beside its link"),
        ("dims", "M17", linked(dims=(-1,)), "a negative dimension"),
        ("link_length", "M18", linked(length=1020), "a link that is too short"),
        ("raw_length", "M18", wire.tensor("w", wire.raw(bytes(4))), "too little data"),
        ("no_type", "M19", linked(kind=0), "no data type"),
        ("two_fields", "M20", wire.tensor("w", data, wire.block(4, bytes(1024))), "data twice"),
        ("field", "M21", wire.tensor("w", wire.block(10, bytes(2048))), "data in a wrong field"),
        ("key_twice", "M10", twice, "a location that is given twice"),
    ):
        model_bytes = graph(tensor).data
        at = model_bytes.index(tensor)
        if rule == "M10":
            at += tensor.rindex(key)
        about = f"A tensor of a further graph has {about}."
        yield refused(f"tensor_{name}", rule, about, model_bytes, at)


def links_to_archives() -> Iterator[Invalid]:
    for name, pairs, skipped in (
        ("archive", [("onnxar.link.archive", "m.onnxar")], 0),
        ("prefix", [("onnxar.link.", "")], 0),
        ("unknown", [("onnxar.link.x", "y")], 0),
        ("second", [("x", "y"), ("onnxar.link.size", "1")], 1),
        ("two", [("onnxar.link.size", "1"), ("onnxar.link.offset", "0")], 0),
    ):
        fields = [metadata(*pair) for pair in pairs]
        data = graph(behind=b"".join(fields)).data
        at = len(data) - len(b"".join(fields[skipped:]))
        about = f"A further graph has the key {pairs[skipped][0]}, as links have."
        yield refused(f"link_{name}", "G3", about, data, at)
    pair = wire.block(14, wire.block(1, "x") + wire.pair("onnxar.link.size", "1"))
    data = graph(behind=pair).data
    about = "A pair of a further graph with two keys, the last one as links have."
    yield refused("link_last_key", "G3", about, data, len(data) - len(pair))
