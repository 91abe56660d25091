"""Archives that a reader accepts: the names of their models (../graphs.md)."""

from __future__ import annotations

from collections.abc import Iterator

import wire
from builder import Archive, Entry
from graph_entries import NAME_KEY, graph, main, metadata
from vector import Valid, side_file


def vectors() -> Iterator[Valid]:
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
