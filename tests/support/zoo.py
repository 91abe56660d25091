"""Small ONNX models with every way to hold a tensor.

`write_zoo(folder)` gives the same files on every run. The models can be parsed; they need not make
sense to a checker.

Usage: zoo.py FOLDER
"""

from __future__ import annotations

import itertools
import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for a run as a script

from support.sites import SITES, at_every_site, constant, in_node, weights
from support.wire_writer import (
    ALGORITHM,
    DATA_LOCATION,
    DATA_TYPE,
    DIMS,
    DOC_STRING,
    DOUBLE_DATA,
    ENCODINGS,
    FLOAT,
    FLOAT_DATA,
    FUNCTIONS,
    GRAPH,
    GRAPH_NODE,
    GRAPHS,
    INITIALIZATION,
    INITIALIZER,
    INT32_DATA,
    NAME,
    RAW_DATA,
    SEGMENT,
    SPARSE_INITIALIZER,
    TENSOR_METADATA,
    TRAINING_INFO,
    TYPES,
    UINT8,
    UINT64_DATA,
    DataFile,
    DataType,
    Encoding,
    G,
    Part,
    T,
    attribute,
    block,
    content,
    pair,
    fields_of,
    graph,
    head,
    initializers,
    model,
    node,
    packed,
    plain,
    raw,
    scalar,
    sparse,
    split_runs,
    strings,
    tensor,
    unpacked,
    varint,
)
from support.zoo_external import EXTERNAL

KIB, MIB = 1 << 10, 1 << 20
Models = Iterator[tuple[str, bytes]]  # file stem, content


def every_type() -> Models:
    """Each type at each site in each encoding, below and above 1024 bytes."""

    def small(site: str, *arguments: Any) -> bytes:
        return tensor(f"small_{site}", *arguments)

    for kind, (label, encode) in itertools.product(TYPES.values(), ENCODINGS.items()):
        large = 9000 // kind.bits + 1
        small_ones = at_every_site(small, kind, 7, encode)
        yield (
            f"type_{kind.name}_{label}",
            model(*small_ones, *at_every_site(tensor, kind, large, encode)),
        )
    yield "type_STRING", model(*at_every_site(strings))
    later = DataType("LATER", 99, 8, 0, "B")
    yield "type_later", model(*at_every_site(tensor, later, 2000))


