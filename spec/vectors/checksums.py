"""Checksums of links: rules M22 and R13."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import wire
from builder import MODEL, Archive, Entry
from invalid_models import refused
from vector import Invalid, Valid, Vector, content, model, weight

W = weight("w").data
RIGHT = hashlib.sha1(W).hexdigest()
OTHER = hashlib.sha1(b"other bytes").hexdigest()
MIXED = RIGHT[:20].upper() + RIGHT[20:]

# Forms that are not the SHA-1 in 40 hexadecimal digits.
ODD = (
    ("empty", "", "An empty checksum."),
    ("short", RIGHT[:-1], "A checksum of 39 digits."),
    ("long", RIGHT + "0", "A checksum of 41 digits."),
    ("letter", RIGHT[:-1] + "g", "A checksum whose last digit is a g."),
    ("prefix", "0x" + RIGHT[2:], "A checksum that begins with 0x."),
    ("named", "sha1:" + RIGHT, "A checksum with the name of its kind before it."),
    ("space", RIGHT + "\n", "A checksum and the end of a line."),
    ("sha256", hashlib.sha256(W).hexdigest(), "A SHA-256."),
    ("wide", RIGHT[:-2] + "\u0661", "A checksum that ends in a digit of another script, of 2 bytes."),
)


def vectors() -> Iterator[Vector]:
    yield from kept()
    yield from odd()
    yield from broken()
    yield from graphs()


def linked(
    checksum: str,
    *,
    name: str = "w",
    location: str = "w",
    offset: int = 0,
    length: object = 1024,
    **shape: object,
) -> bytes:
    pairs: list[tuple[str, object]] = [("location", location), ("offset", offset)]
    pairs += [("length", length)] if length is not None else []
    return wire.tensor(name, wire.link(*pairs, ("checksum", checksum)), **shape)


def archive_of(*tensors: bytes, size: int = 1024) -> Archive:
    return Archive([weight("w", size), model(wire.model_of(*tensors))])


def kept() -> Iterator[Valid]:
    for name, checksum, about in (
        ("", RIGHT, "A checksum of the whole entry."),
        ("_upper", RIGHT.upper(), "A checksum in capitals."),
        ("_mixed", MIXED, "A checksum in capitals and small letters."),
    ):
        yield Valid(f"link_checksum{name}", about, archive_of(linked(checksum)))
    about = "A checksum of other bytes, and a link to a part of the entry: it says nothing of that."
    yield Valid("link_checksum_of_part", about, archive_of(linked(OTHER), size=1100))
    tensor = linked(OTHER, offset=64, length=960, dims=(240,))
    about = "The same of the entry's last bytes."
    code = "onnx.external.small"
    yield Valid("link_checksum_of_rest", about, archive_of(tensor), warnings=(code,))
    none = hashlib.sha1(b"").hexdigest()
    archive = Archive([Entry("w", b""), model(wire.model_of(linked(none, length=0, dims=(0,))))])
    about = "A checksum of an entry of no bytes."
    yield Valid("link_checksum_of_nothing", about, archive, warnings=(code,))
    pairs = wire.block(13, wire.pair("checksum", "none"))
    tensor = wire.tensor("x", wire.raw(content(1, 1024)), pairs)
    about = "A checksum in a tensor that is not linked: it is not looked at."
    yield Valid("link_checksum_inline", about, Archive([model(wire.model_of(tensor))]))
    about = "Two tensors that share their data and its checksum."
    tensors = linked(RIGHT), linked(MIXED, name="v", length=None)
    notes = ("archive.entry.shared",)
    yield Valid("link_checksum_shared", about, archive_of(*tensors), notes=notes)


def odd() -> Iterator[Valid]:
    code = "onnx.external_data.checksum"
    for name, checksum, about in ODD:
        archive = archive_of(linked(checksum))
        yield Valid(f"warning_checksum_{name}", about, archive, warnings=(code,))
    about = "A link to a part of an entry, whose checksum is none."
    archive = archive_of(linked("none"), size=1100)
    yield Valid("warning_checksum_of_part", about, archive, warnings=(code,))


def graphs() -> Iterator[Valid]:
    data = wire.model_of(linked(RIGHT.upper()))
    archive = Archive([weight("w"), Entry("b.onnx", data), model(wire.model_of(linked(RIGHT)))])
    about = "A checksum of the whole entry in the model and in a further graph."
    yield Valid("graph_checksum", about, archive)
    archive = Archive([weight("w"), Entry("b.onnx", wire.model_of(linked(""))), model()])
    code = "onnx.external_data.checksum"
    about = "An empty checksum in a further graph."
    yield Valid("warning_graph_checksum", about, archive, warnings=(code,))


def in_graphs() -> Iterator[Invalid]:
    """The tensor of the graph is refused, whatever the model says of the same entry."""
    tensor = linked(OTHER)
    for name, of_model, about in (
        ("graph", wire.linked("w"), "A further graph has a checksum of other bytes."),
        ("graph_alone", linked(RIGHT), "The same beside a model whose checksum is right."),
    ):
        graph = wire.model_of(tensor)
        entries = [weight("w"), Entry("b.onnx", graph), model(wire.model_of(of_model))]
        archive = Archive(entries)
        at = archive.data[1] + graph.index(tensor)
        name, file = f"checksum_of_{name}", bytes(archive.file)
        yield Invalid(name, about, "M22", file, at, "b.onnx", "data")


def broken() -> Iterator[Invalid]:
    def other(name: str, about: str, tensor: bytes, *others: bytes, size: int = 1024) -> Invalid:
        """It is `tensor` that is refused."""
        data = wire.model_of(*others, tensor)
        made = refused(f"checksum_{name}", "M22", about, data, data.index(tensor), w=size)
        return Invalid(made.name, about, "M22", made.file, made.offset, MODEL, "data")

    yield other("other", "A checksum of other bytes.", linked(OTHER))
    yield other("other_upper", "A checksum of other bytes, in capitals.", linked(OTHER.upper()))
    last = RIGHT[:-1] + ("1" if RIGHT[-1] == "0" else "0")
    yield other("last_digit", "A checksum whose last digit is another.", linked(last))
    about = "No length, and a shape that takes in the whole entry; a checksum of other bytes."
    yield other("no_length", about, linked(OTHER, length=None))
    about = "No length, and a type that nobody knows; a checksum of other bytes."
    yield other("unknown_type", about, linked(OTHER, length=None, kind=99))
    about = "A link to no bytes, which an entry has; a checksum of other bytes."
    yield other("of_nothing", about, linked(OTHER, length=0, dims=(0,)), size=0)
    about = "Two tensors that share their data: the second one has a checksum of other bytes."
    yield other("of_shared", about, linked(OTHER), linked(RIGHT))
    sums = hashlib.sha1(W[:512]).hexdigest()
    about = "A checksum of the first half of what the link takes in."
    yield other("of_half", about, linked(sums))
    yield from in_graphs()
    tensor = linked(OTHER, location=MODEL, length=None, kind=99)
    about = "A link to all of the model's own bytes, and a checksum of others."
    data = wire.model_of(tensor)
    made = refused("checksum_of_model", "M22", about, data, data.index(tensor))
    yield Invalid(made.name, about, "M22", made.file, made.offset, MODEL, "data")
