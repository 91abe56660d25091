"""Small ONNX models with every way to hold a tensor, written byte by byte.

`write_zoo(folder)` gives the same files on every run. Messages are spelt here on the wire, because
many legal spellings are never what a protobuf library writes: unpacked fields, fields out of order,
padded lengths.
The models can be parsed; they need not make sense to a checker.

Usage: zoo.py FOLDER
"""

from __future__ import annotations

import hashlib
import itertools
import random
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

KIB, MIB = 1 << 10, 1 << 20

# --- the wire ------------------------------------------------------------------------------------


def varint(value: int, width: int = 0) -> bytes:
    """`width` bytes wide, even if fewer would do."""
    value &= (1 << 64) - 1  # negative numbers take ten bytes
    out = bytearray()
    while value > 0x7F or len(out) + 1 < width:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def scalar(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def block(number: int, value: bytes | str, width: int = 0) -> bytes:
    """A string, bytes, packed field or message; its length is spelt in at least `width` bytes."""
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data), width) + data


# --- data types ----------------------------------------------------------------------------------

STRING, INT64 = 8, 7


class DataType(NamedTuple):
    name: str
    value: int
    bits: int
    field: int  # number of the typed field
    code: str  # struct code of one value of the typed field, as raw bytes
    mask: bytes = b"\xff"  # repeated over random bytes, makes them valid


FLOAT_DATA, INT32_DATA, STRING_DATA, INT64_DATA, DOUBLE_DATA, UINT64_DATA = 4, 5, 6, 7, 10, 11

# One bit of the exponent stays clear: a signalling NaN would turn quiet in a Python float.
_FLOAT_MASK = b"\xff\xff\x7f\xff"
_DOUBLE_MASK = b"\xff\xff\xff\xff\xff\xff\xef\xff"

TYPES = {
    kind.name: kind
    for kind in (
        DataType("FLOAT", 1, 32, FLOAT_DATA, "f", _FLOAT_MASK),
        DataType("UINT8", 2, 8, INT32_DATA, "B"),
        DataType("INT8", 3, 8, INT32_DATA, "b"),
        DataType("UINT16", 4, 16, INT32_DATA, "H"),
        DataType("INT16", 5, 16, INT32_DATA, "h"),
        DataType("INT32", 6, 32, INT32_DATA, "i"),
        DataType("INT64", INT64, 64, INT64_DATA, "q"),
        DataType("BOOL", 9, 8, INT32_DATA, "B", b"\x01"),
        DataType("FLOAT16", 10, 16, INT32_DATA, "H"),
        DataType("DOUBLE", 11, 64, DOUBLE_DATA, "d", _DOUBLE_MASK),
        DataType("UINT32", 12, 32, UINT64_DATA, "I"),
        DataType("UINT64", 13, 64, UINT64_DATA, "Q"),
        DataType("COMPLEX64", 14, 64, FLOAT_DATA, "f", _FLOAT_MASK),
        DataType("COMPLEX128", 15, 128, DOUBLE_DATA, "d", _DOUBLE_MASK),
        DataType("BFLOAT16", 16, 16, INT32_DATA, "H"),
        DataType("FLOAT8E4M3FN", 17, 8, INT32_DATA, "B"),
        DataType("FLOAT8E4M3FNUZ", 18, 8, INT32_DATA, "B"),
        DataType("FLOAT8E5M2", 19, 8, INT32_DATA, "B"),
        DataType("FLOAT8E5M2FNUZ", 20, 8, INT32_DATA, "B"),
        DataType("UINT4", 21, 4, INT32_DATA, "B"),
        DataType("INT4", 22, 4, INT32_DATA, "B"),
        DataType("FLOAT4E2M1", 23, 4, INT32_DATA, "B"),
        DataType("FLOAT8E8M0", 24, 8, INT32_DATA, "B"),
        DataType("UINT2", 25, 2, INT32_DATA, "B"),
        DataType("INT2", 26, 2, INT32_DATA, "B"),
    )
}
FLOAT, UINT8 = TYPES["FLOAT"], TYPES["UINT8"]


