"""Archives of several graphs, and edits that list a run of entries no more (../graphs.md,
../editing.md): what a reader accepts of them and what it does not."""

from __future__ import annotations

from collections.abc import Iterator

import wire
from builder import MODEL, Archive, Entry
from vector import Invalid, Valid, Vector, content, model, side_file, weight

NAME_KEY = "onnxar.model.name"
CHANGED = model(wire.model())


def vectors() -> Iterator[Vector]:
    yield from graphs()
    yield from names_of_graphs()
    yield from graphs_in_folders()
    yield from texts()
    yield from remarks()
    yield from names_of_the_model()
    yield from runs()
    yield from broken_graphs()
    yield from broken_tensors()
    yield from links_to_archives()
    yield from bad_names_of_the_model()
    yield from taken_names_of_the_model()
    yield from shadowed_weights()
    yield from broken_runs()


def graph(
    *tensors: bytes, name: str = "b.onnx", behind: bytes = b"", **differing: object
) -> Entry:
    """A further graph with these tensors; `behind` are fields of its ModelProto."""
    data = wire.model(*map(wire.initializer, tensors), behind=behind)
    return Entry(name, data, **differing)


def main(*tensors: bytes, behind: bytes = b"") -> Entry:
    return model(graph(*tensors, behind=behind).data)


def metadata(key: str, value: str) -> bytes:
    return wire.block(14, wire.pair(key, value))


def linked(location: str = "w", name: str = "w", **differing: object) -> bytes:
    return wire.linked(name, location, **differing)


# --- valid: graphs -------------------------------------------------------------------------------


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


def inline() -> bytes:
    return wire.tensor("i", wire.raw(content(2, 16)), dims=(4,))


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


def remarks() -> Iterator[Valid]:
    w = weight("w")

    def remarked(name: str, about: str, *entries: Entry, code: str, note: bool = False) -> Valid:
        codes = {"notes" if note else "warnings": (code,)}
        return Valid(f"graph_{name}", about, Archive(entries), **codes)

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


def names_of_the_model() -> Iterator[Valid]:
    def named(name: str, about: str, *entries: Entry, model_name: str = "a") -> Valid:
        last = main(behind=metadata(NAME_KEY, model_name))
        return Valid(f"model_name{name}", about, Archive([*entries, last]))

    yield named("", "The model's name beside a graph.", graph())
    yield named("_alone", "The model's name where there is no other graph.")
    yield named("_of_side_file", "The name of a side file without its suffix.", side_file("a.json"))
    yield named("_of_key", "The name of a weight is not a graph's.", graph(), model_name="_w")
    yield named("_dots", "A name with dots.", graph(), model_name="a.b")
    yield named("_longest", "The longest name.", model_name="a" * 250)
    yield named("_folder", "A name in a folder.", graph(), model_name="unet/model")
    two = side_file("unet/config.json"), graph(name="unet/b.onnx")
    yield named("_folder_shared", "A folder with more in it.", *two, model_name="unet/a")
    yield named("_folder_suffix", "A folder named as graphs are.", model_name="a.onnx/b")
    name = "/".join(["a" * 255] * 3 + ["b" * 250])
    yield named("_folder_longest", "The longest name in folders.", model_name=name)
    pairs = metadata("onnxar.model.names", "b") + metadata("", NAME_KEY)
    about = "Keys that begin as the model's name does, and a value that is spelt so."
    yield Valid("model_name_other_keys", about, Archive([graph(), main(behind=pairs)]))
    damaged = wire.block(14, wire.block(1, NAME_KEY) + b"\x12\x7f")
    about = "A damaged pair in metadata_props: no tensor is reached by it."
    archive = Archive([graph(), main(behind=damaged)])
    yield Valid("model_name_damaged", about, archive, is_parsed=False)
    pair = wire.block(1, "x") + wire.pair(NAME_KEY, "/") + wire.block(2, "a")
    about = "Key and value are given twice in the pair: the last ones count."
    yield Valid("model_name_last_counts", about, Archive([graph(), main(behind=wire.block(14, pair))]))
    pair = wire.block(1, NAME_KEY) + wire.pair("x", "/")
    about = "The key of the model's name, and another key after it in the same pair."
    archive = Archive([graph(), main(behind=wire.block(14, pair))])
    yield Valid("model_name_first_key", about, archive)
    behind = metadata(NAME_KEY, "b")
    about = "A further graph with the key is only metadata."
    yield Valid("graph_with_model_name", about, Archive([graph(behind=behind), main()]))
    about = "Links to an archive are known by keys of metadata_props that begin so, and no others."
    behind = metadata("onnxar.link", "x") + metadata("x", "onnxar.link.size")
    yield Valid("graph_no_link", about, Archive([graph(behind=behind), main()]))


