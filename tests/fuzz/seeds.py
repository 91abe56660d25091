"""Writes the inputs that fuzzing begins with, one folder per target: made ones, and the corpus. Every run writes the same.

Usage: seeds.py FOLDER
"""

from __future__ import annotations

import io
import json
import shutil
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import corpus
from graph_seeds import Seeds, graphs
from support import archives, wire_writer as wire, zoo
from support.sites import SITES, at_every_site
from support.stock_layout import LAYOUTS, relaid

LARGEST = 5000  # bytes
SMALLEST = bytes.fromhex("3a00")  # a model whose graph is empty
SMALL_ZOO = (
    zoo.shapes, zoo.not_convertible, zoo.extras, zoo.nesting, zoo.field_order, zoo.rare_fields, zoo.padded_lengths, zoo.typed_fields,
)  # fmt: skip


def models() -> Seeds:
    for label, encode in {**wire.ENCODINGS, "split": wire.split_runs}.items():
        tensors = (wire.tensor(kind.name, kind, 4, encode) for kind in wire.TYPES.values())
        yield f"types_{label}", wire.plain(*tensors)
    yield "sites", wire.model(*at_every_site(lambda site: wire.tensor(site, count=2)))
    for site, put in SITES.items():
        yield f"site_{site}", wire.model(put(wire.tensor("w", count=3)))
        yield f"site_{site}_linked", wire.model(put(archives.linked("w", 3)))
    for make in SMALL_ZOO:
        yield from make()
    itself = wire.DataFile("in")  # the name of the model in split_join
    for name, link in {"whole": itself.link(), "part": itself.link(offset=3, length=12)}.items():
        yield f"link_to_itself_{name}", wire.plain(wire.fields_of("w", wire.FLOAT, [3], link))
    yield "graph_only", SMALLEST
    long = wire.raw(wire.FLOAT, bytes(9))
    yield "long_raw", wire.plain(wire.fields_of("w", wire.FLOAT, [1], long))
    yield "strings", wire.plain(wire.strings("s"))
    yield "tied", wire.plain(*(wire.tensor(name, count=4, seed="tied") for name in "ab"))
    for size in (127, 128, 1023, 1024, 1025):
        yield f"bytes_{size}", wire.plain(wire.tensor("w", wire.UINT8, size))


def zips() -> Seeds:
    a, b = archives.weights("a", "b", count=3)
    model = archives.model_of(archives.linked("a", 3), archives.linked("b", 3))
    yield "sound", archives.Archive([a, b, model]).file
    yield "smallest", archives.Archive([archives.Entry(archives.MODEL, SMALLEST)]).file
    folder = archives.Entry("folder/a b.json", b"{}")
    empty = archives.Entry("empty", b"")
    yield "names", archives.Archive([empty, folder, a, model_without_b()]).file
    aligned = archives.Entry("a", a.data, 1024)
    yield "aligned", archives.Archive([aligned, model_without_b()]).file
    edited = archives.Archive([a, model_without_b()])
    edited.edit(b, model)
    yield "edited", edited.file
    edited.edit(model_without_b())
    yield "edited_twice", edited.file
    sound = bytes(archives.Archive([a, b, model]).file)
    for name, layout in LAYOUTS.items():
        yield f"stock_{name.replace(' ', '_')}", relaid(sound, layout)
    yield "zip64", zip64_archive()
    yield "zip64_end", archives.Archive([a, b, model], zip64=True).file
    part = archives.linked("a", 2, offset=4, length=8)
    yield "slices", archives.Archive([a, archives.model_of(part, archives.linked("a", 3))]).file
    fault = archives.Archive([a, b, model])
    fault.set_local(0, crc32=1)
    yield "local_crc", fault.file
    fault = archives.Archive([a, b, model])
    fault.set_both(0, crc32=1)
    yield "data_crc", fault.file


def model_without_b() -> archives.Entry:
    return archives.model_of(archives.linked("a", 3))


def zip64_archive() -> bytes:
    """Its only entry has its sizes and offset in zip64 fields that are not needed."""
    size, sentinel = len(SMALLEST), archives.SENTINEL32
    both, central = {"version": 45, "size": sentinel, "compressed": sentinel}, {"made_by": 45, "offset": sentinel}
    fields = archives.zip64_field(size, size), archives.zip64_field(size, size, 0)
    wide = archives.Entry(archives.MODEL, SMALLEST, both=both, extra=fields[0], central=central, central_extra=fields[1])
    return archives.Archive([wide]).file


