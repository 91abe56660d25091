"""Small ONNX models whose tensors lie in data files."""

from __future__ import annotations

import hashlib

from support.sites import at_every_site
from support.wire_writer import (
    FLOAT,
    NAME,
    TYPES,
    UINT8,
    DataFile,
    block,
    content,
    fields_of,
    head,
    model,
    plain,
    raw,
    tensor,
)

MIB = 1 << 20

External = tuple[bytes, list[DataFile]]  # a model, and the files next to it


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
    return plain(*(fields_of(f"w{number}", FLOAT, [300], link) for number, link in enumerate(links))), [whole, tail]


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
    """Tensors that stay in a model even if they were external: shapes, empty tensors."""
    file = DataFile("weights.bin")
    return plain(
        file.tensor("shape", TYPES["INT64"], 4),
        file.tensor("index", TYPES["INT32"], 200),
        fields_of("empty", FLOAT, [0], file.link(offset=0, length=0)),
        file.tensor("bias", FLOAT, 8),
    ), [file]


def external_checksum() -> External:
    """The checksum covers the whole file, which holds one tensor."""
    file = DataFile("weights.bin")
    data = content(FLOAT, 300, "checksum")
    file.add(data)
    link = file.link(length=len(data), checksum=hashlib.sha1(data).hexdigest())
    return plain(fields_of("w", FLOAT, [300], link)), [file]


def external_link_first() -> External:
    """The link precedes the fields that determine its length."""
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
