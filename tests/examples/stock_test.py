"""Stock zip libraries write archives and read each other's: the writers and loaders of spec/examples.

Python, C++ and JavaScript run with every test. `./dev examples` builds the others and sets ONNXAR_STOCK to their
folder; then all six run, and all vectors. With ONNXAR_STOCK_LARGE they write and read entries beyond 4 GiB, too.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import onnx
from onnx import numpy_helper

from support import wire_writer as wire
from support.archives import Archive, model_of, weights
from support.command_line import MIB, FolderCase, at_once, main, onnxar

PROJECT = Path(__file__).resolve().parents[2]
SOURCES = PROJECT / "spec/examples"
VECTORS = Path(os.environ.get("ONNXAR_VECTORS", PROJECT / "spec/vectors"))
STOCK = Path(os.environ["ONNXAR_STOCK"]).resolve() if "ONNXAR_STOCK" in os.environ else None
LARGE = "ONNXAR_STOCK_LARGE" in os.environ
SMALL_SHAPES, LARGE_SHAPES = ({"weight": shape, "bias": (16, shape[1])} for shape in ((64, 32), (MIB + 1024, 1024)))
MOST_MEMORY = 400 * MIB  # that a writer takes; each has an entry of 4100 MiB

# Bad archives that a loader accepts. Its library does not show sizes that are given beside a zip64 field.
UNSEEN_SIZES = [
    "alignment_repeated_and_zip64",
    *(f"zip64_{name}" for name in ("long", "one_more", "unasked", "unasked_2", "disk_of_sizes")),
    *(f"zip64_{name}" for name in ("beside_size", "beside_packed", "beside_offset", "step_packed", "24_offset")),
]
# The bad tensor of these is not an initializer, and the loaders read only initializers.
SPARSE, DEEP = "location_indices", "depth_external_behind"
NOT_REFUSED = {
    "cpp": [],
    "javascript": [SPARSE, DEEP],
    "python": [SPARSE, *UNSEEN_SIZES, "header_past_by_1"],
    "go": [SPARSE, DEEP, *UNSEEN_SIZES],
    "java": [SPARSE, DEEP, *UNSEEN_SIZES],
    "rust": [SPARSE, DEEP, *UNSEEN_SIZES],
}
# Valid archives that a loader refuses. It may refuse unknown types, and messages that its protobuf does not parse.
UNKNOWN_TYPES = ["type_unknown", "type_unknown_huge", "link_no_length_unknown_type"]
REFUSED = {
    "cpp": [],
    "javascript": UNKNOWN_TYPES,
    "python": [*UNKNOWN_TYPES, "wire_long_varints", "model_name_damaged"],
    "go": [*UNKNOWN_TYPES, "zip64_end_only_directory_size"],
    "java": UNKNOWN_TYPES,
    "rust": UNKNOWN_TYPES,
}


def languages() -> dict[str, list[str]]:
    """The command of each language, to which `write` or `load` is added."""
    found = {
        "python": [sys.executable, "-B", f"{SOURCES}/python/*.py"],
        "cpp": [f"{Path(os.environ['ONNXAR_EXAMPLES']).resolve()}/stock_*"],
    }
    if shutil.which("node"):
        found["javascript"] = ["node", f"{SOURCES}/javascript/*.js"]
    if STOCK:
        path = f"{STOCK}/java:/usr/share/java/commons-compress.jar"
        found["go"] = [f"{STOCK}/go/*"]
        found["java"] = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path, "*"]
        found["rust"] = [f"{STOCK}/rust/release/*"]
    return found


def command_of(language: str, program: str, *arguments: object) -> list[str]:
    name = program.capitalize() if language == "java" else program
    return [word.replace("*", name) for word in languages()[language]] + [str(each) for each in arguments]


def run(language: str, program: str, *arguments: object) -> subprocess.CompletedProcess:
    command = command_of(language, program, *arguments)
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)


def expected(shapes: dict[str, tuple[int, int]]) -> str:
    """The output of a loader for these weights: each repeats the floats 0, 1, ... 2^18 - 1."""
    piece = np.arange(MIB // 4, dtype="<f4").tobytes()
    lines = []
    for name, (rows, columns) in shapes.items():
        size, crc = 4 * rows * columns, 0
        for begin in range(0, size, MIB):
            crc = zlib.crc32(piece[: size - begin], crc)
        lines.append(f"{name} {onnx.TensorProto.FLOAT} {rows},{columns} {crc:08x}\n")
    return "".join(lines)


def memory_of(command: list[str]) -> int:
    """The peak memory of a command in bytes; it must succeed."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise AssertionError(f"{command} failed")
    return usage.ru_maxrss * 1024