def vectors() -> Seeds:
    folder = ROOT / "spec" / "vectors"
    for path in sorted(folder.rglob("*.onnxar")):
        yield "vector_" + "_".join(path.relative_to(folder).parts), path.read_bytes()


def all_zips() -> Seeds:
    yield from zips()
    yield from vectors()


def plain_zips() -> Seeds:
    """Zips as zip tools make them, with different names for the model."""
    stand_in = wire.fields_of("w", wire.FLOAT, [3], wire.block(wire.RAW_DATA, "__EXTERNAL"))
    for label, method in {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}.items():
        for model in (archives.MODEL, archives.MODEL + ".onnx", "m.onnx", "top/m.onnx"):
            name = model.replace("/", "_")
            yield f"{label}_{name}", written(io.BytesIO(), method, model, wire.plain(stand_in))
            yield f"{label}_{name}_linked", written(io.BytesIO(), method, model, wire.plain())
        yield f"{label}_streamed", written(Unseekable(), method, "m.onnx", wire.plain())
    yield from all_zips()


class Unseekable(io.BytesIO):
    """A zip with data descriptors, which zipfile writes to a pipe."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: object) -> int:
        raise io.UnsupportedOperation

    def tell(self) -> int:
        raise io.UnsupportedOperation


def written(out: io.BytesIO, method: int, model: str, proto: bytes) -> bytes:
    """A zip of a model, a folder, a tensor and a comment."""
    date = (1980, 1, 1, 0, 0, 0)
    with zipfile.ZipFile(out, "w", method) as file:
        file.comment = b"comment"
        for name, data in ((model, proto), ("top/", b""), ("top/w", bytes(12))):
            info = zipfile.ZipInfo(name, date)
            info.compress_type = method
            file.writestr(info, data)
    return out.getvalue()


def questions() -> Seeds:
    def ask(location: str | int, offset: int = 0, length: int | None = None) -> bytes:
        index = isinstance(location, int)
        head = bytes([0xC0 + location]) if index else bytes([len(location)]) + location.encode()
        return head + struct.pack("<BQQ", length is not None, offset, length or 0)

    asked = ask("a") + ask(0, 4, 8) + ask(1, 2**64 - 1, 2) + ask("missing", 0, 0) + ask(0, 12, 0)
    for name, data in all_zips():
        yield name, data + asked + struct.pack("<H", len(asked))


def links() -> Seeds:
    locations = (
        *("data.bin", "sub/inner.bin", "inner.bin", "inside.bin", "in", "sub/in"),
        *("./data.bin", "sub/../data.bin", "sub//inner.bin", "data.bin/", "sub", ".", "", "a\0b"),
        *("out", "absolute", "up/secret", "sub/up", "root/etc/passwd", "../secret", "/etc/passwd"),
        *("loop", "nowhere", "model.onnx", "../model-2/secret", "up/model/data.bin"),
        *("#onnxar:1:0", "*/_ORT_MEM_ADDR_/*"),
    )
    for number, location in enumerate(locations):
        for case in range(4):
            pairs = f"location={location}\noffset=4\nlength=5\n"
            yield f"{number}_{case}", bytes([case]) + pairs.encode()
    yield "rest", b"\0location=data.bin\n"
    yield "expected", b"\0expected=3\nlocation=data.bin\noffset=1\nchecksum=0\nextra=1"
    numbers = ("00", "-1", "+1", " 1", "1 ", "1e3", "0x10", "", str(2**64), str(2**64 - 1))
    for number, text in enumerate(numbers):
        yield f"offset_{number}", f"\0location=data.bin\noffset={text}".encode()
        yield f"length_{number}", f"\0location=data.bin\nlength={text}".encode()
    yield "twice", b"\0location=data.bin\nlocation=sub/inner.bin"


def texts() -> Seeds:
    """Models in protobuf's text format."""
    tensor = 'name: "w" data_type: 1 dims: 2'
    data = r'raw_data: "\000\000\200?\000\000\000@"'
    for name, fields in (("raw", data), ("typed", "float_data: 1.5 float_data: -nan"), ("short", 'raw_data: "abc"'),
                         ("external", 'data_location: EXTERNAL external_data { key: "location" value: "data.bin" }')):
        yield f"text_{name}", f'ir_version: 8\ngraph {{ name: "g" initializer {{ {tensor} {fields} }} }}\n'.encode()
    yield "text_unfinished", b"# a comment\nir_version: 8 graph {"


