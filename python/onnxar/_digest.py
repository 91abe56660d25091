"""The digest of an archive's content."""

from __future__ import annotations

import dataclasses

from onnxar._open import opened
from onnxar._options import expect_natural
from onnxar._progress import Progress, reporting
from onnxar._sources import Source


@dataclasses.dataclass(frozen=True)
class Digest:
    """The SHA-256 of an archive's content (spec/digest.md), and of the bytes of each entry by its name, as hexadecimal digits.
    `entries` lacks the signature `onnxar.sig`, which the digest does not cover. They are in the order of the manifest."""

    hex: str
    entries: dict[str, str] = dataclasses.field(hash=False)

    @property
    def manifest(self) -> str:
        """Returns the text whose SHA-256 is `hex`: a line for each entry, as sha256sum prints it."""
        return "".join(f"{value}  {name}\n" for name, value in self.entries.items())


def digest(source: Source, *, threads: int = 0, progress: Progress = None) -> Digest:
    """Returns the digest of an archive. Archives with the same names and bytes have the same digest.

    Reads all bytes and compares their CRC-32s.

    Args:
        source: See `onnxar.open`; or an open archive, whose graphs are all covered.
        threads: The number of threads; 0: one per core. An archive at an address uses one.
        progress: See `onnxar.pack`.

    Raises:
        Error: zip.data.crc; io.changed; what `onnxar.open` raises.

    Example:

        print(onnxar.digest("model.onnxar").hex)
    """
    expect_natural(threads=threads)
    with opened(source) as archive, reporting(progress, "hashing") as tell:
        value, entries = archive._handle.digest(threads, tell)
    return Digest(value, dict(entries))