# --- valid: an edit lists a run of entries no more -----------------------------------------------


def edited(archive: Archive, gone: int, *entries: Entry, zip64: bool = False) -> Archive:
    """As an edit does that lists the last `gone` entries no more, the model among them."""
    for per_entry in (archive.entries, archive.headers, archive.data):
        del per_entry[len(per_entry) - gone + 1 :]
    return archive.edit(*entries, zip64=zip64)


def of_three(*, zip64: bool = False) -> Archive:
    entries = [weight("w"), side_file(), graph(linked()), main(linked())]
    return Archive(entries, zip64=zip64)


NOTES = ("archive.tail.superseded",)
OTHER = side_file(size=77)
LAST = main(linked())


def runs() -> Iterator[Valid]:
    def good(name: str, about: str, archive: Archive, *notes: str) -> Valid:
        return Valid(f"run_{name}", about, archive, notes=(*NOTES, *notes))

    about = "A graph was replaced: it and the model were appended again."
    changed = graph(linked(), inline())
    yield good("graph", about, edited(of_three(), 2, changed, LAST))
    about = "A side file was replaced: the graph after it was appended again as it was."
    yield good("side_file", about, edited(of_three(), 3, OTHER, graph(linked()), LAST))
    yield good("graph_gone", "A graph was removed.", edited(of_three(), 2, LAST))
    about = "A side file and a graph were removed."
    yield good("all_gone", about, edited(of_three(), 3, LAST))
    about = "A graph was removed, and with it the last link to a weight."
    archive = Archive([weight("w"), graph(linked()), main()])
    unused = "archive.entry.unused"
    yield good("weight_left", about, edited(archive, 2, main()), unused)
    about = "A graph was added, with a weight of its own."
    added = weight("v"), graph(linked("v"), name="c.onnx"), LAST
    yield good("added", about, edited(of_three(), 1, *added))
    about = "The side file moved behind the graph: the order is the editor's."
    yield good("order", about, edited(of_three(), 3, graph(linked()), OTHER, LAST))
    about = "Edited twice: each time the graph was replaced."
    once = edited(of_three(), 2, changed, LAST)
    yield good("twice", about, edited(once, 2, graph(linked()), LAST))
    about = "Edited twice: the second time what the first one had kept was replaced, too."
    once = edited(of_three(), 2, changed, LAST)
    yield good("farther", about, edited(once, 3, OTHER, changed, LAST))
    about = "Edited twice: a weight was added, then the run after it replaced."
    once = edited(of_three(), 3, weight("v"), side_file(), graph(linked("v")), LAST)
    yield good("after_weight", about, edited(once, 3, OTHER, graph(linked("v")), LAST))
    about = "An archive with zip64 end records: the edit has some, too."
    archive = edited(of_three(zip64=True), 2, changed, LAST, zip64=True)
    yield Valid("run_zip64", about, archive, warnings=("zip.zip64.unneeded",), notes=NOTES)
    about = "A side file of an old state has a name that a weight has now."
    archive = Archive([weight("w"), side_file("a.bin"), main(linked())])
    archive = edited(archive, 2, weight("a.bin"), main(linked(), linked("a.bin", "a")))
    warnings = ("archive.key.not_identifier",)
    yield Valid("run_name_again", about, archive, warnings=warnings, notes=NOTES)


