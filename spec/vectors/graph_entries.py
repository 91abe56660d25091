"""What archives of several graphs are built from: graphs, their links and their metadata."""

from __future__ import annotations

import wire
from builder import Entry
from vector import content, model

NAME_KEY = "onnxar.model.name"


def graph(
    *tensors: bytes, name: str = "b.onnx", behind: bytes = b"", **differing: object
) -> Entry:
    """A further graph with these tensors; `behind` are fields of its ModelProto."""
    data = wire.model(*map(wire.initializer, tensors), behind=behind)
    return Entry(name, data, **differing)


def main(*tensors: bytes, behind: bytes = b"") -> Entry:
    return model(graph(*tensors, behind=behind).data)


def metadata(key: str, value: str) -> bytes:
    return wire.block(14, wire.pair(key, value))


def linked(location: str = "w", name: str = "w", **differing: object) -> bytes:
    return wire.linked(name, location, **differing)


def inline() -> bytes:
    return wire.tensor("i", wire.raw(content(2, 16)), dims=(4,))
