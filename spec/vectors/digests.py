"""Archives with a signature (../digest.md)."""

from __future__ import annotations

from collections.abc import Iterator

import wire
from builder import Archive, Entry
from vector import Valid, content, model, side_file, weight

SIGNATURE = "onnxar.sig"


def vectors() -> Iterator[Valid]:
    signature = Entry(SIGNATURE, content(3, 300))
    about = "The digest leaves the signature out."
    archive = Archive([side_file(), signature, model()])
    yield Valid("signature", about, archive, left_out=SIGNATURE)
    about = "A tensor names the entry, so the digest covers it."
    archive = Archive([weight(SIGNATURE), model(wire.model_of(wire.linked("w", SIGNATURE)))])
    warnings = ("archive.key.not_identifier",)
    yield Valid("signature_is_weight", about, archive, warnings=warnings)
    about = "Names that differ from that of a signature."
    names = ("onnxar.sig.bak", "ONNXAR.SIGN", "a/onnxar.sig")
    yield Valid("signature_nearly", about, Archive([*map(side_file, names), model()]))
