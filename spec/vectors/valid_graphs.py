"""Archives that a reader accepts: their further graphs (../graphs.md)."""

from __future__ import annotations

from collections.abc import Iterator

import wire
from builder import MODEL, Archive, Entry
from graph_entries import NAME_KEY, graph, inline, linked, main, metadata
from vector import Valid, content, model, side_file, weight


def vectors() -> Iterator[Valid]:
    yield from graphs()
    yield from names_of_graphs()
    yield from graphs_in_folders()
    yield from texts()
    yield from remarks_on_entries()
    yield from remarks_on_tensors()


def graphs() -> Iterator[Valid]:
    def good(name: str, about: str, *entries: Entry) -> Valid:
        return Valid(f"graph_{name}", about, Archive(entries))

    w, v = weight("w"), weight("v")
    about = "A further graph whose tensor is the model's: that is not even worth a note."
    yield good("shares", about, w, graph(linked()), main(linked()))
    about = "A weight that only a further graph names is used."
    yield good("own_weight", about, w, v, graph(linked("v")), main(linked()))
    yield good("only_links", "The model has no links, its graph has.", w, graph(linked()), main())
    yield good("no_links", "A further graph with its data inside.", graph(inline()), main())
    about = "Weights, a side file, two graphs, the model: the order of a canonical writer."
    two = graph(linked("v")), graph(linked(), linked("v", "v"), name="c.onnx")
    yield good("two", about, w, v, side_file(), *two, main(linked()))
    about = "Graphs and weights in another order than a writer's."
    yield good("order", about, graph(linked()), w, side_file(), main(linked()))
    long, last = graph(wire.tensor("d", wire.raw(content(1, 1024)))), main()
    about = "A graph larger than the user's limit of the model."
    options = {"max_model_size": len(last.data)}
    yield Valid("graph_beyond_limit", about, Archive([long, last]), options=options)
    about = "A graph that names all of the model's bytes."
    tensor = wire.linked("w", MODEL, length=1024)
    long = main(wire.tensor("d", wire.raw(content(1, 1024))))
    yield good("links_to_model", about, graph(tensor), long)
    about = "A graph that names the bytes of another one."
    long = graph(wire.tensor("d", wire.raw(content(1, 1024))), name="c.onnx")
    archive = Archive([graph(wire.linked("w", "c.onnx", length=1024)), long, main()])
    warnings = ("archive.key.not_identifier",)
    yield Valid("graph_links_to_graph", about, archive, warnings=warnings)


def names_of_graphs() -> Iterator[Valid]:
    """Not graphs: their bytes are not judged."""
    for case, name in (
        ("suffix_in_folder", "extra/.onnx"),
        ("capitals_in_folder", "extra/b.ONNX"),
        ("capitals", "b.ONNX"),
        ("capital", "b.onnX"),
        ("suffix_alone", ".onnx"),
        ("other_suffix", "b.onnx.data"),
        ("no_dot", "b-onnx"),
        ("folder_of_that_name", "b.onnx/c.bin"),
    ):
        about = f"A side file named {name}, which is not a graph."
        yield Valid(f"no_graph_{case}", about, Archive([Entry(name, b"\xff"), model()]))
    for case, name in (
        ("dots", "b.c.onnx"),
        ("twice", ".onnx.onnx"),
        ("space", " b.onnx"),
        ("dot", "..onnx"),
        ("data", "b.data.onnx"),
        ("folder", "extra/b.onnx"),
        ("folders", "a/b/c/d.onnx"),
        ("folder_suffix", ".onnx/b.onnx"),
        ("folder_of_graph", "a.onnx/b.onnx"),
        ("hidden", ".b/c.onnx"),
    ):
        about = f"A graph named {name}."
        yield Valid(f"graph_named_{case}", about, Archive([graph(name=name), model()]))