def content(kind: DataType, count: int, seed: object) -> bytes:
    """Raw bytes of `count` elements, any valid values of the type, the same for the same seed."""
    size = (count * kind.bits + 7) // 8
    data = random.Random(str(seed)).randbytes(size)
    mask = (kind.mask * (size // len(kind.mask) + 1))[:size]
    if unused := size * 8 - count * kind.bits:  # the last byte of a type below a byte
        mask = mask[:-1] + bytes([0xFF >> unused])
    masked = int.from_bytes(data, "little") & int.from_bytes(mask, "little")
    return masked.to_bytes(size, "little")


# --- tensors -------------------------------------------------------------------------------------

Encoding = Callable[[DataType, bytes], bytes]
DIMS, DATA_TYPE, SEGMENT, NAME, RAW_DATA, DOC_STRING = 1, 2, 3, 8, 9, 12
EXTERNAL_DATA, DATA_LOCATION, TENSOR_METADATA = 13, 14, 16


def raw(kind: DataType, data: bytes) -> bytes:
    return block(RAW_DATA, data)


def packed(kind: DataType, data: bytes) -> bytes:
    return block(kind.field, data if kind.code in "fd" else b"".join(_varints(kind, data)))


def unpacked(kind: DataType, data: bytes) -> bytes:
    if kind.code in "fd":
        width = struct.calcsize(kind.code)
        tag = varint(kind.field << 3 | {4: 5, 8: 1}[width])
        return b"".join(tag + data[at : at + width] for at in range(0, len(data), width))
    tag = varint(kind.field << 3)
    return b"".join(tag + value for value in _varints(kind, data))


def split_runs(kind: DataType, data: bytes) -> bytes:
    """A packed run, one value alone, another packed run: a parser joins them."""
    width = struct.calcsize(kind.code)
    cut = len(data) // width // 2 * width
    middle = unpacked(kind, data[cut : cut + width])
    return packed(kind, data[:cut]) + middle + packed(kind, data[cut + width :])


def _varints(kind: DataType, data: bytes) -> Iterator[bytes]:
    return (varint(value) for (value,) in struct.iter_unpack("<" + kind.code, data))


def head(kind: DataType, dims: Iterable[int]) -> bytes:
    return b"".join(scalar(DIMS, dim) for dim in dims) + scalar(DATA_TYPE, kind.value)


def fields_of(name: str | None, kind: DataType, dims: Iterable[int], typed: bytes) -> bytes:
    """A TensorProto in ascending order; `typed` is its payload, already encoded."""
    label = b"" if name is None else block(NAME, name)
    is_typed = typed and (typed[0] >> 3) < NAME
    return head(kind, dims) + (typed + label if is_typed else label + typed)


def tensor(
    name: str | None,
    kind: DataType = FLOAT,
    count: int = 300,
    encode: Encoding = raw,
    seed: object = None,
) -> bytes:
    """A vector of `count` elements; its values depend on the seed, or else on its name."""
    data = content(kind, count, name if seed is None else seed)
    return fields_of(name, kind, [count], encode(kind, data))


def strings(name: str) -> bytes:
    texts = b"".join(block(STRING_DATA, text) for text in ("zero", "", "zwölf", "x" * 2000))
    return scalar(DIMS, 4) + scalar(DATA_TYPE, STRING) + texts + block(NAME, name)


def entry(key: str, value: str) -> bytes:
    return block(1, key) + block(2, value)


# --- graphs --------------------------------------------------------------------------------------

GRAPH_NODE, INITIALIZER, SPARSE_INITIALIZER = 1, 5, 15
T, G, TENSORS, GRAPHS, SPARSE_TENSOR, SPARSE_TENSORS = 5, 6, 10, 11, 22, 23
ATTRIBUTE_TYPES = {T: 4, G: 5, TENSORS: 9, GRAPHS: 10, SPARSE_TENSOR: 11, SPARSE_TENSORS: 12}
GRAPH, TRAINING_INFO, FUNCTIONS = 7, 20, 25
INITIALIZATION, ALGORITHM = 1, 2


def attribute(number: int, *values: bytes) -> bytes:
    body = b"".join(block(number, value) for value in values)
    kind = scalar(20, ATTRIBUTE_TYPES[number])
    return block(1, "value") + (body + kind if number < 20 else kind + body)


def node(op_type: str, *attributes: bytes) -> bytes:
    return block(2, "out") + block(4, op_type) + b"".join(block(5, each) for each in attributes)


def initializers(*tensors: bytes) -> bytes:
    return b"".join(block(INITIALIZER, each) for each in tensors)


def graph(body: bytes, name: str = "graph") -> bytes:
    return block(2, name) + body


def sparse(values: bytes) -> bytes:
    """Its indices are long enough to move, if indices ever did."""
    kind = TYPES["INT64"]
    data = raw(kind, struct.pack("<200q", *range(200)))
    return block(1, values) + block(2, fields_of("indices", kind, [200], data)) + scalar(3, 4096)


class Part(NamedTuple):
    """What a tensor adds to a model: fields of the graph, fields of the model behind the graph."""

    graph: bytes = b""
    model: bytes = b""


def model(*parts: Part, doc: str = "") -> bytes:
    body = graph(b"".join(part.graph for part in parts))
    start = scalar(1, 8) + block(2, "zoo") + (block(6, doc) if doc else b"")
    rest = block(8, block(1, "") + scalar(2, 17))
    return start + block(GRAPH, body) + rest + b"".join(part.model for part in parts)


def plain(*tensors: bytes) -> bytes:
    return model(Part(initializers(*tensors)))


# --- sites ---------------------------------------------------------------------------------------


def in_node(op_type: str, number: int, *values: bytes) -> Part:
    return Part(block(GRAPH_NODE, node(op_type, attribute(number, *values))))


def in_function(body: bytes) -> Part:
    return Part(model=block(FUNCTIONS, block(1, "f") + body))


def in_default(default: bytes) -> Part:
    return in_function(block(10, "zoo") + block(11, default))


def in_training(number: int, each: bytes) -> Part:
    return Part(model=block(TRAINING_INFO, block(number, weights(each))))


def constant(each: bytes) -> bytes:
    return node("Constant", attribute(T, each))


def weights(*tensors: bytes) -> bytes:
    """A graph of initializers."""
    return graph(initializers(*tensors))


def step(each: bytes) -> bytes:
    """A graph of one Constant."""
    return graph(block(GRAPH_NODE, constant(each)))


# Where a tensor may stand: name -> what puts the tensor there.
SITES: dict[str, Callable[[bytes], Part]] = {
    "initializer": lambda each: Part(initializers(each)),
    "sparse_initializer": lambda each: Part(block(SPARSE_INITIALIZER, sparse(each))),
    "t": lambda each: in_node("Constant", T, each),
    "tensors": lambda each: in_node("Many", TENSORS, each, strings("between"), each),
    "sparse_tensor": lambda each: in_node("Constant", SPARSE_TENSOR, sparse(each)),
    "sparse_tensors": lambda each: in_node("Many", SPARSE_TENSORS, sparse(each), sparse(each)),
    "g_initializer": lambda each: in_node("If", G, weights(each)),
    "g_attribute": lambda each: in_node("If", G, step(each)),
    "graphs": lambda each: in_node("Cases", GRAPHS, weights(each), step(each)),
    "function_body": lambda each: in_function(block(7, constant(each)) + block(10, "zoo")),
    "function_default": lambda each: in_default(attribute(T, each)),
    "function_default_graph": lambda each: in_default(attribute(G, weights(each))),
    "initialization": partial(in_training, INITIALIZATION),
    "algorithm": partial(in_training, ALGORITHM),
}


def at_every_site(make: Callable[..., bytes], *arguments: object) -> list[Part]:
    """At each site what `make` gives for the site's name and the arguments."""
    return [put(make(site, *arguments)) for site, put in SITES.items()]


# --- the models ----------------------------------------------------------------------------------

Models = Iterator[tuple[str, bytes]]  # file stem, content
ENCODINGS: dict[str, Encoding] = {"raw": raw, "packed": packed, "unpacked": unpacked}


def every_type() -> Models:
    """Each type at each site in each encoding, below and above 1024 bytes."""
    for kind, (label, encode) in itertools.product(TYPES.values(), ENCODINGS.items()):
        large = 9000 // kind.bits + 1
        small_ones = at_every_site(tensor, kind, 7, encode)
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
    yield "names_many", plain(*(tensor(f"t{n % 700}", FLOAT, 1 + n % 3) for n in range(2000)))


def sharing() -> Models:
    """Tied weights: equal bytes in several tensors."""
    tied = tensor("embedding", seed="tied")
    main = Part(initializers(tied, tensor("other"), tensor("projection", seed="tied")))
    yield "tied", model(main, SITES["t"](tied), SITES["g_initializer"](tied))
    zeros = raw(FLOAT, bytes(4 * KIB))
    yield "tied_zeros", plain(*(fields_of(f"z{n}", FLOAT, [KIB], zeros) for n in range(20)))


def nesting() -> Models:
    part = SITES["g_initializer"](tensor("w", seed="depth 0"))
    for depth in range(1, 26):  # three messages a level; parsers give up at 100
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
    """Spellings of typed fields."""
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
    """Payloads that are no raw data of the tensor's type and shape; they stay as they are."""
    wide = block(INT32_DATA, b"".join(varint(n) for n in range(2000)))
    many = block(UINT64_DATA, b"".join(varint(n << 22) for n in range(2000)))
    floats = packed(FLOAT, content(FLOAT, 2000, "floats"))
    yield (
        "typed_inexact",
        plain(
            fields_of("out_of_range", UINT8, [2000], wide),
            fields_of("out_of_range_unsigned", TYPES["UINT32"], [2000], many),
            fields_of("too_few", FLOAT, [2001], floats),
            fields_of("too_many", FLOAT, [1999], floats),
            fields_of("other_field", FLOAT, [2000], block(DOUBLE_DATA, bytes(16000))),
            tensor("good", FLOAT, 2000, packed),
        ),
    )
    long = fields_of("long", FLOAT, [300], raw(FLOAT, bytes(1204)))
    yield "raw_too_long", plain(long, tensor("good"))


def unknown(seed: int) -> bytes:
    """Fields that no schema has, of every wire type but groups."""
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
    notes = b"".join(block(TENSOR_METADATA, entry(f"key {n}", "value")) for n in range(3))
    yield "metadata", model(*at_every_site(noted, notes))


def field_order() -> Models:
    dims, kind, name = scalar(DIMS, 300), scalar(DATA_TYPE, 1), block(NAME, "w")
    data = raw(FLOAT, content(FLOAT, 300, "order"))
    orders = {
        "raw_before_name": dims + kind + data + name,
        "type_after_raw": dims + data + kind + name,
        "dims_last": data + name + kind + dims,
        "dims_split": scalar(DIMS, 30) + kind + scalar(DIMS, 10) + name + data,
        "name_first": name + dims + kind + data,
        "doc_first": block(DOC_STRING, "note") + dims + kind + name + data,
        "note_first": block(TENSOR_METADATA, entry("k", "v")) + dims + kind + name + data,
    }
    for label, spelling in orders.items():
        yield f"order_{label}", model(*(put(spelling) for put in SITES.values()))
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
            dims + kind + block(NAME, "stale") + name + data,
            dims + kind + name + stale + data,
        ),
    )
    yield "dims_packed", plain(block(DIMS, varint(30) + varint(10)) + kind + name + data)
    default = scalar(DATA_LOCATION, 0)
    yield "location_default", plain(dims + kind + name + data + default, tensor("x"))
    segment = block(SEGMENT, scalar(1, 0) + scalar(2, 300))
    yield "segment", plain(dims + kind + segment + name + data, tensor("whole"))