# --- invalid: G2, and M rules in a graph ---------------------------------------------------------


def refused(
    name: str, rule: str, about: str, data: bytes, at: int, *, case: str | None = None
) -> Invalid:
    """A further graph of these bytes beside `w`; `at` counts from its first byte."""
    archive = Archive([weight("w"), Entry("b.onnx", data), main(linked())])
    offset = archive.data[1] + at
    file = bytes(archive.file)
    return Invalid(f"graph_{name}", about, rule, file, offset, "b.onnx", "check", case)


def broken_graphs() -> Iterator[Invalid]:
    whole = wire.model()
    head = wire.scalar(1, 8) + wire.block(7, wire.graph())
    for name, rule, data, at, about in (
        ("empty", "M1", b"", 0, "A graph of no bytes."),
        ("no_graph", "M1", wire.scalar(1, 8), 0, "A ModelProto without a graph."),
        ("cut", "M2", whole[:-1], whole.rindex(wire.block(8, b"")[:1]), "Its last byte is missing."),
        ("varint", "M3", head + b"\x08" + b"\x80" * 10 + b"\0", len(head) + 1, "A long number."),
        ("tag_0", "M4", head + b"\0\0", len(head), "A field of number 0."),
        ("wire_type", "M5", head + b"\x0b", len(head), "A group begins."),
        ("twice", "M7", head + wire.block(7, b""), len(head), "Its graph is given twice."),
    ):
        if name == "cut":
            at = whole.index(wire.block(8, wire.block(1, "") + wire.scalar(2, 17)))
        yield refused(name, rule, about, data, at)
    text = b"ir_version: 8 graph { }\n"
    yield refused("text", "M5", "A model as text.", b"\x0b" + text, 0)
    about = "The first of two graphs is broken, and the second is not."
    archive = Archive([graph(name="c.onnx"), Entry("b.onnx", b""), graph(name="a.onnx"), model()])
    file = bytes(archive.file)
    yield Invalid("graph_first", about, "M1", file, archive.data[1], "b.onnx", "check")
    archive = Archive([graph(name="c.onnx"), graph(name="a.onnx"), Entry("b.onnx", b""), model()])
    file, about = bytes(archive.file), "The last of three graphs is broken."
    yield Invalid("graph_last", about, "M1", file, archive.data[2], "b.onnx", "check")
    archive = Archive([weight("w"), graph(linked(), both={"crc32": 1}), main(linked())])
    about = "A graph's bytes have another CRC-32."
    file = bytes(archive.file)
    yield Invalid("graph_crc", about, "T1", file, archive.data[1], "b.onnx", "data")
    archive = Archive([weight("w"), graph(linked(), local={"time": 1}), main(linked())])
    about = "A graph's local header has another time."
    file = bytes(archive.file)
    yield Invalid("graph_local", about, "L3", file, archive.headers[1], "b.onnx", "use")


def broken_tensors() -> Iterator[Invalid]:
    """One for each rule; other files go through the rules of tensors."""
    data = wire.raw(content(1, 1024))
    key = wire.pair("location", "w")
    twice = wire.tensor("w", wire.block(13, key) * 2, wire.scalar(14, 1))
    for name, rule, tensor, about in (
        ("no_location", "M8", wire.tensor("w", wire.link(("length", 1024))), "no location"),
        ("missing", "M9", linked("v"), "a location that is not an entry"),
        ("path", "M9", linked("./w"), "a location that is a path to an entry"),
        ("offset", "M11", linked(offset="+0"), "an offset with a sign"),
        ("length", "M12", linked(length="01024"), "a length with a zero in front"),
        ("range", "M13", linked(offset=64), "a range that leaves the entry"),
        ("marker", "M14", linked("*/_ORT_MEM_ADDR_/*"), "a location in memory"),
        ("string", "M15", linked(kind=wire.STRING), "strings that are linked"),
        ("beside", "M16", linked() + data, "data beside its link"),
        ("dims", "M17", linked(dims=(-1,)), "a negative dimension"),
        ("link_length", "M18", linked(length=1020), "a link that is too short"),
        ("raw_length", "M18", wire.tensor("w", wire.raw(bytes(4))), "too little data"),
        ("no_type", "M19", linked(kind=0), "no data type"),
        ("two_fields", "M20", wire.tensor("w", data, wire.block(4, bytes(1024))), "data twice"),
        ("field", "M21", wire.tensor("w", wire.block(10, bytes(2048))), "data in a wrong field"),
        ("key_twice", "M10", twice, "a location that is given twice"),
    ):
        model_bytes = graph(tensor).data
        at = model_bytes.index(tensor)
        if rule == "M10":
            at += tensor.rindex(key)
        about = f"A tensor of a further graph has {about}."
        yield refused(f"tensor_{name}", rule, about, model_bytes, at)


