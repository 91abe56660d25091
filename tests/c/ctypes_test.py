"""The C interface through Python's ctypes, as a binding of a different language uses it."""

from __future__ import annotations

import ctypes as c
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import wire_writer as wire
from support.archives import Archive, linked, model_of, sound, weights

HEADER = Path(__file__).resolve().parents[2] / "include/onnxar/onnxar_c.h"
LISTED = Path(__file__).with_name("exported.txt")
LIBRARY = os.environ.get("ONNXAR_C_LIBRARY", "")
TO_END = (1 << 64) - 1
TERMINATED = c.c_size_t(-1).value
OK, USAGE, IO, FORMAT, MEMORY = range(5)
U64, U32, I32, SIZE, PLACE, TEXT = c.c_uint64, c.c_uint32, c.c_int32, c.c_size_t, c.c_void_p, c.c_char_p


def fields(**kinds: type) -> list[tuple[str, type]]:
    return list(kinds.items())


class Bytes(c.Structure):
    _fields_ = fields(data=PLACE, size=SIZE)

    def __bytes__(self) -> bytes:
        return c.string_at(self.data, self.size)


class Entry(c.Structure):
    _fields_ = fields(index=U64, name=PLACE, name_length=SIZE, size=U64, crc32=U32, reserved=U32)


class Options(c.Structure):
    _fields_ = fields(struct_size=SIZE, max_entries=U64, max_directory_size=U64,
                      max_model_size=U64, prefetch=I32, copy_in=I32, num_threads=U64)  # fmt: skip


class Tensor(c.Structure):
    _fields_ = fields(name=PLACE, name_length=SIZE, site=PLACE, site_length=SIZE,
                      dims=c.POINTER(c.c_int64), dims_count=SIZE, data_type=I32, reserved=I32)  # fmt: skip


class WriterOptions(c.Structure):
    _fields_ = fields(struct_size=SIZE, alignment=U64, threads=U64, overwrite=I32, no_sync=I32, no_verify_model=I32, reserved=I32)


class AddedFile(c.Structure):
    _fields_ = fields(name=TEXT, path=TEXT)


FLAGS = ("overwrite", "no_sync", "dry_run", "checksum_sha1", "file_per_tensor", "append_external", "foreign_zips", "raw", "data", "strict")


class VerbOptions(c.Structure):
    _fields_ = fields(struct_size=SIZE, **dict.fromkeys(FLAGS, I32), threads=U64, threshold=U64, alignment=U64, max_expansion=U64,
                      external_data_dir=TEXT, data_file=TEXT, add=c.POINTER(AddedFile), add_count=SIZE, remove=c.POINTER(TEXT),
                      remove_count=SIZE, progress=PLACE, progress_context=PLACE, graph=TEXT)  # fmt: skip


class Finding(c.Structure):
    _fields_ = fields(severity=I32, has_offset=I32, offset=U64, code=TEXT, entry=TEXT, message=TEXT, line=TEXT)


READER = c.CFUNCTYPE(c.c_size_t, c.c_void_p, c.c_void_p, c.c_size_t)


class Failed(Exception):
    def __init__(self, status: int, error: c.c_void_p) -> None:
        super().__init__(LIB.onnxar_error_line(error).decode())
        offset = c.c_uint64()
        known = LIB.onnxar_error_offset(error, c.byref(offset))
        self.status, self.code = status, LIB.onnxar_error_code(error).decode()
        self.message = LIB.onnxar_error_message(error).decode()
        self.hint = LIB.onnxar_error_hint(error).decode(), LIB.onnxar_error_hint_value(error).decode()
        self.entry = LIB.onnxar_error_entry(error).decode()
        self.path = LIB.onnxar_error_path(error).decode()
        self.offset = offset.value if known else None
        assert LIB.onnxar_error_status(error) == status
        LIB.onnxar_error_free(error)


def load() -> c.CDLL:
    library = c.CDLL(LIBRARY)
    for name in ("version", "error_code", "error_message", "error_line", "error_entry", "error_path", "error_hint", "error_hint_value"):
        getattr(library, f"onnxar_{name}").restype = c.c_char_p
    for name in ("close", "owner_retain", "owner_release", "error_free", "tensors_free", "writer_free", "keys_free", "report_free"):
        getattr(library, f"onnxar_{name}").restype = None
    for name in ("count", "tensor_count", "report_number", "finding_count"):
        getattr(library, f"onnxar_{name}").restype = c.c_uint64
    return library