def padded_lengths() -> Models:
    """Lengths spelt in five bytes, one level at a time, then on all."""
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


# --- external data -------------------------------------------------------------------------------


class DataFile:
    """A file of weights in the making, and the links into it."""

    def __init__(self, location: str) -> None:
        self.location = location
        self.data = bytearray()

    def add(self, data: bytes, align: int = 1) -> int:
        self.data += bytes(-len(self.data) % align)
        self.data += data
        return len(self.data) - len(data)

    def link(self, **values: object) -> bytes:
        pairs = {"location": self.location, **values}
        entries = (block(EXTERNAL_DATA, entry(key, str(value))) for key, value in pairs.items())
        return b"".join(entries) + scalar(DATA_LOCATION, 1)

    def tensor(self, name: str, kind: DataType = FLOAT, count: int = 300, align: int = 1) -> bytes:
        data = content(kind, count, name)
        link = self.link(offset=self.add(data, align), length=len(data))
        return fields_of(name, kind, [count], link)


External = tuple[bytes, list[DataFile]]


def external_one_file() -> External:
    file = DataFile("weights.bin")
    kinds = (file.tensor(f"t_{kind.name}", kind, 3000) for kind in TYPES.values())
    aligned = (file.tensor(f"a{n}", FLOAT, 500 + n, 4096) for n in range(5))
    return plain(*kinds, *aligned, tensor("inline"), file.tensor("large", UINT8, 3 * MIB)), [file]