class StockCase(FolderCase):
    def written(self, language: str, *options: str) -> Path:
        archive = self.folder / f"{language}.onnxar"
        done = run(language, "write", *options, archive)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), language)
        return archive

    def assert_table(self, shapes: dict[str, tuple[int, int]], *options: str) -> None:
        """Each loader reads what each writer wrote; prints the table."""
        wanted, rows = expected(shapes), []
        for writer in languages():
            archive = self.written(writer, *options)
            onnxar("check", "--data", "--strict", archive)
            row = []
            for loader in languages():
                done = run(loader, "load", archive)
                row.append("same" if (done.returncode, done.stdout) == (0, wanted) else f"{done.stdout}{done.stderr}")
            rows.append((writer, row))
            if options:
                archive.unlink()
        head = ["written by", *(f"read by {loader}" for loader in languages())]
        for words in (head, ["---"] * len(head), *([writer, *row] for writer, row in rows)):
            print("|", " | ".join(words), "|", flush=True)
        for writer, row in rows:
            self.assertEqual(dict(zip(languages(), row)), dict.fromkeys(languages(), "same"), f"written by {writer}")


class Table(StockCase):
    def test_each_loader_reads_what_each_writer_wrote(self):
        self.assert_table(SMALL_SHAPES)

    def test_loaders_read_all_entries_beyond_4_gib(self):
        if not LARGE:
            self.skipTest("entries beyond 4 GiB: ./dev examples --large")
        self.assert_table(LARGE_SHAPES, "--large")

    def test_all_six_languages_have_programs(self):
        missing = {"python", "cpp", "javascript", "go", "java", "rust"} - languages().keys()
        if missing and not STOCK:
            self.skipTest(f"left to ./dev examples: {', '.join(sorted(missing))}")
        self.assertEqual(missing, set())


class Writers(StockCase):
    def test_their_model_is_onnx_with_the_weights(self):
        for language in languages():
            with self.subTest(language=language):
                model = self.folder / f"{language}.onnx"
                onnxar("unpack", self.written(language), "-o", model)
                loaded = onnx.load(model)
                onnx.checker.check_model(loaded, full_check=True)
                for tensor in loaded.graph.initializer:
                    rows, columns = SMALL_SHAPES[tensor.name]
                    wanted = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
                    np.testing.assert_array_equal(numpy_helper.to_array(tensor), wanted)

    def test_links_are_location_offset_and_length(self):
        for language in languages():
            with self.subTest(language=language), ZipFile(self.written(language)) as archive:
                model = onnx.ModelProto.FromString(archive.read("__MODEL_PROTO"))
                tensors = model.graph.initializer
                links = [[(pair.key, pair.value) for pair in tensor.external_data] for tensor in tensors]
                self.assertEqual(links, [
                    [("location", "weight"), ("offset", "0"), ("length", "8192")],
                    [("location", "bias"), ("offset", "0"), ("length", "2048")]])  # fmt: skip

    def test_their_model_runs_in_onnx_runtime(self):
        python = Path(os.environ.get("ONNXAR_PACKAGE_PYTHON", PROJECT / "build/python_venv/bin/python"))
        if not python.exists():
            self.skipTest(f"no ONNX Runtime: {python} is not there")
        script = (
            "import sys, numpy, onnxruntime\n"
            "x = numpy.linspace(-1, 1, 16 * 64, dtype=numpy.float32).reshape(16, 64)\n"
            "weight, bias = (numpy.arange(n * 32, dtype=numpy.float32).reshape(n, 32) for n in (64, 16))\n"
            "for path in sys.argv[1:]:\n"
            "    y, = onnxruntime.InferenceSession(path).run(None, {'x': x})\n"
            "    numpy.testing.assert_allclose(y, x @ weight + bias, rtol=1e-4, atol=1e-2)\n"
            "    print('good')\n"
        )
        models = [self.folder / f"{language}.onnx" for language in languages()]
        for language, model in zip(languages(), models):
            onnxar("unpack", self.written(language), "-o", model)
        done = subprocess.run([python, "-c", script, *models], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "good\n" * len(models)), done.stderr)

    def test_node_writes_the_same_bytes_as_this_library(self):
        if "javascript" not in languages():
            self.skipTest("nodejs is not installed")
        self.assertEqual(self.written("javascript").read_bytes(), self.written("cpp").read_bytes())

    def test_entries_beyond_4_gib_take_little_memory(self):
        if not LARGE:
            self.skipTest("entries beyond 4 GiB: ./dev examples --large")
        for language in languages():
            with self.subTest(language=language):
                archive = self.folder / "large.onnxar"
                self.assertLess(memory_of(command_of(language, "write", "--large", archive)), MOST_MEMORY)
                archive.unlink()

    def test_programs_without_an_archive_print_their_usage(self):
        for language in languages():
            for program, words in (("write", []), ("write", ["--large"]), ("write", ["a", "b"]), ("load", [])):
                with self.subTest(language=language, program=program, words=words):
                    command = command_of(language, program, *words)  # a writer's last word could be the program itself
                    before = [Path(word).read_bytes() for word in command if Path(word).is_file()]
                    done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
                    self.assertIn(done.returncode, (1, 2))
                    self.assertRegex(done.stderr, rf"(?i)\A[^\n]*usage: .*{program}[^\n]*ARCHIVE\n\Z")
                    self.assertEqual([Path(word).read_bytes() for word in command if Path(word).is_file()], before)
                    self.assertEqual(list(self.folder.iterdir()), [])

    def test_each_program_has_less_than_60_lines(self):
        programs = [file for file in SOURCES.glob("*/*") if file.stem.lower() in ("write", "load")]
        self.assertEqual(len(programs), 12)
        for program in programs:
            with self.subTest(program=program.name):
                lines = program.read_text().splitlines()
                self.assertLess(len(lines), 60)
                self.assertLessEqual(max(map(len, lines)), 120)