def models_texts_and_zips() -> Seeds:
    yield from models()
    yield from texts()
    yield from zips()


def looked_into() -> Seeds:
    yield from graphs()
    yield from models_texts_and_zips()


def frozen() -> Seeds:
    yield from graphs()
    yield from models()


def pairs() -> Seeds:
    """Each model paired with itself, with its neighbour, and with a copy with one flipped bit."""
    before = b""
    for name, data in frozen():
        if len(data) > LARGEST // 2:
            continue
        flipped = bytearray(data)
        flipped[len(data) // 2] ^= 4
        for kind, other in (("same", data), ("flipped", bytes(flipped)), ("other", before)):
            yield f"{name}_{kind}", data + other + struct.pack("<H", len(other))
        before = data


def families() -> Seeds:
    """Archives with further graphs, over shared and own weights."""
    a, b = archives.weights("a", "b", count=3)
    model = archives.model_of(archives.linked("a", 3))
    own, both = (archives.model_of(*(archives.linked(name, 3) for name in names)).data for names in ("b", "ab"))
    side = archives.Entry("t.json", b"{}")
    yield "one", archives.Archive([a, b, archives.Entry("g.onnx", own), model]).file
    yield "two", archives.Archive([a, b, side, archives.Entry("g.onnx", own), archives.Entry("h.onnx", both), model]).file
    yield "not_graphs", archives.Archive([a, archives.Entry("d/g.onnx", own), archives.Entry("g.ONNX", both), model]).file
    named = wire.plain(archives.linked("a", 3)) + wire.block(14, wire.block(1, "onnxar.model.name") + wire.block(2, "m"))
    yield "named", archives.Archive([a, b, archives.Entry("g.onnx", own), archives.Entry(archives.MODEL, named)]).file
    edited = archives.Archive([a, model])
    edited.edit(b, archives.Entry("g.onnx", own), model)
    yield "edited", edited.file
    yield from zips()


def second(first: Seeds, *others: bytes) -> Seeds:
    """Each first input with each of the others behind it."""
    for name, data in first:
        for number, other in enumerate(others):
            yield f"{name}_{number}", bytes(data) + other + struct.pack("<H", len(other))


def linked_archives() -> Seeds:
    """Archives, with models beside them that link to the archive, to each other, and nowhere."""
    into = wire.DataFile("m.onnxar")
    fields = (into.link(offset=64, length=12), into.link(offset=1, length=12), wire.DataFile("hostile.onnx").link(offset=0, length=12))
    models = [wire.plain(wire.fields_of("w", wire.FLOAT, [3], field)) for field in fields]
    marked = b"".join(wire.block(14, wire.block(1, f"onnxar.link.{key}") + wire.block(2, value))
                      for key, value in (("archive", "m.onnxar"), ("size", "64"), ("state", "0")))  # fmt: skip
    yield from second((("sound", archives.sound().file),), b"", *models, models[0] + marked)
    yield from second(zips(), b"", *models, models[0] + marked)


def asked_by_c() -> Seeds:
    yield from second(families(), b"a", b"__MODEL_PROTO", b"missing")


def written_texts() -> Seeds:
    yield from texts()
    yield "text_nested", b'graph { node { op_type: "If" attribute { name: "then_branch" type: GRAPH g { name: "b" } } } }'
    yield "text_short_forms", b"graph < node < input: ['a', \"b\" 'c'] > > opset_import { version: 0x11 } ir_version: 010;"
    yield "text_unknown", b"nothing: 1 graph { name: 1 }"
    yield "text_escapes", b'producer_name: "\\x41\\101\\n\\u00e9\\U0001f600" doc_string: "a" "b"'
    yield "text_numbers", b'graph { initializer { float_data: [1e39, -inf, 0x1p3, .5, 1.f] double_data: nan int64_data: -9223372036854775808 } }'


def arrays() -> Seeds:
    """`.npy` files and `.npz` of them: some fill the model of the target."""
    made = {
        "w": np.float32([1, 2]), "v": np.uint8([1, 2, 3]), "scalar": np.float64(1), "empty": np.zeros((0, 3), np.int16),
        "column": np.zeros((2, 2), np.float32, "F"), "big": np.zeros(2, ">f4"), "text": np.array(["a"]), "half": np.zeros(4, "V2"),
    }  # fmt: skip
    files = {}
    for name, array in made.items():
        out = io.BytesIO()
        np.lib.format.write_array(out, array, version=(2, 0) if name == "v" else (1, 0))
        files[name] = out.getvalue()
        yield f"npy_{name}", files[name]
    for label, method in {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}.items():
        for names in (["w"], ["w", "v"], [*files]):
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w", method) as file:
                for name in names:
                    file.writestr(zipfile.ZipInfo(f"{name}.npy"), files[name], method)
            yield f"{label}_{len(names)}", out.getvalue()
    yield "npz_cut", out.getvalue()[:-9]
    yield from models()


def safetensors_of(tensors: dict[str, tuple[str, list[int], bytes]], *, metadata: dict[str, str] = {}, spaces: int = 0) -> bytes:
    header: dict[str, object] = {"__metadata__": metadata} if metadata else {}
    data = b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode() + b" " * spaces
    return len(text).to_bytes(8, "little") + text + data


def safe_files() -> Seeds:
    """Good files of each type, and files with one fault each."""
    widths = {"BOOL": 1, "U8": 1, "I8": 1, "U16": 2, "I16": 2, "U32": 4, "I32": 4, "U64": 8, "I64": 8, "F16": 2, "BF16": 2,
              "F32": 4, "F64": 8, "F8_E4M3": 1, "F8_E5M2": 1, "C64": 8, "C128": 16}  # fmt: skip
    for dtype, width in widths.items():
        yield f"safetensors_{dtype}", safetensors_of({"w": (dtype, [2, 3], bytes(6 * width)), "scalar": (dtype, [], bytes(width))})
    plain = {"w": ("F32", [2], bytes(8)), "e": ("U8", [0, 3], b""), "größe \"/\n": ("I64", [1], bytes(8))}
    good = safetensors_of(plain, metadata={"format": "pt"}, spaces=7)
    yield "safetensors_good", good
    yield "safetensors_none", safetensors_of({})
    yield "safetensors_metadata", safetensors_of({}, metadata={"a": "\U0001f600"})
    yield "safetensors_cut", good[:-1]
    yield "safetensors_longer", good + b"x"
    yield "safetensors_long_header", b"\xff" * 8 + good[8:]
    yield "safetensors_twice", good.replace(b'"e":', b'"w":')
    yield "safetensors_overlap", good.replace(b"[8, 16]", b"[7, 15]")
    yield "safetensors_half_pair", good.replace(b"\\u00f6", b"\\ud83d")
    yield "safetensors_other_type", good.replace(b'"F32"', b'"X32"')
    yield "safetensors_huge", good.replace(b"[0, 3]", b"[4294967296, 4294967296]"[:6])
    yield "safetensors_number", good.replace(b"[2]", b"[-]")
    yield "npz_no_safetensors", next(arrays())[1]


def zips_and_families() -> Seeds:
    yield from all_zips()
    yield from families()


TARGETS = {
    "zip_open": all_zips,
    "local_header": all_zips,
    "archive_resolve": questions,
    "repack": plain_zips,
    "wire_scan": models,
    "split_join": models,
    "external_data": links,
    "load": models_texts_and_zips,
    "inspect": looked_into,
    "npz": arrays,
    "safetensors": safe_files,
    "freeze": frozen,
    "diff": pairs,
    "graphs": families,
    "link": linked_archives,
    "text": written_texts,
    "python_load": families,
    "c_interface": asked_by_c,
    "reader_open": all_zips,
    "reader_walk": models,
    "reader_verify": zips_and_families,
}


def write_seeds(folder: Path) -> None:
    for target, make in TARGETS.items():
        home = folder / target
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        for name, data in make():
            if len(data) <= LARGEST:
                (home / name).write_bytes(data)
    corpus.unpack(folder)
    for target in TARGETS:
        print(f"{target}: {len(list((folder / target).iterdir()))} seeds")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write_seeds(Path(sys.argv[1]))