def call(name: str, *arguments: object) -> None:
    """Calls a function whose last argument is the error; integers are passed as 64 bits."""
    error = c.c_void_p()
    wide = [c.c_uint64(each) if isinstance(each, int) else each for each in arguments]
    status = getattr(LIB, f"onnxar_{name}")(*wide, c.byref(error))
    if status != OK:
        raise Failed(status, error)
    assert not error


def opened(path: Path, options: Options | None = None) -> c.c_void_p:
    archive = c.c_void_p()
    call("open_path", c.c_uint32(1), os.fsencode(path), c.byref(options) if options else None, c.byref(archive))
    return archive


def result(kind: type, name: str, *arguments: object):
    value = kind()
    call(name, *arguments, c.byref(value))
    return value


def mappings(path: Path) -> int:
    return Path("/proc/self/maps").read_text().count(f" {path}\n")


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.made = sound()
        self.path = Path(folder.name).resolve() / "größe.onnxar"
        self.path.write_bytes(self.made.file)

    def data_of(self, index: int) -> bytes:
        return self.made.entries[index].data

    def refused(self, status: int, code: str, name: str, *arguments: object) -> Failed:
        with self.assertRaises(Failed) as caught:
            call(name, *arguments)
        self.assertEqual((caught.exception.status, caught.exception.code), (status, code), caught.exception)
        return caught.exception


class Reading(Case):
    def test_memory_is_mapped_once_and_released(self):
        for _ in range(50):
            archive = opened(self.path)
            self.assertEqual(mappings(self.path), 1)
            owner = result(c.c_void_p, "get_owner", archive)
            LIB.onnxar_close(archive)
            self.assertEqual(mappings(self.path), 1)
            LIB.onnxar_owner_retain(owner)
            LIB.onnxar_owner_release(owner)
            LIB.onnxar_owner_release(owner)
            self.assertEqual(mappings(self.path), 0)

    def test_copy_survives_changes_of_the_file(self):
        archive = opened(self.path, Options(struct_size=c.sizeof(Options), copy_in=1))
        self.addCleanup(LIB.onnxar_close, archive)
        self.assertEqual(mappings(self.path), 0)
        os.truncate(self.path, 0)
        self.assertEqual(bytes(result(Bytes, "resolve", archive, b"a", 1, 0, TO_END)), self.data_of(0))


class Refusing(Case):
    def test_errors_say_what_and_where(self):
        self.made.set_local(1, flags=2)
        self.path.write_bytes(self.made.file)
        archive = opened(self.path)
        self.addCleanup(LIB.onnxar_close, archive)
        error = self.refused(FORMAT, "zip.local.field", "get_bytes", archive, 1, c.byref(Bytes()))
        self.assertEqual((error.entry, error.path, error.offset), ("b", str(self.path), self.made.headers[1]))
        self.assertIn(error.message, str(error))
        self.assertTrue(str(error).startswith(f"{self.path}: entry \"b\" at "))
        error = self.refused(IO, "io.not_found", "open_path", c.c_uint32(1), b"/none", None, c.byref(c.c_void_p()))
        self.assertEqual((error.entry, error.path, error.offset), ("", "/none", None))

    def test_hints_have_an_id_and_words_of_this_interface(self):
        path, abi = os.fsencode(self.path), c.c_uint32(1)
        error = self.refused(USAGE, "output.exists", "create", abi, path, None, c.byref(c.c_void_p()))
        self.assertEqual(error.hint, ("output.overwrite", ""))
        self.assertTrue(error.message.endswith("; choose another name, or set `overwrite` to replace it"), error.message)
        self.path.with_name("model.onnx").write_bytes(wire.plain(linked("none")))
        model, target = os.fsencode(self.path.with_name("model.onnx")), os.fsencode(self.path.with_name("x.onnxar"))
        error = self.refused(FORMAT, "onnx.external_data.missing", "pack", abi, model, target, None, None)
        self.assertIn("name its folder in `external_data_dir`", str(error))
        plain = self.path.with_name("plain.zip")
        with zipfile.ZipFile(plain, "w") as file:
            file.writestr("model.onnx", wire.plain())
        error = self.refused(FORMAT, "zip.padding.alignment", "open_path", abi, os.fsencode(plain), None, c.byref(c.c_void_p()))
        self.assertEqual(error.hint, ("repack.plain_zip", ""))
        self.assertTrue(error.message.endswith(": onnxar_repack makes an archive of it"), error.message)
        error = self.refused(USAGE, "usage.argument", "pack", abi, None, target, None, None)
        self.assertEqual(error.hint, ("", ""))

    def test_too_much_memory_is_refused(self):
        end_record = self.path.read_bytes()[-22:]  # without one, the file is looked at before it is read
        os.truncate(self.path, 1 << 40)  # a hole
        with open(self.path, "ab") as file:
            file.write(end_record)
        limits = resource.getrlimit(resource.RLIMIT_AS)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_AS, limits)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 39, limits[1]))
        archive, options = c.c_void_p(), Options(struct_size=c.sizeof(Options), copy_in=1)
        arguments = (c.c_uint32(1), os.fsencode(self.path), c.byref(options), c.byref(archive))
        error = self.refused(MEMORY, "c.memory", "open_path", *arguments)
        self.assertEqual((error.message, error.hint), ("no memory", ("", "")))


