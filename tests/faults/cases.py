"""The commands whose system calls fail, and the files that they work on."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

import numpy

from faults.running import Case
from support import wire_writer as wire
from support.archives import MODEL, Archive, Entry, linked, model_of, weights

LARGE = 40_000  # floats of a tensor that is written without passing a buffer
NAMELESS = ("tmpfile",)


def graph(name: str, *tensors: bytes) -> Entry:
    called = "main" if name == MODEL else name.removesuffix(".onnx")
    return Entry(name, wire.plain(*tensors) + wire.block(14, wire.pair("onnxar.model.name", called)))


def family() -> bytes:
    """An archive of two graphs and a side file, of which one graph shares weights with the model."""
    return bytes(Archive(
        [
            *weights("w", "v", count=LARGE),
            Entry("t.json", b"{}"),
            Entry("deep/er/t.txt", b"text"),
            graph("b.onnx", linked("w", LARGE), linked("v", LARGE)),
            graph(MODEL, linked("w", LARGE)),
        ]
    ).file)  # fmt: skip


def edited_family() -> bytes:
    archive = Archive([*weights("w", "v"), Entry("t.json", b"{}"), graph("b.onnx", linked("v")), model_of(linked("w"))])
    archive.edit(model_of(linked("w"), wire.tensor("new", count=3)))
    return bytes(archive.file)


def small() -> bytes:
    return bytes(Archive([*weights("a", "b"), model_of(linked("a"), linked("b"))]).file)


def deflated(folder: str = "", model: str = "model.onnx", graph: str = "") -> bytes:
    """A zip of an exporter: model first, compressed."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(folder + model, wire.plain(linked("w", LARGE), linked("a")))
        file.writestr(folder + "w", wire.content(wire.FLOAT, LARGE, "w"))
        file.writestr(folder + "a", wire.content(wire.FLOAT, 300, "a"))
        if graph:
            file.writestr(graph, wire.plain(linked("a")))
    return data.getvalue()


def external() -> dict[str, bytes]:
    """A model with a data file."""
    data = wire.DataFile("m.data")
    model = wire.plain(data.tensor("w", count=LARGE), data.tensor("v"), wire.tensor("inside"))
    return {"in/m.onnx": model, "in/m.data": bytes(data.data)}


def computed(*tensors: bytes) -> bytes:
    """A model whose outputs are its tensors w and v."""
    outputs = b"".join(wire.block(12, wire.block(1, name)) for name in "wv")
    return wire.model(wire.Part(wire.initializers(*tensors) + outputs))


def arrays() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file, file.open("w.npy", "w") as entry:
        numpy.lib.format.write_array(entry, numpy.arange(300, dtype=numpy.float32))  # type: ignore[arg-type]
    return data.getvalue()


INLINE = wire.plain(wire.tensor("w", count=LARGE), wire.tensor("v"))
OTHER = wire.plain(wire.tensor("w", count=LARGE, seed="other"))
OLD = {"out/a.onnxar": small()}
FAMILY = {"in/f.onnxar": family()}
SIDE = {"in/t.json": b'{"a": 1}', "in/c.onnx": wire.plain(wire.tensor("w", count=LARGE), wire.tensor("more"))}


def packing() -> Iterator[Case]:
    pack, to = ("pack", "-j1"), ("-o", "out/a.onnxar")
    yield Case("pack", (*pack, "in/m.onnx", *to), external())
    yield Case("pack, replacing", (*pack, "in/m.onnx", *to, "-f"), {**external(), **OLD})
    yield Case("pack, onto itself", (*pack, "out/a.onnxar", *to, "-f"), {"out/a.onnxar": edited_family()})
    yield Case("pack, without syncs", (*pack, "in/m.onnx", *to, "--no-sync"), external())
    yield Case("pack, of a stream", (*pack, "-", *to), {}, stdin=INLINE)
    yield Case("pack, of a foreign zip", (*pack, "in/z.zip", *to), {"in/z.zip": deflated("m/")})
    files = ("--add", "t.json=in/t.json", "--add", "c.onnx=in/c.onnx", "--checksum", "sha1")
    yield Case("pack, of several graphs", (*pack, "in/m.onnx", *to, *files), {"in/m.onnx": INLINE, **SIDE})
    yield Case("pack, with hidden names", (*pack, "in/m.onnx", *to), external(), lacks=NAMELESS)
    yield Case("pack, without openat2", (*pack, "in/m.onnx", *to), external(), lacks=("openat2",))
    yield Case("pack, replacing, with hidden names", (*pack, "in/m.onnx", *to, "-f"), {**external(), **OLD}, lacks=NAMELESS)  # fmt: skip
    yield Case("pack, with links for renames", (*pack, "in/m.onnx", *to), external(), lacks=(*NAMELESS, "rename_new"))


