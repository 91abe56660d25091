"""Archives that break rule G6: the folder of a graph has a file of a weight's name (../graphs.md)."""

from __future__ import annotations

from collections.abc import Iterator

from builder import MODEL, Archive, Entry
from graph_entries import graph, inline, linked, main
from vector import Invalid, side_file, weight


def vectors() -> Iterator[Invalid]:
    def shadowed(
        name: str, about: str, tensor: bytes, *entries: Entry, graph_name: str = "unet/b.onnx"
    ) -> Invalid:
        """The last tensor of the graph, which follows the entries, is at fault."""
        data = graph(inline(), tensor).data
        archive = Archive([*entries, Entry(graph_name, data), main()])
        at = archive.data[len(entries)] + data.rindex(tensor)
        file = bytes(archive.file)
        return Invalid(f"shadow_{name}", about, "G6", file, at, graph_name, "check")

    w = weight("w")
    about = "The graph's folder has a side file of the weight's name."
    yield shadowed("side_file", about, linked(), w, side_file("unet/w"))
    about = "The graph's folder has another weight of this name."
    tensor = linked("w", "v")
    yield shadowed("equal_bytes", about, tensor, w, Entry("unet/w", w.data))
    about = "A name with an extension."
    two = weight("w.bin"), side_file("unet/w.bin")
    yield shadowed("extension", about, linked("w.bin"), *two)
    about = "A graph two folders deep."
    two = w, side_file("a/b/w")
    yield shadowed("deep", about, linked(), *two, graph_name="a/b/c.onnx")
    about = "A location in a folder, which is also in the graph's folder."
    two = weight("x/w"), side_file("unet/x/w")
    yield shadowed("location_in_folder", about, linked("x/w"), *two)
    about = "The location is the graph's folder itself and a name, and this path is there, too."
    two = weight("unet/w"), side_file("unet/unet/w")
    yield shadowed("twice", about, linked("unet/w"), *two)
    about = "A link to no bytes."
    yield shadowed("empty", about, linked(length=0, dims=(0,)), w, side_file("unet/w"))
    about = "A link to the model's bytes, and a file of the model's name in the folder."
    yield shadowed("model", about, linked(MODEL, length=0, dims=(0,)), side_file(f"unet/{MODEL}"))
    about = "A link to the bytes of a graph, and a graph of this name in the folder."
    two = graph(name="c.onnx"), graph(name="unet/c.onnx")
    yield shadowed("graph", about, linked("c.onnx", length=0, dims=(0,)), *two)
    about = "The range leaves the entry, which is said first."
    data = graph(linked(offset=64)).data
    archive = Archive([w, side_file("unet/w"), Entry("unet/b.onnx", data), main()])
    at = archive.data[2] + data.index(linked(offset=64))
    file = bytes(archive.file)
    yield Invalid("shadow_after_range", about, "M13", file, at, "unet/b.onnx", "check")
    archive = Archive([w, Entry("unet/b.onnx", b""), main(linked())])
    about = "A graph in a folder is read as any other."
    file = bytes(archive.file)
    yield Invalid("folder_empty_graph", about, "M1", file, archive.data[1], "unet/b.onnx", "check")
