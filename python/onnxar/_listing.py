"""Lists the entries of an archive, and returns their bytes."""

from __future__ import annotations

from onnxar._open import opened
from onnxar._sources import Source
from onnxar._types import Entry


def ls(archive: Source) -> list[Entry]:
    """Returns the entries of the archive in the order of the file; the model is last.

    Args:
        archive: See `onnxar.open`; or an open archive.

    Raises:
        Error: What `onnxar.open` raises.

    Example:

        for entry in onnxar.ls("model.onnxar"):
            print(entry.name, entry.dtype, entry.shape, entry.size)
    """
    with opened(archive) as known:
        return known.entries()


def cat(archive: Source, name: str | None = None) -> bytes:
    """Returns a copy of an entry's bytes, after comparing its CRC-32.

    Args:
        archive: See `ls`.
        name: The entry's name; without it, the serialised model is returned.

    Raises:
        Error: What `onnxar.open` raises; usage.no_such_entry; zip.data.crc.

    Example:

        config = json.loads(onnxar.cat("model.onnxar", "config.json"))
    """
    with opened(archive) as known:
        return known.model() if name is None else known._handle.copy(name)
