"""The digest of an archive (../digest.md)."""

from __future__ import annotations

import hashlib

from archive import Archive
from directory import Entry
from model import read_model

SIGNATURE = b"onnxar.sig"


def digest(archive: Archive) -> str:
    """S3, in hexadecimal."""
    return hashlib.sha256(manifest(archive)).hexdigest()


def manifest(archive: Archive) -> bytes:
    """S2."""
    entries = sorted(covered(archive), key=lambda entry: entry.key)
    return b"".join(b"%s  %s\n" % (sha256(archive, entry), entry.key) for entry in entries)


def covered(archive: Archive) -> list[Entry]:
    """S1."""
    signature = archive.by_name.get(SIGNATURE)
    if signature is None or any(link.entry is signature for link in read_model(archive).links):
        return archive.entries
    return [entry for entry in archive.entries if entry is not signature]


def sha256(archive: Archive, entry: Entry) -> bytes:
    """Of the bytes, whose CRC-32 must be right (S4)."""
    archive.check_crc(entry)
    return hashlib.sha256(archive.data(entry)).hexdigest().encode()
