"""The cost of hostile models: memory and work are checked by limits on the process, output by its size. No clock is read.

The limits here are those that SECURITY.md promises.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.archives import MODEL, Archive, Entry
from support.command_line import DONE, FORMAT, FOUND, ToolCase, run
from support.wire_writer import Part, block, scalar

MIB = 1 << 20
BASE = 160 * MIB  # code, tables and the buffers of threads, for any model
PER_BYTE = 512  # bytes of memory for each byte of the model without its weights
PER_BYTE_OF_LISTS = 1024  # where nodes are listed as JSON

NODE, OUTPUT, INPUT = 1, 12, 11


def value_info(name: str, dims: list[int | None]) -> bytes:
    shape = b"".join(block(1, b"" if dim is None else scalar(1, dim)) for dim in dims)
    return block(1, name) + block(2, block(1, scalar(1, 1) + block(2, shape)))


def node(op: str, inputs: list[str], outputs: list[str], attributes: bytes = b"", domain: str = "") -> bytes:
    names = b"".join(block(1, name) for name in inputs) + b"".join(block(2, name) for name in outputs)
    return names + block(4, op) + attributes + (block(7, domain) if domain else b"")


def attribute(name: str, body: bytes, kind: int) -> bytes:
    return block(5, block(1, name) + body + scalar(20, kind))


def ints(name: str, values: list[int]) -> bytes:
    return attribute(name, block(8, b"".join(wire.varint(value) for value in values)), 7)


def model(graph: bytes, more: bytes = b"") -> bytes:
    return wire.model(Part(graph, more))


def linked(location: str, length: int, offset: int, name: str | None = None) -> bytes:
    link = wire.DataFile(location).link(offset=offset, length=length)
    return wire.fields_of(name, wire.FLOAT, [length // 4], link)


class Cost(ToolCase):
    def limited(self, data: bytes, per_byte: int = PER_BYTE) -> list[str]:
        return self.in_memory(BASE + per_byte * len(data))

    def archived(self, *entries: tuple[str, bytes]) -> Path:
        return self.write("made.onnxar", Archive([Entry(*entry) for entry in entries]).file)

    # --- sites -----------------------------------------------------------------------------------

    def test_attribute_name_is_not_copied_for_each_tensor(self) -> None:
        count = 6_000
        tensors = b"".join(block(10, linked("w", 4, 4 * i)) for i in range(count))
        data = model(block(NODE, block(4, "Op") + attribute("A" * MIB, tensors, 9)))
        path = self.archived(("w", bytes(4 * count)), (MODEL, data))
        tool = self.in_memory(BASE + 128 * MIB)
        for verb in (("ls",), ("ls", "--json"), ("show",), ("check", "-q"), ("extract", "--raw", "-n", "-o", f"{self.folder}/x/")):
            arguments = (verb[0], path, "*", *verb[1:]) if verb[0] == "extract" else (*verb, path)
            done = self.succeeds(*arguments, tool=tool)
            self.assertLess(len(done.stdout), 8 * MIB, verb)

    def test_name_is_not_copied_into_each_difference(self) -> None:
        models = [model(block(13, value_info("N" * MIB, [dim] * 1000))) for dim in (1, 2)]
        paths = [self.write(f"{i}.onnx", data) for i, data in enumerate(models)]
        done = run("diff", "--json", *paths, tool=self.in_memory(BASE + 128 * MIB))
        self.assertEqual(done.returncode, FOUND, done.stderr[-1000:])
        self.assertEqual(len(json.loads(done.stdout)["graph"]), 1000)
        self.assertLess(len(done.stdout), 2 * MIB)

    def test_freeze_does_not_copy_a_site_for_each_name(self) -> None:
        names = [f"i{i}" for i in range(5_000)]
        inner = b"".join(block(5, wire.tensor(name, wire.FLOAT, 1)) for name in names)
        inner += block(NODE, node("Sum", names, ["r"])) + block(OUTPUT, value_info("r", [1]))
        body = attribute("A" * MIB, block(6, block(2, "s") + inner), 5)
        path = self.write("m.onnx", model(block(NODE, node("If", [], ["y"], body)) + block(OUTPUT, value_info("y", [1]))))
        self.succeeds("freeze", path, "-o", self.output, tool=self.in_memory(BASE + 128 * MIB))

    # --- graphs ----------------------------------------------------------------------------------

    def test_many_graphs_of_the_same_entries_are_cheap(self) -> None:
        count, keys = 10_000, [f"w{i}" for i in range(10)]
        graph = model(b"".join(block(5, linked(key, 4, 0, key)) for key in keys))
        entries = [*((key, bytes(4)) for key in keys), *((f"g{i}.onnx", graph) for i in range(count))]
        path = self.archived(*entries, (MODEL, model(b"")))
        size = path.stat().st_size
        tool = self.in_memory(BASE + PER_BYTE * size)
        file = self.write("new", b"[1]")
        for arguments in (("ls", path), ("pack", path, "-o", self.output, "-f"), ("repack", path, "-o", self.output, "-f"),
                          ("replace", path, "--remove", "g0.onnx", "--add", f"t.json={file}")):  # fmt: skip
            with self.subTest(verb=arguments[0]):
                done = self.succeeds(*arguments, tool=tool)
                self.assertLess(len(done.stdout), size)
                if self.output.exists():
                    self.assertLess(self.output.stat().st_size, 2 * size)
        self.assertLess(path.stat().st_size, 3 * size)
        found = self.succeeds("check", "--data", path, tool=tool).stdout
        self.assertLess(len(found), 200 * len(keys) * count)

    # --- analysis --------------------------------------------------------------------------------

    def hard_to_analyse(self) -> Iterator[tuple[str, bytes]]:
        ones = [1] * 20_000
        yield "split", block(INPUT, value_info("x", [None] * 20_000)) + block(NODE, node("Split", ["x"], [""] * 20_000))
        window = ints("strides", ones) + ints("dilations", ones) + ints("pads", ones + ones)
        conv = block(NODE, node("Conv", ["x", "w"], ["y"], window))
        yield "conv", block(INPUT, value_info("x", [1, 1, *ones])) + block(INPUT, value_info("w", [1, 1, *ones])) + conv
        many = b"".join(block(5, block(1, f"{i:x}")) for i in range(20_000))
        yield "attributes", block(NODE, node("Op", [], ["y"], many))
        yield "concat", block(5, self.shape_tensor(64)) + block(NODE, node("Concat", ["s"] * 200_000, ["y"], ints("axis", [])))

    @staticmethod
    def shape_tensor(count: int) -> bytes:
        return wire.fields_of("s", wire.TYPES["INT64"], [count], wire.raw(wire.TYPES["INT64"], bytes(8 * count)))

    def test_show_has_bounded_memory_for_every_shape(self) -> None:
        for name, graph in self.hard_to_analyse():
            with self.subTest(name):
                data = model(graph)
                path = self.write("m.onnx", data)
                for options in ((), ("--json",), ("--nodes",), ("--nodes", "--json")):
                    self.succeeds("show", path, *options, tool=self.limited(data, PER_BYTE_OF_LISTS))

    def test_show_says_what_it_did_not_follow(self) -> None:
        functions = b""
        for i in range(60):  # each calls the next one twice
            call = block(7, node(f"f{i + 1}", ["x"], ["y"], domain="d"))
            functions += block(25, block(1, f"f{i}") + block(4, "x") + block(5, "y") + call + call + block(10, "d"))
        last = block(7, node("MatMul", ["x", "x"], ["y"]))
        functions += block(25, block(1, "f60") + block(4, "x") + block(5, "y") + last + block(10, "d"))
        graph = block(INPUT, value_info("x", [2, 2])) + block(NODE, node("f0", ["x"], ["y"], domain="d"))
        shown = self.succeeds("show", self.write("m.onnx", model(graph, functions))).stdout.decode()
        self.assertIn("multiply-adds  at least ", shown)
        self.assertIn("the limit of steps for a model of this size was reached", shown)

    def test_repeated_attribute_is_one_json_key(self) -> None:
        twice = attribute("a", scalar(3, 1), 2) + attribute("b", scalar(3, 2), 2) + attribute("a", scalar(3, 3), 2)
        path = self.write("m.onnx", model(block(NODE, node("Op", [], ["y"], twice))))
        shown = json.loads(self.succeeds("show", path, "--nodes", "--json").stdout)
        self.assertEqual(shown["nodes"][0]["attributes"], {"a": "3", "b": "2"})

    def test_show_compares_no_pairs_of_dimensions_or_types(self) -> None:
        values = [block(INPUT, value_info(f"x{i}", [None] * 100)) for i in range(1_600)]
        tensors = [block(5, scalar(2, 1000 + i) + block(8, f"t{i}") + block(9, b"")) for i in range(160_000)]
        data = model(b"".join([*values, *tensors, block(NODE, node("Unknown", ["x0"], ["y"], domain="d"))]))
        path = self.write("m.onnx", data)
        prlimit, *limited = self.in_memory(BASE + PER_BYTE_OF_LISTS * len(data))
        tool = [prlimit, "--cpu=30", *limited]
        text = self.succeeds("show", path, tool=tool).stdout.decode()
        self.assertIn(",x1599[99]=N` counts", text)
        self.assertEqual(len(json.loads(self.succeeds("show", "--json", path, tool=tool).stdout)["by_type"]), 160_000)

    # --- many small messages ---------------------------------------------------------------------

    def of_small_messages(self) -> Iterator[tuple[str, bytes]]:
        count = 60_000
        yield "nodes", block(NODE, b"") * count
        yield "attributes", block(NODE, block(4, "Op") + block(5, b"") * count)
        yield "tensors", block(NODE, block(4, "Op") + attribute("t", block(10, b"") * count, 9))
        yield "initializers", block(5, b"") * count
        yield "names", block(NODE, block(4, "Op") + block(1, b"") * count)
        yield "values", block(13, b"") * count
        yield "dimensions", block(13, value_info("x", [None] * count))
        dims = scalar(1, 1) + scalar(2, 1)
        yield "tensors without data", block(5, dims) * (count // 10)
        small = block(13, wire.pair("location", "a-b")) + scalar(14, 1) + dims
        yield "small links", block(5, small) * (count // 10)
        yield "graphs", block(NODE, block(4, "Op") + attribute("g", block(11, b"") * count, 10))

    def test_memory_of_every_verb_is_bounded_for_each_byte(self) -> None:
        for name, graph in self.of_small_messages():
            data = model(graph)
            archive = self.archived(("a-b", bytes(4)), (MODEL, data))
            tool = self.limited(data)
            for command in (
                ("ls", archive),
                ("ls", "--json", archive),
                ("check", "--json", "--data", archive),
                ("show", archive),
                ("dump", archive),
                ("diff", archive, archive),
                ("pack", archive, "-f", "-o", self.folder / "p.onnxar"),
                ("unpack", archive, "-f", "-o", self.folder / "u.onnx"),
                ("link", archive, "-f", "-o", self.folder / "l.onnx"),
                ("repack", archive, "-f", "-o", self.folder / "r.onnxar"),
            ):
                with self.subTest(name, command=command[0]):
                    faulty = command[0] == "check" and name in ("tensors", "initializers")  # they have no data type
                    done = run(*command, tool=tool)
                    self.assertEqual(done.returncode, FOUND if faulty else DONE, done.stderr)
            with self.subTest(name, command="show --nodes"):
                self.succeeds("show", "--nodes", "--json", archive, tool=self.limited(data, PER_BYTE_OF_LISTS))

    # --- shared bytes ----------------------------------------------------------------------------

    def test_overlapping_tensors_error_names_the_option(self) -> None:
        size, count = 1 * MIB, 20
        tensors = [linked("w", size, 4 * i, f"t{i}") for i in range(count)]
        self.write("w", bytes(size + 4 * count))
        outputs = b"".join(block(OUTPUT, value_info(f"t{i}", [size // 4])) for i in range(count))
        path = self.write("m.onnx", model(wire.initializers(*tensors) + outputs))
        for command in (
            ("pack", path, "-o", self.output),
            ("unpack", path, "-o", self.output),
            ("unpack", path, "-o", self.output, "--external-data", "new.bin"),
            ("unpack", path, "-o", self.output, "--text"),
            ("freeze", path, "-o", self.output),
            ("dump", "--with-data", path),
            ("extract", path, "*", "-o", f"{self.folder}/x/"),
        ):
            with self.subTest(command[0]), self.nothing_changes():
                done = run(*command)
                self.assertEqual((done.returncode, done.stdout or b""), (FORMAT, b""), done.stderr)
                self.assertIn("error[onnx.model.expansion]", done.stderr)
                self.assertIn("--max-expansion", done.stderr)
        self.succeeds("pack", path, "-o", self.output, "--max-expansion", "21")
        self.assertGreater(self.output.stat().st_size, count * size)

    # --- streaming --------------------------------------------------------------------

    def test_parts_of_an_appended_entry_are_not_copied(self) -> None:
        half = 64 * MIB
        with (self.folder / "w").open("wb") as file:
            file.truncate(2 * half)
        archive = self.archived(("a", bytes(128)), (MODEL, model(wire.initializers(linked("a", 128, 0, "a")))))
        whole = self.write("whole.onnx", model(wire.initializers(linked("w", 2 * half, 0, "key"))))
        self.succeeds("replace", "--no-sync", "--append-external", archive, whole)
        parts = [linked("key", half, i * half, f"t{i}") for i in range(2)]
        self.succeeds("replace", "--no-sync", archive, self.write("parts.onnx", model(wire.initializers(*parts))))
        (self.folder / "w").unlink()
        tool = self.in_memory(2 * half)
        output = self.folder / "u.onnx"
        self.succeeds("unpack", "--no-sync", archive, "-o", output, "--external-data", "x.bin", tool=tool)

    def test_copying_verbs_read_no_entry_into_memory(self) -> None:
        size = BASE + 32 * MIB
        with (self.folder / "w").open("wb") as file:
            file.truncate(size)
        archive = self.folder / "w.onnxar"
        source = self.write("m.onnx", model(wire.initializers(linked("w", size, 0, "w"))))
        self.succeeds("pack", "--no-sync", source, "-o", archive)
        (self.folder / "w").unlink()
        tool = self.in_memory(BASE)
        before = archive.stat().st_size
        self.succeeds("repack", "--no-sync", archive, "-o", self.output, tool=tool)
        self.output.unlink()
        with Path(os.devnull).open("wb") as nowhere:
            subprocess.run([*tool, "cat", archive, "w"], stdout=nowhere, check=True)
        other = self.write("other.onnx", model(wire.initializers(linked("w", size // 2, 0, "w"))))
        self.succeeds("replace", "--no-sync", archive, other, tool=tool)
        self.succeeds("undo", "-f", "--no-sync", archive, tool=tool)
        self.assertEqual(archive.stat().st_size, before)
        with archive.open("ab") as file:
            file.write(b"PK\x03\x04 an edit that was interrupted")
        self.succeeds("recover", "--no-sync", archive, tool=tool)
        self.assertEqual(archive.stat().st_size, before)

    def test_weights_are_not_inflated_beyond_the_limit(self) -> None:
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1048576,)}\n"
        array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(4 * MIB)
        weights = self.folder / "w.npz"
        with zipfile.ZipFile(weights, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("w.npy", array)
        path = self.write("m.onnx", model(block(INPUT, value_info("w", [MIB])) + block(OUTPUT, value_info("w", [MIB]))))
        with self.nothing_changes():
            freezing = ("freeze", path, "-o", self.output, "--weights", weights)
            line = self.fails(FORMAT, "onnxar: error[zip.limit.expansion] ", *freezing)
        self.assertIn("--max-expansion", line)
        self.succeeds("freeze", path, "-o", self.output, "--weights", weights, "--max-expansion", "1100")

    def test_deflated_arrays_take_one_file_and_mapping(self) -> None:
        count = 3_000
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\n"
        array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(4)
        weights = self.folder / "w.npz"
        with zipfile.ZipFile(weights, "w", zipfile.ZIP_DEFLATED) as file:
            for i in range(count):
                file.writestr(f"w{i}.npy", array)
        values = [value_info(f"w{i}", [1]) for i in range(count)]
        path = self.write("m.onnx", model(b"".join(block(INPUT, value) + block(OUTPUT, value) for value in values)))
        tool = ["strace", "-f", "-c", "-e", "trace=mmap,openat,openat2", "-o", self.folder / "calls", os.environ["ONNXAR"]]
        if shutil.which("strace") is None:
            self.skipTest("strace counts the calls, and is not there")
        self.in_memory(BASE)  # a sanitizer maps its own memory, and its leak detector is also a tracer
        command = ("freeze", path, "-o", self.output, "--no-sync", "--weights", weights)
        self.succeeds(*command, tool=[str(each) for each in tool])
        lines = [line.split() for line in (self.folder / "calls").read_text().splitlines()]
        calls = {line[-1]: int(line[3]) for line in lines if line and line[-1] in ("mmap", "openat", "openat2")}
        self.assertLess(sum(calls.values()), count)


if __name__ == "__main__":
    command_line.main()