# --- invalid: G3 and G4 --------------------------------------------------------------------------


def links_to_archives() -> Iterator[Invalid]:
    for name, pairs, skipped in (
        ("archive", [("onnxar.link.archive", "m.onnxar")], 0),
        ("prefix", [("onnxar.link.", "")], 0),
        ("unknown", [("onnxar.link.x", "y")], 0),
        ("second", [("x", "y"), ("onnxar.link.size", "1")], 1),
        ("two", [("onnxar.link.size", "1"), ("onnxar.link.offset", "0")], 0),
    ):
        fields = [metadata(*pair) for pair in pairs]
        data = graph(behind=b"".join(fields)).data
        at = len(data) - len(b"".join(fields[skipped:]))
        about = f"A further graph has the key {pairs[skipped][0]}, as links have."
        yield refused(f"link_{name}", "G3", about, data, at)
    pair = wire.block(14, wire.block(1, "x") + wire.pair("onnxar.link.size", "1"))
    data = graph(behind=pair).data
    about = "A pair of a further graph with two keys, the last one as links have."
    yield refused("link_last_key", "G3", about, data, len(data) - len(pair))


def bad_names_of_the_model() -> Iterator[Invalid]:
    def bad(name: str, about: str, *names: str, entries: tuple[Entry, ...] = ()) -> Invalid:
        """The last of these names is the one at fault."""
        fields = [metadata(NAME_KEY, each) for each in names]
        archive = Archive([*entries, main(behind=b"".join(fields))])
        at = archive.data_end(-1) - len(fields[-1])
        file = bytes(archive.file)
        return Invalid(f"model_name_{name}", about, "G4", file, at, MODEL, "check")

    yield bad("twice", "The model's name is given twice.", "a", "b")
    yield bad("twice_equal", "The model's name is given twice, in the same way.", "a", "a")
    for case, value in (
        ("empty", ""),
        ("slash_first", "/a"),
        ("slash_last", "a/"),
        ("slashes", "a//b"),
        ("parent_inside", "a/../b"),
        ("device_folder", "nul/b"),
        ("folder_dot", "a./b"),
        ("folders_too_long", "/".join(["a" * 250] * 4 + ["b" * 20])),
        ("parent", "../a"),
        ("backslash", "a\\b"),
        ("colon", "c:a"),
        ("control", "a\n"),
        ("not_ascii", "\u00e4"),
        ("device", "nul"),
        ("device_dot", "con.a"),
        ("reserved", "__A"),
        ("of_model_entry", MODEL),
        ("too_long", "a" * 251),
    ):
        yield bad(case, f"The model's name is {value!r:.30}.", value)
    pair = wire.block(14, wire.block(1, "x") + wire.pair(NAME_KEY, "/a"))
    archive = Archive([main(behind=pair)])
    file, at = bytes(archive.file), archive.data_end(-1) - len(pair)
    about = "A pair with two keys, the last one the model's name, which is absolute."
    yield Invalid("model_name_last_key", about, "G4", file, at, MODEL, "check")