def graphs_in_folders() -> Iterator[Valid]:
    """What G6 allows."""
    w, key = weight("w"), ("archive.key.not_identifier",)

    def good(name: str, about: str, *entries: Entry, warnings: tuple[str, ...] = ()) -> Valid:
        return Valid(f"folder_{name}", about, Archive(entries), warnings=warnings)

    two = graph(linked(), name="unet/b.onnx"), graph(linked(), name="vae/b.onnx")
    yield good("shares", "Graphs in two folders share a weight.", w, *two, main(linked()))
    entries = w, weight("vae/w"), graph(linked(), name="unet/b.onnx"), graph(linked("vae/w"))
    about = "The folder of another graph has an entry of the weight's name."
    yield good("other", about, *entries, main(linked()), warnings=key)
    entries = w, side_file("a/w"), graph(linked(), name="a/b/c.onnx"), main(linked())
    yield good("parent", "An entry of the weight's name in the parent folder.", *entries)
    entries = w, side_file("a/b/w"), graph(linked(), name="a/c.onnx"), main(linked())
    yield good("below", "An entry of the weight's name in a folder below.", *entries)
    entries = w, side_file("extra/w"), graph(linked()), main(linked())
    yield good("root", "A graph in the root, and a folder with the weight's name.", *entries)
    entries = weight("unet/w"), graph(linked("unet/w"), name="unet/b.onnx"), main()
    about = "A location is the name of the entry, not a path from the graph's folder."
    yield good("full_name", about, *entries, warnings=key)
    tensor = wire.tensor("w", wire.block(13, wire.pair("location", "w")), wire.raw(content(2, 1024)))
    entries = w, side_file("unet/w"), graph(tensor, name="unet/b.onnx"), main(linked())
    about = "A tensor that is not linked has the location of a hidden entry."
    yield good("not_linked", about, *entries)
    entries = w, side_file("unet/W"), graph(linked(), name="unet/b.onnx"), main(linked())
    yield good("case", "A name in the graph's folder in another case.", *entries)
    entries = w, side_file("unet/w.bin"), graph(linked(), name="unet/b.onnx"), main(linked())
    yield good("longer", "A longer name in the graph's folder.", *entries)
    last = main(linked(), behind=metadata(NAME_KEY, "unet/model"))
    about = "The model's own name is in a folder that has an entry of the weight's name."
    yield good("of_model", about, w, side_file("unet/w"), last)


def texts() -> Iterator[Valid]:
    """Side files whose names are C identifiers."""
    for name in ("LICENSE", "LICENCE", "NOTICE", "COPYING", "README", "AUTHORS"):
        entries = weight("w"), Entry(name, b"text"), main(linked())
        yield Valid(f"text_{name.lower()}", f"A side file {name}.", Archive(entries))
    entries = Entry("LICENSE", weight("w").data), main(linked("LICENSE"))
    yield Valid("text_weight", "A tensor names LICENSE, which is a weight then.", Archive(entries))
    entries = weight("w"), Entry("License", b"text"), main(linked())
    about, warnings = "Other spellings are unused weights.", ("archive.entry.unused",)
    yield Valid("text_case", about, Archive(entries), warnings=warnings)


def remarked(name: str, about: str, *entries: Entry, code: str, note: bool = False) -> Valid:
    codes = {"notes" if note else "warnings": (code,)}
    return Valid(f"graph_{name}", about, Archive(entries), **codes)


def remarks_on_entries() -> Iterator[Valid]:
    w = weight("w")
    yield remarked(
        "shared",
        "Two tensors of one further graph share their data.",
        w,
        graph(linked(), linked(name="v")),
        main(),
        code="archive.entry.shared",
        note=True,
    )
    yield remarked(
        "unused",
        "An entry that neither the model nor its graph names.",
        w,
        weight("v"),
        graph(linked()),
        main(linked()),
        code="archive.entry.unused",
    )
    yield remarked(
        "overlap",
        "A graph links to a part of what the model links to.",
        weight("w", 2048),
        graph(linked(offset=64)),
        main(linked(length=2048, dims=(512,))),
        code="archive.entry.overlapping_links",
    )
    yield remarked(
        "key",
        "A graph's tensor is in an entry whose name is not a C identifier.",
        weight("w.bin"),
        graph(linked("w.bin")),
        main(),
        code="archive.key.not_identifier",
    )


def remarks_on_tensors() -> Iterator[Valid]:
    w = weight("w")
    yield remarked(
        "small",
        "A graph's link to 512 bytes.",
        w,
        graph(linked(length=512, dims=(128,))),
        main(),
        code="onnx.external.small",
    )
    yield remarked(
        "unaligned",
        "A graph's link that begins at byte 16.",
        weight("w", 1040),
        graph(linked(offset=16)),
        main(),
        code="onnx.external.unaligned",
    )
    tensor = wire.tensor("w", wire.link(("location", "w"), ("length", 1024), ("mode", "r")))
    yield remarked(
        "unknown_key",
        "An unknown key in a graph.",
        w,
        graph(tensor),
        main(),
        code="onnx.external_data.unknown_key",
    )
    yield remarked(
        "no_data",
        "A graph's tensor without data.",
        graph(wire.tensor("w")),
        main(),
        code="onnx.tensor.no_data",
    )
    yield remarked(
        "long_raw",
        "A graph's tensor with too much data.",
        graph(wire.tensor("w", wire.raw(bytes(8)), dims=(1,))),
        main(),
        code="onnx.tensor.long_raw",
    )
