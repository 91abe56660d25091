"""The checksums of links (M22, R13)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from archive import Archive
from model import Link
from rules import ERROR, Finding, finding
from tensors import Tensor


def sha1_of(tensor: Tensor) -> bytes | None:
    """Returns the value of `checksum`; None if there is none, or it is not a SHA-1 (R13)."""
    text = tensor.keys.get(b"checksum", b"")
    return bytes.fromhex(text.decode()) if re.fullmatch(rb"[0-9A-Fa-f]{40}", text) else None


def has_odd_checksum(tensor: Tensor) -> bool:
    """True if R13 applies."""
    return b"checksum" in tensor.keys and sha1_of(tensor) is None


def check_checksums(links: list[Link], archive: Archive) -> Iterator[Finding]:
    """Checks M22 (stage check data). Computes the sum once for an entry that many tensors name."""
    sums: dict[bytes, bytes] = {}
    for link in links:
        expected, entry = sha1_of(link.tensor), link.entry
        if expected is None or link.length != entry.size:
            continue
        if entry.key not in sums:
            sums[entry.key] = hashlib.sha1(archive.data(entry)).digest()
        if sums[entry.key] != expected:
            yield finding(ERROR, "M22", link.tensor.at, link.tensor.graph)