def taken_names_of_the_model() -> Iterator[Invalid]:
    def bad(name: str, about: str, value: str, *, entries: tuple[Entry, ...]) -> Invalid:
        field = metadata(NAME_KEY, value)
        archive = Archive([*entries, main(behind=field)])
        at = archive.data_end(-1) - len(field)
        return Invalid(f"model_name_{name}", about, "G4", bytes(archive.file), at, MODEL, "check")

    taken = (graph(),)
    yield bad("taken", "A graph has the model's name.", "b", entries=taken)
    yield bad("taken_folded", "A graph has the model's name in another case.", "B", entries=taken)
    taken = (side_file("B.ONNX"),)
    yield bad("taken_side_file", "A side file has the model's name.", "b", entries=taken)
    taken = (side_file("b.onnx/c.bin"),)
    yield bad("taken_folder", "A folder has the model's name.", "b", entries=taken)
    taken = (side_file("B.Onnx/c.bin"),)
    about = "A folder has the model's name in another case."
    yield bad("taken_folder_folded", about, "b", entries=taken)
    taken = (graph(name="unet/b.onnx"),)
    yield bad("taken_in_folder", "A graph has the model's name.", "unet/b", entries=taken)
    about = "A graph has the model's name in another case of the folder."
    yield bad("taken_in_folder_folded", about, "Unet/b", entries=taken)
    taken = (side_file("unet/b.onnx/c.bin"),)
    about = "A folder in a folder has the model's name."
    yield bad("taken_folder_in_folder", about, "unet/b", entries=taken)
    about = "The folder of the model's name is an entry."
    yield bad("in_side_file", about, "a.json/b", entries=(side_file("a.json"),))
    about = "The folder of the model's name is an entry in another case."
    yield bad("in_weight", about, "W/b", entries=(weight("w"), graph(linked())))
    about = "A parent folder of the model's name is an entry."
    yield bad("in_side_file_deep", about, "a/b/c/d", entries=(side_file("a/b"),))
    about = "The folder of the model's name is the model's own entry."
    yield bad("in_model", about, f"{MODEL.lower()}/b", entries=())


# --- invalid: G6 ---------------------------------------------------------------------------------


def shadowed_weights() -> Iterator[Invalid]:
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


# --- invalid: runs -------------------------------------------------------------------------------


def broken_runs() -> Iterator[Invalid]:
    changed = graph(linked(), inline())

    def refused_run(name: str, about: str, archive: Archive, rule: str = "T2") -> Invalid:
        stage = "check" if rule == "T2" else "open"
        file, at = bytes(archive.file), archive.data_end(0)
        return Invalid(f"run_{name}", about, rule, file, at, "w", stage)

    about = "A run that is listed no more, and in the old state one of it has a wrong local header."
    archive = of_three().set_local(1, time=1)
    yield refused_run("local", about, edited(archive, 3, OTHER, changed, LAST))
    archive = of_three().set_central(2, flags=1)
    about = "A run that is listed no more, and in the old state one of it is encrypted."
    yield refused_run("encrypted", about, edited(archive, 3, OTHER, changed, LAST))
    archive = of_three()
    archive.file[archive.directory :] = b""
    about = "A run without the directory of the state that it was in."
    yield refused_run("no_directory", about, edited(archive, 3, OTHER, changed, LAST), "P5")
    archive = of_three()
    del archive.file[archive.end :]
    about = "A run with a directory and no end record."
    yield refused_run("no_end", about, edited(archive, 3, OTHER, changed, LAST), "P5")
    archive = edited(of_three(zip64=True), 3, OTHER, changed, LAST)
    about = "A run of a state with zip64 end records, and the last state has none."
    yield refused_run("zip64_lost", about, archive, "P5")
    archive = Archive([side_file(), weight("w"), graph(linked()), main(linked())])
    file = edited(archive, 2, changed, LAST)
    del file.entries[0], file.headers[0], file.data[0]
    file.finish()
    about = "The first entry is listed no more: the first one that is does not begin at 0."
    header = file.central[0]
    yield Invalid("run_first", about, "P1", bytes(file.file), header, "w")