def header() -> str:
    """The text of the header without its comments."""
    return re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)


def functions() -> set[str]:
    return set(re.findall(r"\b(onnxar_\w+)\(", header()))


class Tensors(Case):
    """C callers get the tensors and bytes that loading finds."""

    def tensors_of(self, *tensors: bytes) -> c.c_void_p:
        self.path.write_bytes(Archive([*weights("a"), model_of(*tensors)]).file)
        archive = opened(self.path)
        self.addCleanup(LIB.onnxar_close, archive)
        found = result(c.c_void_p, "get_tensors", archive)
        self.addCleanup(LIB.onnxar_tensors_free, found)
        return found

    def test_every_tensor_has_its_bytes_in_every_encoding(self):
        kind = wire.TYPES["INT8"]
        found = self.tensors_of(
            linked("a"), wire.tensor("raw", count=5), wire.tensor("typed", kind, 7, wire.packed), linked("a", 10, offset=8)
        )
        expected = [("a", 1, [300], wire.content(wire.FLOAT, 300, "a")), ("raw", 1, [5], wire.content(wire.FLOAT, 5, "raw")),
                    ("typed", 3, [7], wire.content(kind, 7, "typed")), ("a", 1, [10], wire.content(wire.FLOAT, 300, "a")[8:48])]  # fmt: skip
        self.assertEqual(LIB.onnxar_tensor_count(found), len(expected))
        for index, (name, data_type, dims, data) in enumerate(expected):
            tensor = result(Tensor, "get_tensor", found, index)
            self.assertEqual(c.string_at(tensor.name, tensor.name_length).decode(), name)
            self.assertEqual(c.string_at(tensor.site, tensor.site_length).decode(), f"graph.initializer[{index}]")
            self.assertEqual((tensor.data_type, tensor.dims[: tensor.dims_count], tensor.reserved), (data_type, dims, 0))
            for _ in range(2):
                self.assertEqual(bytes(result(Bytes, "get_tensor_bytes", found, index)), data)

    def test_links_that_loading_refuses_are_refused(self):
        refused = {
            "onnx.external_data.bad_offset": linked("a", offset="08"),
            "onnx.external_data.missing": linked("none"),
            "onnx.tensor.length": linked("a", 299, length=1200),
        }
        found = self.tensors_of(*refused.values())
        out = c.byref(Bytes())
        for index, code in enumerate(refused):
            error = self.refused(FORMAT, code, "get_tensor_bytes", found, index, out)
            self.assertIn(f"graph.initializer[{index}]", error.message)
        self.refused(USAGE, "usage.no_such_tensor", "get_tensor_bytes", found, len(refused), out)

    def test_threads_share_a_list(self):
        kind = wire.TYPES["INT8"]
        found = self.tensors_of(*(wire.tensor(f"t{i}", kind, 1000, wire.packed) for i in range(8)))

        def read(index: int) -> bool:
            return bytes(result(Bytes, "get_tensor_bytes", found, index % 8)) == wire.content(kind, 1000, f"t{index % 8}")

        with ThreadPoolExecutor(8) as pool:
            self.assertTrue(all(pool.map(read, range(400))))