def external_per_tensor() -> External:
    files = [DataFile(f"data/weight {n}.bin") for n in range(6)]
    tensors = (file.tensor(f"w{n}", FLOAT, 300 * (n + 1)) for n, file in enumerate(files))
    return plain(*tensors), files


def external_omitted() -> External:
    """Without a length a link reaches to the end of its file, without an offset it begins at 0."""
    whole, tail = DataFile("whole.bin"), DataFile("tail.bin")
    data = content(FLOAT, 300, "omitted")
    whole.add(data)
    tail.add(b"in front" * 3 + data)
    links = (whole.link(), whole.link(length=len(data)), tail.link(offset=24))
    return plain(*(fields_of("w", FLOAT, [300], link) for link in links)), [whole, tail]


def external_shared() -> External:
    """Two tensors on one slice, one on a part of it, and a copy of the same values inline."""
    file = DataFile("weights.bin")
    data = content(FLOAT, 1000, "shared")
    start = file.add(data, 64)
    full = file.link(offset=start, length=4000)
    return plain(
        fields_of("embedding", FLOAT, [10, 100], full),
        fields_of("projection", FLOAT, [1000], full),
        fields_of("part", FLOAT, [500], file.link(offset=start + 400, length=2000)),
        fields_of("copy", FLOAT, [1000], raw(FLOAT, data)),
    ), [file]


