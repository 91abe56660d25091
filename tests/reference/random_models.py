"""Archives with models that are nearly right: any field may be missing, twice, false or damaged."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from typing import Any

from support import wire_writer as wire
from support.archives import MODEL, Archive, Entry

TENSOR, SPARSE, GRAPH, NODE = "tensor", "sparse", "graph", "node"
IN_ATTRIBUTE = {5: TENSOR, 6: GRAPH, 10: TENSOR, 11: GRAPH, 22: SPARSE, 23: SPARSE}
IN_GRAPH = {1: NODE, 5: TENSOR, 15: SPARSE}
DEEPEST = 3  # graphs in graphs

TOP = 1 << 64
NUMBERS = (0, 1, 2, 7, 8, 256, 1 << 31, 1 << 32, 1 << 32 | 1, 1 << 63, TOP - 1)
# Of each of these the first is the one that a sound model has.
DIMS = (
    *((256,), (), (0,), (-1,), (1, -1), (16, 16), (128,), (255,), (257,), (2047,), (1,) * 1025),
    *((1 << 32,), (1 << 32, 1 << 32), (1 << 63,), (0, 1 << 62, 1 << 62)),
)
KINDS = (1, 0, 7, 8, 9, 10, 11, 15, 21, 22, 25, 26, 27, 99, 1 << 32 | 1, 1 << 32 | 8, -1)
PLACES = (1, 0, 2, -1, 1 << 32, 1 << 32 | 1)  # values of data_location
SIZES = (2048, 1032, 1024)  # of the entry `w`
SUMS = [hashlib.sha1(bytes(size)).hexdigest() for size in (*SIZES, 0)]
VALUES = {  # of external_data
    "location": ("w", "v", "e.bin", MODEL, "none", "", "*/_ORT_MEM", "#onnxar:1"),
    "offset": ("0", "64", "8", "512", "1024", "1025", "00", "-1", str(TOP), str(TOP - 1)),
    "length": ("1024", "512", "0", "4", "1028", "01", "", str(TOP - 1)),
    "checksum": (*SUMS, SUMS[0].upper(), "0" * 40, "", "none", SUMS[0][1:], SUMS[0][1:] + "g"),
    "other": ("x",),
}
TYPED = (4, 5, 6, 7, 10, 11)  # fields of typed data


class Maker:
    def __init__(self, seed: object) -> None:
        self.rng = random.Random(str(seed))
        self.care = self.rng.choice((0.5, 0.8, 0.9, 0.97))  # how often the first of several is taken
        self.harm = self.rng.choice((0, 0.04))  # how often a message is damaged

    def often(self, chance: float) -> bool:
        return self.rng.random() < chance

    def choose(self, options: Sequence[Any]) -> Any:
        return options[0] if self.often(self.care) else self.rng.choice(options)

    def archive(self) -> bytes:
        size = self.choose(SIZES)
        entries = [Entry("w", bytes(size)), Entry("v", b""), Entry("e.bin", bytes(1024))]
        archive = Archive([*entries, Entry(MODEL, self.model())])
        if self.often(0.1):
            archive.edit(Entry("x", b"x"), Entry(MODEL, self.model()))
        if self.often(0.05):
            archive.set_local(0, time=1)
        return bytes(archive.file)

    # --- the wire

    def noise(self) -> bytes:
        """A field that need not be one."""
        number = self.rng.choice((*range(1, 26), 99, (1 << 29) - 1))
        tag = self.rng.choice((0, 0, 0, 5, 6))
        varint = wire.varint(self.rng.choice(NUMBERS), self.rng.choice((0, 0, 0, 10, 11)))
        return self.rng.choice(
            (
                wire.varint(number << 3, tag) + varint,
                wire.varint(number << 3 | 1) + bytes(self.rng.choice((8, 8, 8, 7))),
                wire.varint(number << 3 | 5) + bytes(self.rng.choice((4, 4, 4, 3))),
                wire.block(number, self.rng.randbytes(self.rng.choice((0, 1, 4, 8)))),
                wire.block(number, self.rng.randbytes(self.rng.choice((0, 1, 4, 8)))),
                wire.varint(number << 3 | self.rng.choice((3, 4, 6, 7))),
            )
        )

    def message(self, fields: Sequence[bytes]) -> bytes:
        """The fields, now and then with one more, in another order, or cut short."""
        fields = list(fields)
        if self.often(self.harm):
            fields.insert(self.rng.randrange(len(fields) + 1), self.noise())
        if self.often(self.harm):
            self.rng.shuffle(fields)
        if fields and self.often(self.harm / 2):
            fields.append(self.rng.choice(fields))
        data = b"".join(fields)
        return data[:-1] if self.often(self.harm / 4) else data

    # --- tensors

    def pair(self, key: str) -> bytes:
        value = self.choose(VALUES[key])
        return self.message([wire.block(1, key), wire.block(2, value)])

    def link(self) -> list[bytes]:
        keys = self.rng.sample(sorted(VALUES), self.rng.randrange(1, 5))
        keys += ["location"] * ("location" not in keys and self.often(self.care))
        keys += [self.rng.choice(sorted(VALUES))] * self.often(self.harm)
        place = wire.scalar(14, self.choose(PLACES))
        return [*(wire.block(13, self.pair(key)) for key in keys), place]

    def dims(self) -> list[bytes]:
        dims = self.choose(DIMS)
        if self.often(0.15):
            cut = b"\x80" * self.often(self.harm)
            return [wire.block(1, b"".join(map(wire.varint, dims)) + cut)]
        return [wire.scalar(1, dim) for dim in dims]

    def typed(self) -> bytes:
        number = self.choose(TYPED)
        run = bytes(self.rng.choice((0, 1, 4, 8, 5, 1024, 1028, 1028)))
        values = (wire.scalar(number, 1), wire.block(number, run), wire.block(number, b"\x80"))
        return self.rng.choice(values)

    def tensor(self, _depth: int) -> bytes:
        linked = self.often(0.7)
        fields = [*self.dims(), wire.scalar(2, self.choose(KINDS)), wire.block(8, "t")]
        fields += self.link() if linked else []
        has_raw = linked != self.often(self.care)
        if has_raw:
            fields.append(wire.block(9, bytes(self.choose((1024, 0, 4, 1023, 1028)))))
        is_bare = not linked and not has_raw
        fields += [self.typed()] * (not self.often(self.care) or (is_bare and self.often(0.5)))
        return self.message(fields)

    def sparse(self, depth: int) -> bytes:
        fields = [wire.block(number, self.tensor(depth)) for number in (1, 2) if self.often(0.9)]
        return self.message(fields)

    # --- graphs

    def child(self, children: dict[int, str], depth: int) -> bytes:
        number = self.rng.choice(list(children))
        make: Callable[[int], bytes] = getattr(self, children[number])
        return wire.block(number, make(depth))

    def attribute(self, depth: int) -> bytes:
        values = [self.child(IN_ATTRIBUTE, depth) for _ in range(self.rng.choice((1, 1, 1, 2)))]
        return self.message([wire.block(1, "value"), *values])

    def node(self, depth: int) -> bytes:
        count = self.rng.choice((0, 1, 1, 2))
        return self.message([wire.block(5, self.attribute(depth)) for _ in range(count)])

    def graph(self, depth: int) -> bytes:
        count = self.rng.choice((0, 1, 1, 2, 3)) if depth < DEEPEST else 0
        return self.message([self.child(IN_GRAPH, depth + 1) for _ in range(count)])

    def model(self) -> bytes:
        fields = [wire.scalar(1, 8)]
        fields += [wire.block(7, self.graph(0))] * self.often(0.98)
        if self.often(0.1):
            graphs = [wire.block(number, self.graph(2)) for number in (1, 2)]
            fields.append(wire.block(20, self.message(graphs)))
        if self.often(0.1):
            parts = (wire.block(7, self.node(2)), wire.block(11, self.attribute(2)))
            fields.append(wire.block(25, self.message(parts)))
        return self.message(fields)