def sizes() -> Models:
    edges = (0, 1, 63, 64, 65, 1023, 1024, 1025, MIB - 1, MIB, MIB + 1)
    yield "sizes_bytes", plain(*(tensor(f"bytes_{size}", UINT8, size) for size in edges))
    for name in ("FLOAT", "INT64", "INT32"):
        kind = TYPES[name]
        counts = sorted({size * 8 // kind.bits for size in edges})
        yield f"sizes_{name}", plain(*(tensor(f"n_{count}", kind, count) for count in counts))
    for label, encode in (("packed", packed), ("unpacked", unpacked)):
        small = (tensor(f"bytes_{size}", UINT8, size, encode) for size in (*edges[:8], 100_000))
        yield f"sizes_{label}", plain(*small, tensor("megabyte", FLOAT, MIB // 4, encode))
    eight = tensor("eight", FLOAT, 2 * MIB)
    yield "sizes_8_mib", plain(eight, tensor("odd", UINT8, 77), tensor("bytes", UINT8, 8 * MIB))
    yield "sizes_8_mib_packed", plain(tensor("packed", FLOAT, 2 * MIB, packed))
    yield "sizes_8_mib_attribute", model(SITES["t"](eight))


def shapes() -> Models:
    def shaped(name: str, kind: DataType, dims: list[int], encode: Encoding = raw) -> bytes:
        count = 1
        for dim in dims:
            count *= dim
        return fields_of(name, kind, dims, encode(kind, content(kind, count, name)))

    yield (
        "shapes",
        plain(
            *(shaped(f"scalar_{kind.name}", kind, []) for kind in TYPES.values()),
            *(shaped(f"typed_{kind.name}", kind, [], packed) for kind in TYPES.values()),
            shaped("matrix", FLOAT, [30, 41]),
            shaped("ones", FLOAT, [1, 1, 512, 1, 1]),
            shaped("deep", UINT8, [2] * 12),
            shaped("int4_odd", TYPES["INT4"], [3, 5, 147]),
        ),
    )
    yield (
        "shapes_empty",
        plain(
            shaped("empty", FLOAT, [0]),
            shaped("empty_middle", FLOAT, [4, 0, 1 << 40]),
            fields_of("empty_without_data", FLOAT, [0], b""),
            fields_of("empty_typed", FLOAT, [0], block(FLOAT_DATA, b"")),
            fields_of("empty_int64", TYPES["INT64"], [0], raw(TYPES["INT64"], b"")),
        ),
    )
    yield (
        "shapes_int64",
        plain(
            *(tensor(f"shape_{n}", TYPES["INT64"], n) for n in range(1, 6)),
            *(tensor(f"typed_{n}", TYPES["INT64"], n, packed) for n in range(1, 6)),
            tensor("slice_ends", TYPES["INT64"], 127),
            tensor("token_table", TYPES["INT64"], 128),
            tensor("index_below", TYPES["INT32"], 255),
            tensor("index_above", TYPES["INT32"], 256),
        ),
    )


AWKWARD_NAMES = [
    *("with space", "a/b", "a_b", "a.b", "A_B", "a::b", "layer.0/weight:0", " ", "", ".", ".."),
    *("../../etc/passwd", "/root", "C:\\w", "line\nbreak", "nul\0inside", "tab\t"),
    *("größe", "重み", "🦒", "a\u0301", "COM¹"),
    # Reserved, also after mangling or folding.
    *("__MODEL_PROTO", "__model_proto", "__MODEL_PROTO.onnx", "/_MODEL_PROTO", "//MODEL_PROTO"),
    *("_", "__", "___", "__X", "__x", "__9", "t___X", "*/_ORT_MEM_ADDR_/*", "#onnxar:0:0"),
    *("CON", "con", "t_CON", "NUL", "nul.txt", "AUX", "COM1", "lpt9"),
    *("1", "1abc", "_1abc", "tensor", "TENSOR", "tensor_2"),
    *("w", "W", "w_2", "W_2", "w_2_2", "w_3"),
    *("l" * size + tail for size in (199, 200, 201, 2000) for tail in ("", "x", "X", "é")),
    *("tokenizer.json", "weights.bin", "a" * 100_000),
]


def names() -> Models:
    awkward = [tensor(name, seed=n) for n, name in enumerate(AWKWARD_NAMES)]
    yield "names_awkward", plain(*awkward)
    yield "names_awkward_reversed", plain(*reversed(awkward))
    yield "names_equal", plain(*(tensor("w", seed=n) for n in range(40)))
    yield "names_missing", model(*(put(tensor(None, seed=site)) for site, put in SITES.items()))
    yield "names_scoped", model(*(put(tensor("w", seed=site)) for site, put in SITES.items()))
    yield "names_many", plain(*(tensor(f"t{n % 700}{'/.:'[n // 700]}", FLOAT, 1 + n % 3) for n in range(2000)))


def sharing() -> Models:
    """Tied weights: equal bytes in several tensors."""
    tied = tensor("embedding", seed="tied")
    main = Part(initializers(tied, tensor("other"), tensor("projection", seed="tied")))
    yield "tied", model(main, SITES["t"](tied), SITES["g_initializer"](tied))
    zeros = raw(FLOAT, bytes(4 * KIB))
    yield "tied_zeros", plain(*(fields_of(f"z{n}", FLOAT, [KIB], zeros) for n in range(20)))


def nesting() -> Models:
    part = SITES["g_initializer"](tensor("w", seed="depth 0"))
    for depth in range(1, 26):  # three messages per level; parsers refuse more than 100
        level = part.graph + initializers(tensor("w", seed=f"depth {depth}"))
        part = in_node("If", G, graph(level))
    yield "nesting_deep", model(part)
    wide = (weights(tensor(f"w{n}")) for n in range(60))
    yield "nesting_wide", model(in_node("Cases", GRAPHS, *wide))
    yield "graph_empty", model(SITES["function_body"](tensor("only")))
    yield "without_tensors", model(Part(block(GRAPH_NODE, node("Relu"))), doc="nothing to move")
    begin = block(INITIALIZATION, weights(tensor("start")))
    turn = block(SPARSE_INITIALIZER, sparse(tensor("step"))) + initializers(tensor("rate"))
    training = block(TRAINING_INFO, begin + block(ALGORITHM, graph(turn)))
    yield "training", model(Part(initializers(tensor("w")), training))


def typed_fields() -> Models:
    """Encodings of typed fields."""
    int32, int8 = TYPES["INT32"], TYPES["INT8"]
    negative = struct.pack("<400i", *range(-400, 0))
    five_bytes = b"".join(varint(value & 0xFFFFFFFF) for value in range(-200, 0))
    extremes = struct.pack("<7i", -(1 << 31), (1 << 31) - 1, -1, 0, 1, 127, -128) * 60
    padded = b"".join(varint(value, 5) for value in range(40))
    yield (
        "typed_negative",
        plain(
            fields_of("ten_bytes", int32, [400], packed(int32, negative)),
            fields_of("ten_bytes_unpacked", int32, [400], unpacked(int32, negative)),
            fields_of("five_bytes", int32, [200], block(INT32_DATA, five_bytes)),
            fields_of("extremes", int32, [420], packed(int32, extremes)),
            fields_of("int8", int8, [256], packed(int8, bytes(range(256)))),
            fields_of("padded", UINT8, [40], block(INT32_DATA, padded)),
        ),
    )
    bits = (0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 1, 0x007FFFFF)
    special = struct.pack("<8I", *bits) * 50  # zeros, infinities, quiet NaNs, denormals
    spellings = (encode(FLOAT, special) for encode in ENCODINGS.values())
    yield "typed_special_floats", plain(*(fields_of("s", FLOAT, [400], each) for each in spellings))
    split = (tensor(kind.name, kind, 2000, split_runs) for kind in TYPES.values())
    yield "typed_split_runs", plain(*split)


def not_convertible() -> Models:
    """Payloads that are not raw data of the tensor's type and shape; they stay unchanged."""
    wide = block(INT32_DATA, b"".join(varint(n) for n in range(2000)))
    many = block(UINT64_DATA, b"".join(varint(n << 22) for n in range(2000)))
    floats = packed(FLOAT, content(FLOAT, 2000, "floats"))
    yield (
        "typed_inexact",
        plain(
            fields_of("out_of_range", UINT8, [2000], wide),
            fields_of("out_of_range_unsigned", TYPES["UINT32"], [2000], many),
            fields_of("too_many", FLOAT, [1999], floats),
            tensor("good", FLOAT, 2000, packed),
        ),
    )
    yield (
        "typed_refused",
        plain(
            fields_of("too_few", FLOAT, [2001], floats),
            fields_of("other_field", FLOAT, [2000], block(DOUBLE_DATA, bytes(16000))),
            tensor("good", FLOAT, 2000, packed),
        ),
    )
    long = fields_of("long", FLOAT, [300], raw(FLOAT, bytes(1204)))
    yield "raw_too_long", plain(long, tensor("good"))


def unknown(seed: int) -> bytes:
    """Fields that no schema has, of every wire type except groups."""
    fixed64 = varint(1001 << 3 | 1) + struct.pack("<Q", seed)
    fixed32 = varint(1003 << 3 | 5) + struct.pack("<I", seed)
    return scalar(1000, seed) + fixed64 + block(1002, f"unknown {seed}") + fixed32


def noted(name: str, notes: bytes) -> bytes:
    return tensor(name) + block(DOC_STRING, "a note") + notes


def extras() -> Models:
    known = tensor("w") + unknown(1)
    nodes = block(GRAPH_NODE, node("Constant", attribute(T, known) + unknown(2)) + unknown(3))
    outer = block(SPARSE_INITIALIZER, sparse(known) + unknown(4)) + initializers(known)
    function = block(FUNCTIONS, block(7, constant(known)) + unknown(6))
    yield "unknown_fields", model(Part(nodes + outer + unknown(5), function)) + unknown(7)
    yield "unknown_first", unknown(8) + plain(unknown(9) + tensor("w"), tensor("x"))
    yield "unknown_low_number", plain(tensor("w") + block(15, "TensorProto has no field 15"))
    notes = b"".join(block(TENSOR_METADATA, pair(f"key {n}", "value")) for n in range(3))
    yield "metadata", model(*at_every_site(noted, notes))


def field_orders(tensor_name: str) -> dict[str, bytes]:
    """A tensor whose fields stand in unusual orders."""
    dims, kind, name = scalar(DIMS, 300), scalar(DATA_TYPE, 1), block(NAME, tensor_name)
    data = raw(FLOAT, content(FLOAT, 300, "order"))
    return {
        "raw_before_name": dims + kind + data + name,
        "type_after_raw": dims + data + kind + name,
        "dims_last": data + name + kind + dims,
        "dims_split": scalar(DIMS, 30) + kind + scalar(DIMS, 10) + name + data,
        "name_first": name + dims + kind + data,
        "doc_first": block(DOC_STRING, "note") + dims + kind + name + data,
        "note_first": block(TENSOR_METADATA, pair("k", "v")) + dims + kind + name + data,
    }


def field_order() -> Models:
    for label in field_orders(""):
        yield f"order_{label}", model(*(put(field_orders(site)[label]) for site, put in SITES.items()))
    function = SITES["function_body"](tensor("f")).model
    yield "order_functions_first", function + block(GRAPH, weights(tensor("w"))) + scalar(1, 8)
    backwards = initializers(tensor("w"), tensor("x")) + block(2, "graph")
    yield "order_graph_reversed", block(GRAPH, backwards) + scalar(1, 8)


def rare_fields() -> Models:
    dims, kind, name = scalar(DIMS, 300), scalar(DATA_TYPE, 1), block(NAME, "w")
    data, stale = (raw(FLOAT, content(FLOAT, 300, seed)) for seed in ("data", "stale"))
    yield (
        "scalars_twice",
        plain(
            dims + scalar(DATA_TYPE, 11) + kind + name + data,
            dims + kind + block(NAME, "stale") + block(NAME, "name") + data,
            dims + kind + block(NAME, "data") + stale + data,
        ),
    )
    yield "dims_packed", plain(block(DIMS, varint(30) + varint(10)) + kind + name + data)
    default = scalar(DATA_LOCATION, 0)
    yield "location_default", plain(dims + kind + name + data + default, tensor("x"))
    segment = block(SEGMENT, scalar(1, 0) + scalar(2, 300))
    yield "segment", plain(dims + kind + segment + name + data, tensor("whole"))


def padded_lengths() -> Models:
    """Lengths encoded in five bytes, on one level at a time and then on all levels."""
    levels = ("raw_data", "tensor", "attribute", "node", "graph")
    for padded in (*((level,) for level in levels), levels):
        width = {level: 5 if level in padded else 0 for level in levels}
        data = block(RAW_DATA, content(FLOAT, 300, "padded"), width["raw_data"])
        body = head(FLOAT, [300]) + block(NAME, "w") + data
        value = block(1, "value") + block(T, body, width["tensor"])
        holder = block(4, "Constant") + block(5, value, width["attribute"])
        nodes = block(GRAPH_NODE, holder, width["node"])
        inside = nodes + block(INITIALIZER, body, width["tensor"])
        label = padded[0] if len(padded) == 1 else "all"
        yield f"padded_{label}", scalar(1, 8) + block(GRAPH, inside, width["graph"])


INLINE = (
    every_type,
    sizes,
    shapes,
    names,
    sharing,
    nesting,
    typed_fields,
    not_convertible,
    extras,
    field_order,
    rare_fields,
    padded_lengths,
)


def passes_check(path: Path) -> bool:
    """Whether `check` accepts the model. The other verbs also process models that it refuses."""
    return path.stem != "typed_refused"


def write_zoo(folder: Path) -> list[Path]:
    """Writes all models below `folder`. Returns their paths without duplicates."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for stem, data in itertools.chain.from_iterable(make() for make in INLINE):
        paths.append(folder / f"{stem}.onnx")
        paths[-1].write_bytes(data)
    for make in EXTERNAL:
        data, files = make()
        paths.append(_write_external(folder / make.__name__, data, files))
    return paths


def _write_external(home: Path, data: bytes, files: Iterable[DataFile]) -> Path:
    for file in files:
        target = home / file.location
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.data)
    path = home / "model.onnx"
    path.write_bytes(data)
    return path


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    made = write_zoo(Path(sys.argv[1]))
    print(f"{len(made)} models")
