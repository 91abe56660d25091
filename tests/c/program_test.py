"""The C interface from C: a program in C99 uses all of it (program.c says which files it expects)."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support.archives import Archive, linked, model_of, plain_zip, sound, weights


def make_files(folder: Path) -> None:
    archive = sound()
    for entry, name in zip(archive.entries, ("a", "b", "model")):
        (folder / f"{name}.bin").write_bytes(entry.data)
    (folder / "a.onnxar").write_bytes(archive.file)
    (folder / "host").write_bytes(bytes(range(128)) + archive.file + bytes(100))
    broken = sound()
    broken.set_local(0, flags=2)
    broken.put(broken.data[1], b"????")
    (folder / "broken.onnxar").write_bytes(broken.file)
    entries = [*weights("a"), model_of(linked("a"))]
    (folder / "twice.onnxar").write_bytes(Archive([*weights("a"), model_of(linked("a"), linked("a"))]).file)
    (folder / "plain.zip").write_bytes(plain_zip([(each.name, each.data) for each in entries]))


class Program(unittest.TestCase):
    def expect_all_right(self, program):
        with tempfile.TemporaryDirectory() as folder:
            make_files(Path(folder))
            done = subprocess.run([program, folder], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^onnxar \d+\.\d+\.\d+, C ABI \d+: all as it should be\n$")

    def test_every_function_does_as_the_header_says(self):
        self.expect_all_right(os.environ["ONNXAR_C_PROGRAM"])

    def test_callers_of_the_first_header_still_work(self):
        if "ONNXAR_C_V1_PROGRAM" not in os.environ:
            self.skipTest("this system never had the first header")
        self.expect_all_right(os.environ["ONNXAR_C_V1_PROGRAM"])

    def test_a_file_that_is_not_as_expected_fails_it(self):
        with tempfile.TemporaryDirectory() as folder:
            make_files(Path(folder))
            expected = Path(folder) / "b.bin"
            expected.write_bytes(bytes(expected.stat().st_size))
            done = subprocess.run([os.environ["ONNXAR_C_PROGRAM"], folder], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not so: same(bytes, b)", done.stderr)


if __name__ == "__main__":
    if "ONNXAR_C_PROGRAM" not in os.environ:
        sys.exit("usage: ONNXAR_C_PROGRAM=... [ONNXAR_C_V1_PROGRAM=...] (made of program.c) PYTHONPATH=tests program_test.py")
    unittest.main()
