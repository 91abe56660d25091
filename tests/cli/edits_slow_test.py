"""A thousand random edits of real models: old bytes never move or change, and every reader sees the new model."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "interop/zip"))

from workers import FROM_THE_FRONT, Peers, installed

from support import command_line
from support import onnx_walk as walk
from support.archives import MODEL
from support.command_line import ToolCase, label

PACKAGE = "libonnx-testdata"
MODELS, EDITS = 20, 50  # real models, and edits of each
OTHERS_LOOK_AT = 50  # every state of this number is read by all other readers
UINT8 = 2


class Entry(NamedTuple):
    offset: int  # of the data
    crc: int
    data: bytes


def entries_of(path: Path) -> dict[str, Entry]:
    """The entries as Python's zipfile reads them, in their order."""
    raw = path.read_bytes()

    def data_offset(header: int) -> int:
        return header + 30 + sum(struct.unpack_from("<HH", raw, header + 26))  # name and extra fields

    with zipfile.ZipFile(path) as file:
        infos = file.infolist()
        return {each.filename: Entry(data_offset(each.header_offset), each.CRC, file.read(each)) for each in infos}


def complete(model: bytes, entries: dict[str, Entry]) -> walk.Message:
    """The model with all data in it."""

    def read(location: str, offset: int, length: int | None) -> bytes:
        data = entries[location].data
        return data[offset:] if length is None else data[offset : offset + length]

    message = walk.parse(model)
    walk.resolve_external(message, read)
    return message


class Editor:
    """Changes a model at random. `model` has links; `expected` is the same with all data in it."""

    def __init__(self, path: Path, seed: str) -> None:
        self.path = path
        self.random = random.Random(seed)
        self.number = 0

    def next(self) -> tuple[bytes, walk.Message]:
        """A new model for the archive, and the same model with all data in it."""
        entries = entries_of(self.path)
        self.model = walk.parse(entries[MODEL].data)
        self.expected = complete(entries[MODEL].data, entries)
        self.entries = entries
        self.number += 1
        for change in self.random.choices(self.CHANGES, k=self.random.randint(1, 4)):
            change(self)
        return self.model.SerializeToString(), self.expected

    def both(self) -> tuple[walk.Message, walk.Message]:
        return self.model.graph, self.expected.graph

    def rename_nodes(self) -> None:
        for graph in self.both():
            for index, node in enumerate(graph.node):
                node.name = f"edit {self.number} node {index}"

    def change_doc_string(self) -> None:
        text = "x" * self.random.randint(0, 2000)
        for graph in self.both():
            graph.doc_string = text

    def add_node(self) -> None:
        for graph in self.both():
            graph.node.add(op_type="Identity", input=["none"], output=[f"edit_{self.number}"])

    def add_tensor(self) -> None:
        data = self.random.randbytes(self.random.choice((1, 63, 64, 1023, 1024, 5000)))
        name = self.random.choice(("new", "New", "w/1", "", f"w{self.number}"))
        self._add(name, data, len(data))

    def add_a_copy(self) -> None:
        """A tensor with data that an entry has already."""
        weights = [each.data for name, each in self.entries.items() if name != MODEL and each.data]
        if weights:
            data = self.random.choice(weights)
            self._add("copy", data, len(data))

    def add_a_link_into_the_file(self) -> None:
        weights = [each for name, each in self.entries.items() if name != MODEL and each.data]
        if not weights:
            return
        entry = self.random.choice(weights)
        for graph, link in zip(self.both(), (True, False)):
            tensor = graph.initializer.add(name="part", data_type=UINT8, dims=[len(entry.data)])
            if link:
                tensor.data_location = walk.EXTERNAL
                for key, value in (("location", self.path.name), ("offset", entry.offset), ("length", len(entry.data))):
                    tensor.external_data.add(key=key, value=str(value))
            else:
                tensor.raw_data = entry.data

    def drop_tensor(self) -> None:
        count = len(self.model.graph.initializer)
        if count:
            index = self.random.randrange(count)
            for graph in self.both():
                del graph.initializer[index]

    def _add(self, name: str, data: bytes, count: int) -> None:
        for graph in self.both():
            graph.initializer.add(name=name, data_type=UINT8, dims=[count], raw_data=data)

    CHANGES = (
        rename_nodes,
        change_doc_string,
        add_node,
        add_tensor,
        add_tensor,
        add_a_copy,
        add_a_link_into_the_file,
        drop_tensor,
    )


def real_models() -> list[Path]:
    """The models with the most bytes, which contain large tensors."""
    done = subprocess.run(["dpkg", "-L", PACKAGE], check=False, capture_output=True, text=True)
    files = [Path(line) for line in done.stdout.splitlines() if line.endswith(".onnx")]
    return sorted(files, key=lambda path: (-path.stat().st_size, path))


class RandomEdits(ToolCase):
    def test_edits_keep_all_existing_data(self) -> None:
        models = real_models()
        if not models:
            self.skipTest(f"{PACKAGE} is not installed")
        chosen = models[: 4 * MODELS : 4]
        self.assertEqual(len(chosen), MODELS)
        self.states = self.looked_at = 0
        self.peers = Peers(name for name in installed() if name not in FROM_THE_FRONT)
        self.addCleanup(self.peers.stop)
        for model in chosen:
            with self.subTest(model=label(model)):
                self.edit_again_and_again(model)
        self.assertEqual(self.states, MODELS * EDITS)
        self.assertGreaterEqual(self.looked_at, self.states // OTHERS_LOOK_AT * 4)

    def edit_again_and_again(self, model: Path) -> None:
        path = self.folder / "model.onnxar"
        self.succeeds("pack", model, "-o", path, "-f", "--threshold", "0", "--no-sync")
        editor = Editor(path, label(model))
        for _ in range(EDITS):
            self.edit(path, editor)
            self.states += 1
            if self.states % OTHERS_LOOK_AT == 0:
                self.others_see_the_same(path)

    def edit(self, path: Path, editor: Editor) -> None:
        before, old = path.read_bytes(), entries_of(path)
        new_model, expected = editor.next()
        file = self.write("new.onnx", new_model)
        threshold = editor.random.choice(("0", "64", "1024"))
        self.succeeds("replace", path, file, "--no-sync", "-q", "--threshold", threshold)
        self.succeeds("check", "--data", "-q", path)
        new = entries_of(path)
        if len(old) > 1:  # else it was written anew
            self.assertEqual(path.read_bytes()[: len(before)], before)
        kept = {name: entry for name, entry in old.items() if name != MODEL}
        self.assertEqual({name: new[name] for name in kept}, kept)
        self.assertEqual(list(new)[-1], MODEL)
        self.assertEqual(walk.differences(complete(new[MODEL].data, new), expected), [])
        self.nothing_is_there_twice(old, new)

    def nothing_is_there_twice(self, old: dict[str, Entry], new: dict[str, Entry]) -> None:
        known = {each.data for name, each in old.items() if name != MODEL}
        for name in new.keys() - old.keys() - {MODEL}:
            self.assertNotIn(new[name].data, known)

    def others_see_the_same(self, path: Path) -> None:
        answers = {name: self.peers.ask(name, [path]) for name in self.peers.workers}
        for name, answer in answers.items():
            self.assertEqual(answer, answers["python"], name)
            self.looked_at += 1


if __name__ == "__main__":
    command_line.main()
