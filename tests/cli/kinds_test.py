"""Each verb on each kind of file that people mix up: the error says what the file is, or what to do."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import re
import struct
import zipfile
from pathlib import Path

import numpy as np

from support import command_line
from support import wire_writer as wire
from support.archives import linked, model_of, weights
from support.archives import Archive
from support.command_line import DONE, FORMAT, FOUND, IO, USAGE, ToolCase, run
from support.wire_writer import block, scalar

READERS = "unpack check show dump extract freeze diff".split()  # verbs that take any model
ARCHIVES = "ls replace link undo recover cat".split()  # verbs that take archives
ZIPS = ["repack"]

PACK = "this is a plain .onnx model, not an archive: `onnxar pack` makes an archive of it"
REPACK = "this is a plain zip or was changed by a zip tool: `onnxar repack` makes an archive of it"
AGAIN = "fetch it again, or make it again with `onnxar pack` or `onnxar repack`"
MODEL_AGAIN = "; compare its size with that of the original, and download, copy or export it again"
FREEZE = "which holds weights and no graph: `onnxar freeze MODEL --weights FILE` fills them into a model"
SAFETENSORS, NPZ = f"this is a safetensors file, {FREEZE}", f"this is a NumPy file of arrays (.npz), {FREEZE}"
NPY = "this is a NumPy array (.npy)"
GGUF = "this is a GGUF file"
TEXT = "this is text, but not a model in protobuf's text format"
ZIP = "this is a zip file without an ONNX model"
# name -> content and what the error begins with
OTHERS: dict[str, tuple[bytes, str]] = {
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 123\n", "a pointer of Git LFS"),
    "json": (b'{\n  "irVersion": "8", "graph": {"name": "g"}}', "JSON"),
    "html": (b"\xef\xbb\xbf\n<!DOCTYPE HTML>\n<html><head><title>\xc3\x89</title>", "a web page (HTML)"),
    "bare_html": (b"<html><body>Not found</body></html>", "a web page (HTML)"),
    "utf16": ("ir_version: 8".encode("utf-16"), "text in UTF-16"),
    "7z": (b"7z\xbc\xaf\x27\x1c\0\4" + bytes(100), "a 7z archive"),
    "rar": (b"Rar!\x1a\x07\x01\0" + bytes(60), "a rar archive"),
    "xz": (lzma.compress(bytes(1000)), "compressed with xz"),
    "bz2": (bz2.compress(bytes(1000)), "compressed with bzip2"),
    "gz": (gzip.compress(bytes(1000)), "compressed with gzip"),
    "tar": (b"m.onnx".ljust(257, b"\0") + b"ustar\x0000" + bytes(760), "a tar archive"),
    "pb": (block(1, block(1, "x") + block(2, "Placeholder")) + block(4, scalar(1, 1)), "a TensorFlow model (.pb)"),
    "saved_model": (scalar(1, 1) + block(2, block(1, block(4, "serve")) + block(2, b"")), "a TensorFlow model (.pb)"),
    "graph": (block(1, block(1, "x") + block(2, "y")) + block(2, "g") + block(11, block(1, "x")), "a GraphProto without the ModelProto"),
    "ort": (struct.pack("<I", 32) + b"ORTM" + bytes(100), "a model in ONNX Runtime's own format"),
    "pickle": (pickle.dumps([1], protocol=4), "a Python pickle"),
}
# the names of the entries, and what the error begins with
OTHER_ZIPS = {
    "docx": (["[Content_Types].xml", "word/document.xml"], "a document of Office"),
    "jar": (["META-INF/MANIFEST.MF", "A.class"], "a Java archive"),
    "keras": (["metadata.json", "config.json", "model.weights.h5"], "a Keras model"),
    "pt": (["archive/data.pkl", "archive/data/0"], "a PyTorch checkpoint"),
    "zip": (["notes.txt"], "a zip file without an ONNX model"),
}
FOLDER = "is a folder; name a file"
CUT = "this zip file was cut short"
NO_MODEL = "it holds no ONNX model"
Said = str | None
OK: Said = None

ALL = ["pack", *READERS, *ARCHIVES, *ZIPS]


def every(sentence: Said, **others: Said) -> dict[str, Said]:
    return {**dict.fromkeys(ALL, sentence), **others}


def row(pack: Said, readers: Said, archives: Said, zips: Said, **others: Said) -> dict[str, Said]:
    groups = ((["pack"], pack), (READERS, readers), (ARCHIVES, archives), (ZIPS, zips))
    return {verb: sentence for verbs, sentence in groups for verb in verbs} | others


# kind -> verb -> a part of the message; OK if the verb takes it
TABLE: dict[str, dict[str, Said]] = {
    "archive": every(OK, undo="the archive was not edited since it was written"),
    "plain": row(OK, OK, PACK, PACK),
    "external": row(OK, OK, PACK, PACK),
    "foreign_zip": row(OK, REPACK, REPACK, OK, recover=AGAIN),
    "zip_without_model": row(NO_MODEL, ZIP, ZIP, NO_MODEL),
    "safetensors": every(SAFETENSORS),
    "npz": every(NPZ),
    "npy": every(NPY),
    "gguf": every(GGUF),
    "folder": every(FOLDER, pack=OK),
    "folder_without_models": every(FOLDER),
    "empty": row(MODEL_AGAIN, MODEL_AGAIN, AGAIN, AGAIN),
    "cut_model": row(MODEL_AGAIN, MODEL_AGAIN, AGAIN, AGAIN),
    "zeros": row(MODEL_AGAIN, MODEL_AGAIN, AGAIN, AGAIN),
    "noise": row(MODEL_AGAIN, MODEL_AGAIN, AGAIN, AGAIN),
    "model_without_graph": row(MODEL_AGAIN, MODEL_AGAIN, AGAIN, AGAIN),
    "text": every(TEXT),
    "cut_archive": every(CUT, recover=AGAIN),
}  # fmt: skip


class Kinds(ToolCase):
    def archive_file(self) -> bytes:
        return Archive((*weights("w"), model_of(linked("w")))).file

    def make_archive(self) -> Path:
        return self.write("a.onnxar", self.archive_file())

    def make_plain(self) -> Path:
        return self.model()

    def make_external(self) -> Path:
        data = wire.DataFile("w.bin")
        path = self.model(data.tensor("w"), name="external.onnx")
        self.write("w.bin", bytes(data.data))
        return path

    def zip_of(self, **files: bytes) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as file:
            for name, data in files.items():
                file.writestr(name.replace("__", "."), data)
        return buffer.getvalue()

    def make_foreign_zip(self) -> Path:
        return self.write("f.zip", self.zip_of(model__onnx=wire.plain(wire.tensor("w"))))

    def make_zip_without_model(self) -> Path:
        return self.write("z.zip", self.zip_of(notes__txt=b"hello"))

    def make_safetensors(self) -> Path:
        header = json.dumps({"w": {"dtype": "F32", "shape": [300], "data_offsets": [0, 1200]}}).encode()
        return self.write("w.safetensors", struct.pack("<Q", len(header)) + header + bytes(1200))

    def numpy_file(self) -> bytes:
        buffer = io.BytesIO()
        np.save(buffer, np.zeros(300, np.float32))
        return buffer.getvalue()

    def make_npz(self) -> Path:
        return self.write("w.npz", self.zip_of(w__npy=self.numpy_file()))

    def make_npy(self) -> Path:
        return self.write("w.npy", self.numpy_file())

    def make_gguf(self) -> Path:
        return self.write("m.gguf", b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + bytes(64))

    def make_folder(self) -> Path:
        self.write("folder/model.onnx", wire.plain(wire.tensor("w")))
        return self.folder / "folder"

    def make_folder_without_models(self) -> Path:
        self.write("other/weights.bin", wire.plain(wire.tensor("w")))
        return self.folder / "other"

    def make_empty(self) -> Path:
        return self.write("empty.onnx", b"")

    def make_cut_model(self) -> Path:
        return self.write("cut.onnx", wire.plain(wire.tensor("w"))[:600])

    def make_zeros(self) -> Path:
        return self.write("zeros.onnx", bytes(5000))

    def make_noise(self) -> Path:
        return self.write("noise.onnx", b"\x5f" + bytes(reversed(range(256))) * 9)  # a tag of wire type 7

    def make_model_without_graph(self) -> Path:
        return self.write("front.onnx", scalar(1, 8) + block(2, "pytorch"))  # cut at the end of a field

    def make_text(self) -> Path:
        return self.write("notes.txt", b"The model is in the other folder, see there.\n")

    def make_cut_archive(self) -> Path:
        return self.write("cut.onnxar", self.archive_file()[:1500])

    def command(self, verb: str, path: Path, good: Path) -> list[object]:
        target = ["-o", self.output, "-n"]
        more: dict[str, list[object]] = {
            "pack": target, "unpack": target, "repack": target, "freeze": target, "link": target,
            "extract": ["w", *target], "cat": ["--model"], "diff": [good], "replace": [good, "-n"], "recover": ["-n"],
            "undo": ["-n"],
        }  # fmt: skip
        return [verb, path, *more.get(verb, [])]

    def test_the_table_is_complete(self) -> None:
        makers = {name.removeprefix("make_") for name in dir(self) if name.startswith("make_")}
        self.assertEqual(set(TABLE), makers)
        for kind, verbs in TABLE.items():
            self.assertEqual(set(verbs), set(ALL), kind)

    def test_every_verb_says_what_to_do_with_every_kind(self) -> None:
        good = self.write("good.onnxar", self.archive_file())
        for kind, verbs in TABLE.items():
            path = getattr(self, f"make_{kind}")()
            for verb, sentence in verbs.items():
                with self.subTest(kind=kind, verb=verb):
                    self.expect(sentence, *self.command(verb, path, good))

    def expect(self, sentence: str | None, *command: object) -> None:
        with self.nothing_changes():
            done = run(*command)
        self.assertNotRegex(done.stderr, r"\w+::\w+|\b\w+Options\b|text_parser|external_data_dir")  # words of the library
        told = done.stderr + (done.stdout.decode(errors="replace") if command[0] == "check" else "")
        if sentence is None:
            self.assertIn(done.returncode, (DONE, FOUND) if command[0] == "diff" else (DONE,), told)
            return
        self.assertIn(done.returncode, (FOUND, USAGE, IO, FORMAT), told)
        self.assertIn(sentence, told)

    def test_errors_begin_with_kind(self) -> None:
        good = self.write("good.onnxar", self.archive_file())
        files = {name: (self.write(f"other.{name}", content), kind) for name, (content, kind) in OTHERS.items()}
        for name, (entries, kind) in OTHER_ZIPS.items():
            files[name] = (self.write(f"other.{name}", self.zip_of(**{entry.replace(".", "__"): b"hello" for entry in entries})), kind)
        for name, (path, kind) in files.items():
            for verb in ALL:
                with self.subTest(name=name, verb=verb):
                    done = run(*self.command(verb, path, good))
                    told = done.stdout.decode() if verb == "check" else done.stderr
                    self.assertRegex(told, r"error: (\S+: )?this is " + re.escape(kind))

    def test_repack_is_advised_only_where_it_succeeds(self) -> None:
        two = self.zip_of(a__onnx=wire.plain(wire.tensor("w")), b__onnx=wire.plain(wire.tensor("w")))
        pytorch = self.zip_of(**{"__MODEL_PROTO": wire.plain(wire.tensor("w", seed=b"__EXTERNAL"))})
        for name, content in {"two.zip": two, "pytorch.zip": pytorch}.items():
            with self.subTest(name=name):
                path = self.write(name, content)
                refused = run("repack", path, "-o", self.output, "-n").returncode != DONE
                self.assertEqual("repack` makes" not in run("ls", path).stderr, refused)

    def test_protobuf_is_not_taken_for_another_kind(self) -> None:
        # The signature of zstd is also field 5 (model_version) and the begin of a field 31 of four bytes.
        path = self.write("m.onnx", b"\x28\xb5\x2f\xfd\x01" + bytes(4) + wire.plain(wire.tensor("w")))
        self.succeeds("pack", path, "-o", self.output)


if __name__ == "__main__":
    command_line.main()