def external_everywhere() -> External:
    file = DataFile("weights.bin")
    return model(*at_every_site(file.tensor)), [file]


def external_small() -> External:
    """What stays in a model however it came: shapes, empty tensors."""
    file = DataFile("weights.bin")
    return plain(
        file.tensor("shape", TYPES["INT64"], 4),
        file.tensor("index", TYPES["INT32"], 200),
        fields_of("empty", FLOAT, [0], file.link(offset=0, length=0)),
        file.tensor("bias", FLOAT, 8),
    ), [file]


def external_checksum() -> External:
    """The checksum is of the whole file, here of one tensor."""
    file = DataFile("weights.bin")
    data = content(FLOAT, 300, "checksum")
    file.add(data)
    link = file.link(length=len(data), checksum=hashlib.sha1(data).hexdigest())
    return plain(fields_of("w", FLOAT, [300], link)), [file]


def external_link_first() -> External:
    """The link stands before everything that says how long it must be."""
    file = DataFile("weights.bin")
    data = content(FLOAT, 300, "first")
    link = file.link(offset=file.add(data), length=len(data))
    return plain(link + block(NAME, "w") + head(FLOAT, [300])), [file]


EXTERNAL = (
    external_one_file,
    external_per_tensor,
    external_omitted,
    external_shared,
    external_everywhere,
    external_small,
    external_checksum,
    external_link_first,
)
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


def write_zoo(folder: Path) -> list[Path]:
    """Writes all models beneath `folder`; gives their paths, none of them twice."""
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