@functools.cache
def vectors() -> list[dict]:
    """Those that lie in the folder and set no limit."""
    rows = json.loads((VECTORS / "manifest.json").read_text())
    return [row for row in rows if not row.get("large") and not row.get("options")]


def stem(row: dict) -> str:
    return Path(row["file"]).stem


class Loaders(StockCase):
    def loaded(self, language: str, rows: Iterable[dict]) -> dict[str, subprocess.CompletedProcess]:
        rows = list(rows)
        done = at_once(lambda row: run(language, "load", VECTORS / row["file"]), rows)
        return dict(zip(map(stem, rows), done))

    def test_loaders_refuse_marked_vectors_with_one_line(self):
        rows = [row for row in vectors() if row["stage"] and row.get("loader")]
        self.assertGreater(len(rows), 300)
        if not STOCK:  # one for each rule
            rows = list({row["rule"]: row for row in reversed(rows)}.values())
        for language in languages():
            with self.subTest(language=language):
                done = self.loaded(language, rows)
                accepted = {name for name, each in done.items() if each.returncode == 0}
                self.assertEqual(accepted, {*NOT_REFUSED[language]} & done.keys())
                for name in done.keys() - accepted:
                    self.assertEqual(done[name].returncode, 1, name)
                    self.assertRegex(done[name].stderr, r"\A[Ll]oad[a-z.]*: [^\n]+\n\Z", name)

    def test_each_reads_the_same_in_what_is_valid(self):
        rows = [row for row in vectors() if row["stage"] is None][:: 1 if STOCK else 8]
        wanted = {name: each.stdout for name, each in self.loaded("python", rows).items() if each.returncode == 0}
        self.assertTrue(any(wanted.values()))
        for language in languages():
            with self.subTest(language=language):
                done = self.loaded(language, rows)
                refused = {name for name, each in done.items() if each.returncode}
                self.assertEqual(refused, {*REFUSED[language]} & done.keys())
                different = {name: (each.stdout, wanted[name]) for name, each in done.items()
                             if name not in refused and each.stdout != wanted.get(name, each.stdout)}  # fmt: skip
                if language == "cpp":  # its list of entries leaves out the model, and tensors that name it
                    different.pop("link_to_model", None)
                self.assertEqual(different, {})

    def test_negative_data_type_is_not_a_table_index(self):
        # The number of a type with the elements of 2 bits, of which 4 are a byte, and -1, which is not a type.
        sizes = {}
        for number in (wire.DataType("UINT2", 25, 2, 0, "B"), wire.DataType("NEGATIVE", (1 << 64) - 1, 2, 0, "B")):
            tensor = wire.fields_of("w", number, [40], wire.DataFile("w").link(length=10))
            archive = self.folder / f"{number.name}.onnxar"
            archive.write_bytes(Archive([*weights("w", count=300), model_of(tensor)]).file)
            for language in languages():
                sizes[number.name, language] = run(language, "load", archive).returncode
        for language in languages():
            with self.subTest(language=language):
                self.assertEqual(sizes["UINT2", language], 0)
                self.assertEqual(sizes["NEGATIVE", language], 0 if language == "cpp" else 1)

    def test_empty_missing_and_other_files_are_refused(self):
        empty, other = self.folder / "empty", self.folder / "other"
        empty.touch()
        other.write_bytes(b"PK\5\6" + bytes(17))
        for language in languages():
            for file in (empty, other, self.folder / "missing"):
                with self.subTest(language=language, file=file.name):
                    done = run(language, "load", file)
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.assertRegex(done.stderr, r"\A[Ll]oad[a-z.]*: [^\n]+\n\Z")


if __name__ == "__main__":
    main("usage: ONNXAR=onnxar ONNXAR_EXAMPLES=folder of the examples PYTHONPATH=tests stock_test.py")
