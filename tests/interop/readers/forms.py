"""Makes the forms of a model that tools are given: the model as it is (plain), its archive, a link to the archive beside it,
a link with the names of hubs, the archive's entries in a folder, as any unzip program puts them there, and a link to an archive that
keeps nested data in the model."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import onnx

from interop.readers import models

FORMS = ("link", "hub", "folder", "archive")


def onnxar(*arguments: object) -> None:
    done = subprocess.run([os.environ["ONNXAR"], *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"onnxar {' '.join(map(str, arguments))}: {done.stderr}")


class Forms:
    """The files of one model in a folder."""

    def __init__(self, model: str, folder: Path) -> None:
        self.model = model
        self.folder = folder / model.replace(" ", "_")
        self.archive = self.folder / "model.onnxar"
        self.plain = self.folder / "plain" / ("large.onnx" if model == models.LARGE else "model.onnx")
        self.input = self.folder / "input.txt"
        self.outputs = self.folder / "outputs"

    def path(self, form: str) -> Path:
        return {
            "plain": self.plain,
            "link": self.folder / "linked.onnx",
            "hub": self.folder / "hub/model.onnx",
            "folder": self.folder / "unzipped/model.onnx",
            "inline": self.folder / "inline/linked.onnx",
            "archive": self.archive,
        }[form]

    def make(self) -> None:
        for path in (self.outputs, self.path("folder").parent):
            shutil.rmtree(path, ignore_errors=True)
        self.plain.parent.mkdir(parents=True, exist_ok=True)
        if self.model == models.LARGE:
            if not self.plain.exists():  # it takes half a minute, and is always the same
                models.large(self.plain.parent)
        else:
            self.plain.write_bytes(models.SMALL[self.model]().SerializeToString(deterministic=True))
        onnxar("pack", self.plain, "-o", self.archive, "--no-sync", "-q", "-f")
        if self.model == "several graphs":
            self.add_graph_and_side_file()
        onnxar("link", self.archive, "-o", self.path("link"), "--no-sync", "-q", "-f")
        self.path("hub").parent.mkdir(exist_ok=True)
        onnxar("link", self.archive, "--hub", self.path("hub").parent, "--no-sync", "-q", "-f")
        with zipfile.ZipFile(self.archive) as file:
            file.extractall(self.path("folder").parent)
        (self.path("folder").parent / "__MODEL_PROTO").rename(self.path("folder"))
        if self.model in models.NESTED:
            self.make_inline()
        self.write_input()

    def make_inline(self) -> None:
        link = self.path("inline")
        archive = link.with_name("model.onnxar")
        link.parent.mkdir(exist_ok=True)
        onnxar("pack", self.plain, "-o", archive, "--no-subgraphs", "--no-attributes", "--no-sync", "-q", "-f")
        onnxar("link", archive, "-o", link, "--no-sync", "-q", "-f")

    def add_graph_and_side_file(self) -> None:
        model = onnx.load(str(self.plain))
        second = self.plain.parent / "second.onnx"
        second.write_bytes(models.second_graph(model).SerializeToString(deterministic=True))
        words = self.plain.parent / "tokenizer.json"
        words.write_text("{}\n")
        onnxar("pack", self.plain, "-o", self.archive, "--no-sync", "-q", "-f", "--add", f"second.onnx={self.second_linked()}",
               "--add", f"tokenizer.json={words}")  # fmt: skip

    def second_linked(self) -> Path:
        """The second graph with links to the entries of the first one."""
        with zipfile.ZipFile(self.archive) as file:
            linked = onnx.load_model_from_string(file.read("__MODEL_PROTO"))
        path = self.plain.parent / "second_linked.onnx"
        path.write_bytes(models.second_graph(linked).SerializeToString(deterministic=True))
        return path

    def write_input(self) -> None:
        dims = [dim.dim_value for dim in onnx.load(str(self.plain), load_external_data=False).graph.input[0].type.tensor_type.shape.dim]
        write_array(self.input, models.input_of(self.model, dims))

    def check_unpacked(self) -> None:
        """What `unpack` writes is the plain model, to the byte, so the cells of the plain model are those of its output."""
        back = self.folder / "unpacked.onnx"
        onnxar("unpack", self.archive, "-o", back, "--no-sync", "-q", "-f")
        if back.read_bytes() != self.plain.read_bytes():
            raise RuntimeError(f"{self.model}: unpack does not give the model back")

    def digest(self) -> str:
        """Of all bytes that tools are given; of a large model only the link, which has the CRC-32 of the archive's directory."""
        found = hashlib.sha256()
        if self.model == models.LARGE:
            return hashlib.sha256(self.path("link").read_bytes()).hexdigest()[:16]
        for form in ("plain", *FORMS):
            found.update(self.path(form).read_bytes())
        inline = self.path("inline").parent.iterdir() if self.model in models.NESTED else ()
        for file in sorted([*self.path("folder").parent.iterdir(), self.path("hub").with_name("model.onnx_data"), *inline]):
            found.update(file.name.encode() + b"\0" + file.read_bytes())
        return found.hexdigest()[:16]


def write_array(path: Path, array: np.ndarray) -> None:
    """Dimensions in the first line, values in the second: every language reads that with a line of code."""
    values = " ".join(f"{value:.9g}" for value in array.astype(np.float64).ravel())
    path.write_text(f"{' '.join(map(str, array.shape))}\n{values}\n")


def read_array(path: Path) -> np.ndarray:
    dims, values = path.read_text().split("\n")[:2]
    return np.array([float(each) for each in values.split()], np.float64).reshape([int(each) for each in dims.split()])
