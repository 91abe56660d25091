"""Archives that a reader accepts: the models in them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import wire
from builder import MODEL, Archive, Entry
from vector import Valid, content, model, side_file, weight

T, G, TENSORS, GRAPHS, SPARSE_TENSOR, SPARSE_TENSORS = 5, 6, 10, 11, 22, 23

# Name, number, dimensions, bytes: types of unusual width, most with a last byte that is not full.
TYPES = (
    ("COMPLEX128", 15, (64,), 1024),
    ("BFLOAT16", 16, (2, 256), 1024),
    ("FLOAT8E4M3FN", 17, (1024,), 1024),
    ("UINT4", 21, (2047,), 1024),
    ("INT4", 22, (2047,), 1024),
    ("FLOAT4E2M1", 23, (1, 2049), 1025),
    ("FLOAT8E8M0", 24, (1025,), 1025),
    ("UINT2", 25, (4093,), 1024),
    ("INT2", 26, (4097,), 1025),
    ("FLOAT6E2M3", 27, (1365,), 1024),
    ("FLOAT6E3M2", 28, (2, 683), 1025),
)


def vectors() -> Iterator[Valid]:
    yield from links()
    yield from oddities()
    yield from shapes()
    yield from remarks()
    yield from places_of_tensors()
    yield from spellings()


def archive_of(entries: list[Entry], *tensors: bytes) -> Archive:
    return Archive([*entries, model(wire.model_of(*tensors))])


# --- links ---------------------------------------------------------------------------------------


def links() -> Iterator[Valid]:
    tied = (wire.linked("w"), wire.linked("copy", "w"))
    about = "Two tensors that share their data."
    notes = ("archive.entry.shared",)
    yield Valid("link_tied", about, archive_of([weight("w")], *tied), notes=notes)
    parts = (wire.linked("w", "all", 0), wire.linked("v", "all", 1024))
    about = "Two tensors in one entry: `offset` counts from the entry's data."
    yield Valid("link_offset", about, archive_of([weight("all", 2048)], *parts))
    tensor = wire.linked("w", length=None)
    about = "No `length`, and a shape that says it; the entry is longer."
    yield Valid("link_no_length", about, archive_of([weight("w", 1100)], tensor))
    tensor = wire.linked("w", offset=64, length=None, kind=99)
    about = "No `length` and a type that nobody knows: all bytes from `offset` on."
    archive = archive_of([weight("w", 1100)], tensor)
    yield Valid("link_no_length_unknown_type", about, archive, has_known_types=False)
    tensor = wire.linked("w", offset=1024, length=0, dims=(0,))
    about = "A link to no bytes at the entry's end."
    archive = archive_of([weight("w")], tensor)
    yield Valid("link_empty_at_end", about, archive, warnings=("onnx.external.small",))
    about = "A link to no bytes at byte 8: small, and not at a multiple of 64."
    tensor = wire.linked("w", offset=8, length=0, dims=(0,))
    warnings = ("onnx.external.small", "onnx.external.unaligned")
    yield Valid("link_empty_unaligned", about, archive_of([weight("w")], tensor), warnings=warnings)
    about = "Two links to the same place and no bytes: they share no data."
    tensors = [wire.linked(name, "w", offset=64, length=0, dims=(0,)) for name in "ab"]
    archive = archive_of([weight("w")], *tensors)
    yield Valid("link_empty_twice", about, archive, warnings=("onnx.external.small",))
    yield from orders()
    entries = [Entry(name, content(3, 1024)) for name in ("conv1_weight", "_0")]
    tensors = wire.linked("conv1/weight:0", "conv1_weight"), wire.linked("0", "_0")
    about = "Entries whose names a writer made of the tensors'."
    yield Valid("link_mangled", about, archive_of(entries, *tensors))


def orders() -> Iterator[Valid]:
    """Writers write `location`, `offset` and `length`, in this order; readers take others."""
    tensor = wire.linked("w", offset=None)
    about = "No `offset`: the data begins where the entry's does."
    yield Valid("link_no_offset", about, archive_of([weight("w", 1100)], tensor))
    tensor = wire.linked("w", offset=None, length=None)
    about = "Neither `offset` nor `length`."
    yield Valid("link_location_alone", about, archive_of([weight("w", 1100)], tensor))
    pairs = ("location", "all"), ("offset", 64), ("length", 1024)
    tensors = [
        wire.tensor(f"w{number}", wire.link(*order))
        for number, order in enumerate(itertools.permutations(pairs))
    ]
    about = "`location`, `offset` and `length` in each of the six orders."
    notes = ("archive.entry.shared",)
    yield Valid("link_orders", about, archive_of([weight("all", 1088)], *tensors), notes=notes)
    pairs = b"".join(
        wire.block(13, wire.pair(*each)) for each in (("length", "1024"), ("location", "w"))
    )
    tensor = wire.scalar(14, 1) + wire.tensor("w", pairs)
    about = "data_location before everything else, and `length` before `location`."
    yield Valid("link_place_first", about, archive_of([weight("w")], tensor))


def oddities() -> Iterator[Valid]:
    tensor = wire.linked("w", MODEL) + wire.block(12, "doc" * 400)
    yield Valid("link_to_model", "A link to the model's own bytes.", archive_of([], tensor))
    inline = wire.raw(content(1, 1024))
    pairs = wire.block(13, wire.pair("location", "nowhere"))
    tensor = wire.tensor("w", pairs, inline)
    about = "A location in a tensor that is not linked."
    yield Valid("link_not_external", about, archive_of([], tensor))
    tensor = wire.tensor("w", pairs, wire.scalar(14, 2), inline)
    about = "A location, and a data_location that no schema knows: not linked."
    yield Valid("link_unknown_data_location", about, archive_of([], tensor))
    pairs_of_v = wire.block(13, wire.pair("location", "v"))
    tensor = wire.tensor("v", pairs_of_v, inline)
    about = "A location in a tensor that is not linked: its entry is unused."
    archive, warnings = archive_of([weight("v")], tensor), ("archive.entry.unused",)
    yield Valid("link_not_external_unused", about, archive, warnings=warnings)
    yield from low_bits(pairs, inline)
    tensor = wire.tensor("w", wire.block(4, b""), wire.link(("location", "w")))
    about = "An empty packed run beside a link: no data."
    yield Valid("link_beside_nothing", about, archive_of([weight("w")], tensor))


def low_bits(pairs: bytes, inline: bytes) -> Iterator[Valid]:
    """Parsers take the low 32 bits of numbers that the schema has as 32 bits wide."""
    for name, values, about in (
        ("_2_32_2", (1 << 32 | 2,), "2^32 + 2, which no schema knows"),
        ("_minus_1", (-1,), "-1, which no schema knows"),
        ("_2_32", (1, 1 << 32), "EXTERNAL, then 2^32, which is DEFAULT"),
    ):
        location = b"".join(wire.scalar(14, value) for value in values)
        tensor = wire.tensor("w", pairs, location, inline)
        about = f"A location, and a data_location of {about}: not linked."
        yield Valid(f"link_unknown_data_location{name}", about, archive_of([], tensor))
    external = wire.block(13, wire.pair("location", "w")) + wire.scalar(14, 1 << 32 | 1)
    tensor = wire.tensor("w", external, kind=1 << 32 | 1)
    about = "A data_location of 2^32 + 1 and a data_type of 2^32 + 1: linked, of type FLOAT."
    yield Valid("link_low_bits", about, archive_of([weight("w", 1100)], tensor))


def shapes() -> Iterator[Valid]:
    entries = [weight(name.lower(), size) for name, _, _, size in TYPES]
    tensors = [
        wire.linked(name.lower(), length=size, kind=kind, dims=dims)
        for name, kind, dims, size in TYPES
    ]
    about = "Tensors of types of unusual width."
    yield Valid("types", about, archive_of(entries, *tensors))
    about = "A type that nobody knows: its length is not judged."
    tensor = wire.linked("w", kind=99, dims=(3, 5))
    archive = archive_of([weight("w")], tensor)
    yield Valid("type_unknown", about, archive, has_known_types=False)
    about = "A type that nobody knows and 2^80 elements: neither elements nor length are judged."
    huge = (1 << 40, 1 << 40)
    tensor = wire.linked("w", kind=99, dims=huge)
    archive = archive_of([weight("w")], tensor)
    yield Valid("type_unknown_huge", about, archive, has_known_types=False)
    about = "The same with data in the model, in a typed field and in raw_data."
    fields = wire.block(10, bytes(8)), wire.raw(bytes(8))
    tensors = [wire.tensor(name, each, kind=99, dims=huge) for name, each in zip("uv", fields)]
    yield Valid("inline_type_unknown_huge", about, archive_of([], *tensors))
    inline = wire.tensor("w", wire.raw(content(1, 8)), dims=(2,))
    strings = wire.tensor("s", wire.block(6, "one"), wire.block(6, ""), kind=wire.STRING, dims=(2,))
    typed = wire.tensor("t", wire.block(7, bytes([1, 2, 3])), kind=wire.INT64, dims=(3,))
    empty = wire.tensor("e", dims=(0, 1 << 62, 1 << 62))
    about = "Tensors in the model: raw, typed, strings, and one of no bytes whose other sizes wrap."
    yield Valid("inline", about, archive_of([side_file()], inline, strings, typed, empty))
    strings = wire.tensor("s", wire.block(6, "a"), wire.raw(b""), kind=wire.STRING, dims=(1,))
    nothing = wire.tensor("n", wire.block(4, b""), wire.raw(b""), dims=(0, 2))
    about = "Fields that are there and hold nothing, and are therefore beside nothing."
    yield Valid("inline_empty_fields", about, archive_of([], strings, nothing))
    unknown = wire.tensor("u", wire.block(10, bytes(8)), kind=99, dims=(3,))
    about = "Typed data of an unknown type: neither its field nor its length is judged."
    yield Valid("inline_type_unknown", about, archive_of([], unknown))
    scalar = wire.tensor("x", wire.raw(content(1, 4)), dims=())
    yield Valid("inline_scalar", "A tensor without dimensions.", archive_of([], scalar))


def remarks() -> Iterator[Valid]:
    def valid(name: str, about: str, code: str, entries: list[Entry], *tensors: bytes) -> Valid:
        return Valid(f"warning_{name}", about, archive_of(entries, *tensors), warnings=(code,))

    name = "w.weight"
    about = "A tensor's key that is no C identifier."
    code = "archive.key.not_identifier"
    yield valid("key_not_identifier", about, code, [weight(name)], wire.linked(name))
    about = "An entry that could be a tensor's, and that no tensor names."
    yield valid(
        "unused", about, "archive.entry.unused", [weight("v"), weight("w")], wire.linked("w")
    )
    tensor = wire.linked("w", length=1020, dims=(255,))
    about = "A linked tensor of 1020 bytes."
    yield valid("small", about, "onnx.external.small", [weight("w", 1020)], tensor)
    tensor = wire.linked("w", offset=8)
    about = "Linked data that begins at 8 beyond a multiple of 64."
    code = "onnx.external.unaligned"
    yield valid("unaligned", about, code, [weight("w", 1032)], tensor)
    tensor = wire.linked("w", offset=3)
    about = "Floats that begin at byte 3: they cannot be used in place."
    yield valid("unaligned_element", about, code, [weight("w", 1027)], tensor)
    tensors = wire.linked("v", "w"), wire.linked("w", "w", 512)
    about = "Links that overlap without being the same."
    code = "archive.entry.overlapping_links"
    yield valid("overlapping", about, code, [weight("w", 1536)], *tensors)
    pairs = ("location", "w"), ("length", 1024), ("shard", 1)
    code = "onnx.external_data.unknown_key"
    tensor = wire.tensor("w", wire.link(*pairs))
    yield valid("unknown_key", "A key that nobody knows.", code, [weight("w")], tensor)
    tensor = wire.tensor("w", wire.raw(content(1, 9)), dims=(2,))
    about = "More raw_data than the shape calls for."
    yield valid("long_raw", about, "onnx.tensor.long_raw", [], tensor)
    about = "A shape that calls for data, and none."
    yield valid("no_data", about, "onnx.tensor.no_data", [], wire.tensor("w", dims=(2,)))
    about = "Elements without data: strings, and an unknown type."
    tensors = wire.tensor("s", kind=wire.STRING, dims=(2,)), wire.tensor("u", kind=99, dims=(2,))
    yield valid("no_data_of_no_size", about, "onnx.tensor.no_data", [], *tensors)
    about = "2^80 STRINGs, none of which is there."
    tensor = wire.tensor("s", kind=wire.STRING, dims=(1 << 40, 1 << 40))
    yield valid("no_data_of_many_strings", about, "onnx.tensor.no_data", [], tensor)
    about = "More values than the shape calls for: FLOAT, INT4 and STRING."
    tensors = (
        wire.tensor("w", wire.block(4, bytes(12)), dims=(2,)),
        wire.tensor("i", wire.block(5, b"\1\2\3"), kind=22, dims=(3,)),
        wire.tensor("s", wire.block(6, "a") * 3, kind=wire.STRING, dims=(2,)),
    )
    yield valid("long_typed", about, "onnx.tensor.long_typed", [], *tensors)
    yield from duplicates()


def duplicates() -> Iterator[Valid]:
    """R14."""

    def valid(name: str, about: str, *fields: bytes, behind: bytes = b"") -> Valid:
        archive = Archive([weight("w"), model(wire.model(*fields, behind=behind))])
        return Valid(f"warning_duplicate_{name}", about, archive, warnings=("onnx.graph.duplicate",))

    inline, linked = wire.tensor("w", wire.raw(content(1, 1024))), wire.linked("w")
    both = wire.initializer(inline), wire.initializer(linked)
    about = "Two initializers of one name, in the model and outside."
    yield valid("initializers", about, *both)
    sparse = wire.block(15, wire.block(1, inline) + wire.scalar(3, 4096))
    about = "A sparse initializer, whose values have the name of an initializer."
    yield valid("sparse", about, wire.initializer(linked), sparse)
    out = wire.node()  # its output is `out`
    about = "Two nodes with one output."
    yield valid("outputs", about, wire.initializer(linked), out, out)
    about = "An initializer of the name that a node's output has."
    other = wire.initializer(wire.tensor("out", wire.raw(content(1, 1024))))
    yield valid("output", about, wire.initializer(linked), other, out)
    about = "Two initializers of one name in a graph of a node."
    inner = wire.node(wire.attribute(G, wire.graph(*both)))
    yield valid("subgraph", about, inner)
    body = wire.block(25, 2 * wire.block(7, wire.block(2, "out") + wire.block(4, "Op")))
    about = "Two nodes with one output in a function."
    yield valid("function", about, wire.initializer(linked), behind=body)
    about = "The same names in a graph and in one of its node, and two outputs without a name."
    unnamed = wire.block(1, 2 * wire.block(2, "") + wire.block(4, "Op"))
    fields = wire.initializer(linked), wire.node(wire.attribute(G, wire.graph(both[0]))), unnamed
    archive = Archive([weight("w"), model(wire.model(*fields))])
    yield Valid("names_of_two_graphs", about, archive)


# --- the way to tensors --------------------------------------------------------------------------


def places_of_tensors() -> Iterator[Valid]:
    def sparse(name: str) -> bytes:
        return wire.block(1, wire.linked(name)) + wire.scalar(3, 4096)

    inner = wire.graph(wire.initializer(wire.linked("e")))
    attributes = (
        wire.attribute(T, wire.linked("a")),
        wire.attribute(TENSORS, wire.linked("b"), wire.linked("c")),
        wire.attribute(G, inner),
        wire.attribute(GRAPHS, wire.graph(), wire.graph(wire.initializer(wire.linked("f")))),
        wire.attribute(SPARSE_TENSOR, sparse("g")),
        wire.attribute(SPARSE_TENSORS, sparse("h"), sparse("i")),
    )
    function = wire.block(7, wire.block(4, "Op") + wire.block(5, attributes[0])) + wire.block(
        11, wire.attribute(T, wire.linked("d"))
    )
    training = wire.block(1, wire.graph(wire.initializer(wire.linked("j")))) + wire.block(
        2, wire.graph(wire.initializer(wire.linked("k")))
    )
    indices = wire.block(2, wire.linked("m", kind=wire.INT64, dims=(128,)))
    fields = (wire.node(*attributes), wire.block(15, sparse("l") + indices))
    behind = wire.block(20, training) + wire.block(25, function)
    entries = [weight(name) for name in "abcdefghijklm"]
    archive = Archive([*entries, model(wire.model(*fields, behind=behind))])
    about = (
        "Linked tensors in every place that a model has for them; entries unused if one is missed."
    )
    yield Valid("sites", about, archive, notes=("archive.entry.shared",))  # `a` has two

    graph = wire.graph()  # at depth 1 + 3 n
    for _ in range(33):
        graph = wire.graph(wire.node(wire.attribute(G, graph)))
    archive = Archive([model(wire.block(7, graph))])
    yield Valid("depth_100", "Messages that nest 100 deep, the most there is.", archive)
    graph = wire.graph(wire.node(wire.attribute(T, wire.tensor("w", wire.raw(content(1, 1024))))))
    for _ in range(32):
        graph = wire.graph(wire.node(wire.attribute(G, graph)))
    archive = Archive([model(wire.block(7, graph))])
    yield Valid("depth_100_tensor", "A tensor 100 deep: there is no room for a link.", archive)


def spellings() -> Iterator[Valid]:
    unknown = (
        wire.scalar(1000, 7),
        wire.varint(1001 << 3 | 1) + bytes(8),
        wire.block(1002, b"\xff\xff"),
        wire.varint((1 << 29) - 1 << 3 | 5) + bytes(4),
    )
    about = "Fields that no schema knows, of every wire type."
    archive = Archive([model(wire.model(*unknown, behind=b"".join(unknown)))])
    yield Valid("wire_unknown_fields", about, archive)
    about = "A field of a tensor's place with another wire type is an unknown one."
    archive = Archive([model(wire.model(wire.scalar(5, 1), behind=wire.scalar(7, 1)))])
    yield Valid("wire_other_type", about, archive)
    about = "Numbers spelt in more bytes than they need, up to 10, and tags up to 5."
    long = wire.varint(1 << 3, 5) + wire.varint(8, 10)  # ir_version
    negative = wire.scalar(5, -1)  # model_version
    graph = wire.varint(7 << 3 | 2, 5) + wire.varint(0, 10)
    archive = Archive([model(long + negative + graph)])
    yield Valid("wire_long_varints", about, archive, is_parsed=False)
    about = "Fields in descending order."
    tensor = (
        wire.link(("location", "w")) + wire.block(8, "w") + wire.scalar(2, 1) + wire.scalar(1, 256)
    )
    yield Valid("wire_descending", about, archive_of([weight("w")], tensor))
    about = "Packed dimensions, which proto2 does not write and every parser reads."
    tensor = wire.block(1, bytes([2, 0x80, 0x01])) + wire.tensor(
        "w", wire.link(("location", "w")), dims=()
    )
    yield Valid("wire_packed_dims", about, archive_of([weight("w")], tensor))