def unpacking() -> Iterator[Case]:
    unpack, old = ("unpack", "-j1", "in/f.onnxar", "-o"), {"out/m.onnx": b"old", "out/m.data": b"old data"}
    yield Case("unpack", (*unpack, "out/m.onnx"), FAMILY)
    yield Case("unpack, replacing", (*unpack, "out/m.onnx", "-f"), {**FAMILY, **old})
    yield Case("unpack, data beside", (*unpack, "out/m.onnx", "--external-data", "m.data"), FAMILY)
    yield Case("unpack, data beside, replacing", (*unpack, "out/m.onnx", "--external-data", "m.data", "-f"), {**FAMILY, **old})  # fmt: skip
    yield Case("unpack, into a folder", (*unpack, "out/new/"), FAMILY)
    yield Case("unpack, into a folder, per tensor", (*unpack, "out/new/", "--per-tensor"), FAMILY)
    yield Case("unpack, into a folder, with hidden names", (*unpack, "out/new/"), FAMILY, lacks=NAMELESS)
    yield Case("unpack, into a folder, without openat2", (*unpack, "out/new/"), FAMILY, lacks=("openat2",))
    yield Case("unpack, as text", (*unpack, "out/m.txt", "--text"), {"in/f.onnxar": small()})


def repacking() -> Iterator[Case]:
    repack, onto = ("repack", "-j1"), ("out/a.onnxar", "-o", "out/a.onnxar", "-f")
    yield Case("repack", (*repack, "in/z.zip", "-o", "out/a.onnxar"), {"in/z.zip": deflated()})
    yield Case("repack, replacing", (*repack, "in/z.zip", "-o", "out/a.onnxar", "-f"), {"in/z.zip": deflated(), **OLD})
    family_zip = {"in/z.zip": deflated(model=MODEL, graph="g.onnx")}
    yield Case("repack, of a zip with a graph", (*repack, "in/z.zip", "-o", "out/a.onnxar"), family_zip)
    yield Case("repack, onto itself", (*repack, *onto), {"out/a.onnxar": edited_family()})
    yield Case("repack, onto itself, with hidden names", (*repack, *onto), {"out/a.onnxar": edited_family()}, lacks=NAMELESS)


def editing() -> Iterator[Case]:
    archive = "out/a.onnxar"
    new = {"in/m.onnx": OTHER, **SIDE}
    add = ("--add", "u.json=in/t.json", "--add", "c.onnx=in/c.onnx")
    yield Case("replace", ("replace", archive, "in/m.onnx"), {archive: small(), **new}, edits=archive)
    yield Case("replace, by a model with a data file", ("replace", archive, "in/m.onnx", "--append-external"), {archive: small(), **external()}, edits=archive)  # fmt: skip
    yield Case("replace, of several graphs", ("replace", archive, "in/m.onnx", *add), {archive: family(), **new}, edits=archive)  # fmt: skip
    yield Case("replace, files alone", ("replace", archive, "--remove", "b.onnx", *add), {archive: family(), **new}, edits=archive)  # fmt: skip
    yield Case("replace, without syncs", ("replace", archive, "in/m.onnx", "--no-sync"), {archive: small(), **new}, edits=archive)  # fmt: skip
    lone = Archive([model_of(wire.tensor("w"))]).file
    yield Case("replace, written anew", ("replace", archive, "in/m.onnx"), {archive: bytes(lone), **new})
    edited = edited_family()
    yield Case("undo", ("undo", "-f", archive), {archive: edited}, edits=archive)
    yield Case("recover", ("recover", archive), {archive: edited[:-7]}, edits=archive)


def taking_out() -> Iterator[Case]:
    extract = ("extract", "in/f.onnxar")
    yield Case("cat", ("cat", "in/f.onnxar", "w"), FAMILY)
    yield Case("extract", (*extract, "w", "-o", "out/w.npy"), FAMILY)
    yield Case("extract, replacing", (*extract, "w", "-o", "out/w.npy", "-f"), {**FAMILY, "out/w.npy": b"old"})
    several = {"in/f.onnxar": small()}
    yield Case("extract, into a new folder", (*extract, "*", "-o", "out/new/"), several)
    yield Case("extract, into a folder", (*extract, "*", "-o", "out/"), several)
    yield Case("extract, into a folder, replacing", (*extract, "*", "-o", "out/", "-f"), {**several, "out/a.npy": b"old"})  # fmt: skip


def others() -> Iterator[Case]:
    link = ("link", "out/a.onnxar", "-o", "out/m.onnx")
    yield Case("link", link, OLD)
    yield Case("link, replacing", (*link, "-f"), {**OLD, "out/m.onnx": b"old"})
    freeze = ("freeze", "in/m.onnx", "-o", "out/a.onnxar")
    data = wire.DataFile("m.data")
    model = computed(wire.fields_of("w", wire.FLOAT, [300], b""), data.tensor("v", count=LARGE))
    files = {"in/m.onnx": model, "in/m.data": bytes(data.data), "in/w.npz": arrays()}
    yield Case("freeze", (*freeze, "--weights", "in/w.npz"), files)
    yield Case("freeze, replacing", (*freeze, "--weights", "in/w.npz", "-f"), {**files, **OLD})


def looking() -> Iterator[Case]:
    yield Case("check", ("check", "--data", "in/f.onnxar"), FAMILY)
    yield Case("check, of a data file", ("check", "--data", "in/m.onnx"), external())
    yield Case("ls", ("ls", "--json", "in/f.onnxar"), FAMILY)
    yield Case("show", ("show", "in/f.onnxar"), FAMILY)
    yield Case("dump", ("dump", "--with-data", "in/f.onnxar"), {"in/f.onnxar": small()})
    yield Case("diff", ("diff", "in/f.onnxar", "in/g.onnxar"), {"in/f.onnxar": small(), "in/g.onnxar": small()})


def all_cases() -> Iterator[Case]:
    for cases in (packing, unpacking, repacking, editing, taking_out, others, looking):
        yield from cases()