class Writing(Case):
    """A binding writes an archive and runs verbs."""

    def test_written_bytes_are_those_that_were_passed(self):
        target = self.path.with_name("written.onnxar")
        writer = result(c.c_void_p, "create", c.c_uint32(1), os.fsencode(target), None)
        self.addCleanup(LIB.onnxar_writer_free, writer)
        pieces = [self.data_of(1)[at : at + 100] for at in range(0, len(self.data_of(1)), 100)]

        def read(_, buffer, size) -> int:
            piece = pieces.pop(0)
            self.assertLessEqual(len(piece), size)
            c.memmove(buffer, piece, len(piece))
            return len(piece)

        call("add", writer, b"a", TERMINATED, self.data_of(0), len(self.data_of(0)))
        call("add_stream", writer, b"b", TERMINATED, len(self.data_of(1)), READER(read), None)
        self.assertFalse(target.exists())
        call("finish", writer, self.data_of(2), len(self.data_of(2)))
        self.assertEqual(target.read_bytes(), self.made.file)

    def test_read_callback_may_not_return_too_many_bytes(self):
        writer = result(c.c_void_p, "create", c.c_uint32(1), os.fsencode(self.path.with_name("x")), None)
        self.addCleanup(LIB.onnxar_writer_free, writer)
        too_much = READER(lambda _, buffer, size: size + 1)
        self.refused(USAGE, "usage.argument", "add_stream", writer, b"a", TERMINATED, 10, too_much, None)

    def test_each_option_serves_the_verbs_in_its_comment(self):
        comments = dict(re.findall(r"\b(\w+)(?:\)\(.*\))?; +/\* ([a-z ]+)", HEADER.read_text().split("struct onnxar_options {")[1].split("}")[0]))
        comments.update(add_count=comments.pop("add"), remove_count=comments.pop("remove"))
        changing = "pack unpack repack replace undo recover link extract"
        missing = os.fsencode(self.path.with_name("none"))  # options are looked at before any file
        verbs = {
            **dict.fromkeys(("pack", "unpack", "repack", "replace", "link"), (missing, missing, "options", None)),
            **dict.fromkeys(("undo", "recover"), (missing, "options", None)),
            "check": (missing, "options", c.byref(c.c_void_p())),
            "extract": (missing, b"a", missing, "options", None),
        }
        for name, kind in VerbOptions._fields_[1:]:
            if name in ("add", "remove", "progress_context"):
                continue
            takes = comments[name].replace("all except check", changing).split()
            value = b"x" if kind is c.c_char_p else 1
            options = VerbOptions(struct_size=c.sizeof(VerbOptions), **{name: value})
            options.add, options.remove = c.pointer(AddedFile(b"n.txt", b"x")), c.pointer(c.c_char_p(b"n.txt"))
            for verb, arguments in verbs.items():
                with self.subTest(option=name, verb=verb), self.assertRaises(Failed) as caught:
                    call(verb, c.c_uint32(1), *(c.byref(options) if each == "options" else each for each in arguments))
                not_taken = f"the option `{name}` is set" in caught.exception.message
                self.assertEqual(not_taken, verb not in takes, f"{name} of {verb}: {caught.exception}")


class Symbols(unittest.TestCase):
    def test_the_c_program_uses_every_function(self):
        program = "".join(path.read_text() for path in Path(__file__).parent.glob("*.c"))
        self.assertGreater(len(functions()), 20)
        self.assertEqual({name for name in functions() if f"{name}(" not in program}, set())

    def exported(self) -> set[str]:
        listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True)
        symbols = [line.split() for line in listed.stdout.splitlines()]
        return {name.split("@")[0] for _, kind, name in symbols if kind != "A"}

    def test_library_exports_exactly_the_header(self):
        self.assertEqual(self.exported(), functions())

    def test_abi_keeps_every_function_and_lists_new_ones(self):
        lines = LISTED.read_text().splitlines()
        listed = {line for line in lines if line and not line.startswith("#")}
        self.assertEqual(listed - self.exported(), set(), "callers of this ABI need these: put them back, or raise ONNXAR_C_ABI")
        self.assertEqual(self.exported() - listed, set(), f"new functions: append them to {LISTED.name}, under their version")

    def test_the_name_for_the_loader_has_the_abi_in_it(self):
        abi = re.search(r"define ONNXAR_C_ABI (\d+)", HEADER.read_text())
        dynamic = subprocess.run(["objdump", "-p", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertRegex(dynamic, rf"SONAME +libonnxar_c\.so\.{abi[1]}\n")
        self.assertEqual(LIB.onnxar_c_abi(), int(abi[1]))

    def test_the_structures_are_as_this_test_has_them(self):
        kinds = {
            "bytes": Bytes,
            "entry": Entry,
            "open_options": Options,
            "tensor": Tensor,
            "writer_options": WriterOptions,
            "added_file": AddedFile,
            "options": VerbOptions,
            "finding": Finding,
        }
        for name, kind in kinds.items():
            body = re.search(rf"typedef struct onnxar_{name} {{(.*?)}} onnxar_{name};", header(), re.DOTALL)[1]
            members = re.findall(r"(?:\(\*)?(\w+)(?:\)\(.*\))?;", body)
            self.assertEqual(members, [field for field, _ in kind._fields_])


if __name__ == "__main__":
    if not LIBRARY:
        sys.exit("usage: ONNXAR_C_LIBRARY=libonnxar_c.so PYTHONPATH=tests ctypes_test.py")
    LIB = load()
    unittest.main()
