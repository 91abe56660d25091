"""The digest of an archive (../digest.md)."""

from __future__ import annotations

import hashlib

from archive import Archive
from directory import Entry
from model import read_model

SIGNATURE = b"onnxar.sig"


def digest(archive: Archive) -> str:
    """Returns the digest in hexadecimal (S3)."""
    return hashlib.sha256(manifest(archive)).hexdigest()


def manifest(archive: Archive) -> bytes:
    """Returns the manifest (S2)."""
    entries = sorted(covered(archive), key=lambda entry: entry.key)
    return b"".join(b"%s  %s\n" % (sha256(archive, entry), entry.key) for entry in entries)


def covered(archive: Archive) -> list[Entry]:
    """Returns the covered entries (S1)."""
    signature = archive.by_name.get(SIGNATURE)
    if signature is None or any(link.entry is signature for link in read_model(archive).links):
        return archive.entries
    return [entry for entry in archive.entries if entry is not signature]


def sha256(archive: Archive, entry: Entry) -> bytes:
    """Returns the SHA-256 of an entry's bytes, after it compared their CRC-32 (S4)."""
    archive.check_crc(entry)
    return hashlib.sha256(archive.data(entry)).hexdigest().encode()
