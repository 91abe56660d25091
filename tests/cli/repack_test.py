"""`repack` makes an archive of any zip, as zipalign aligns one; `-c` only checks."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

from support import command_line
from support.archives import LOCAL, MODEL, Archive, Entry, exported_files, plain_zip
from support.command_line import DONE, FORMAT, FOUND, MIB, USAGE, ToolCase, entries_of, run


def expected() -> bytes:
    """The archive that `repack` makes of these entries."""
    entries = [Entry(name, data, 4096 if len(data) >= MIB else 64) for name, data in exported_files()]
    return bytes(Archive([*entries[1:], entries[0]]).file)


class RepackCase(ToolCase):
    def repacked(self, source: Path, *options: object) -> bytes:
        done = self.succeeds("repack", source, "-o", self.output, "-f", *options)
        self.assertEqual(done.stdout, b"")
        self.succeeds("check", "--data", "-q", self.output)
        return self.output.read_bytes()


class AsZipalign(RepackCase):
    """The guarantees of zipalign."""

    def test_unaligned_input(self) -> None:
        source = self.write("in.zip", plain_zip(exported_files()))
        self.assertEqual(run("repack", "-c", 64, source).returncode, FOUND)
        self.assertEqual(self.repacked(source), expected())
        self.succeeds("repack", "-c", 64, self.output)
        if shutil.which("zipalign"):
            subprocess.run(["zipalign", "-c", "64", self.output], check=True)

    def test_folders(self) -> None:
        entries = [("folder/", b""), *exported_files(), ("folder/empty/", b"")]
        source = self.write("in.zip", plain_zip(entries))
        self.assertEqual(self.repacked(source), expected())
        told = self.succeeds("repack", "-c", 1, "-v", source).stdout.decode()
        self.assertIn(" folder/ (OK - folder)\n", told)

    def test_over_an_output_of_zipalign(self) -> None:
        if shutil.which("zipalign") is None:
            self.skipTest("zipalign is not installed")
        source = self.write("in.zip", plain_zip(exported_files()))
        aligned = self.folder / "aligned.zip"
        subprocess.run(["zipalign", "64", source, aligned], check=True, capture_output=True)
        self.succeeds("repack", "-c", 64, aligned)
        self.assertEqual(self.repacked(aligned), expected())


class OtherTools(RepackCase):
    """Zips as common tools make them of a folder."""

    def zipped(self, *command: str) -> None:
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        home = self.folder / "home"
        for name, data in [*exported_files(), ("sub/a b.txt", b"text" * 100)]:
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        target = self.folder / "in.zip"
        subprocess.run([*command, target, "."], cwd=home, check=True, capture_output=True)
        files = dict([*exported_files(), ("sub/a b.txt", b"text" * 100)])
        self.repacked(target)
        self.assertEqual(entries_of(self.output), files)

    def test_info_zip(self) -> None:
        self.zipped("zip", "-r")

    def test_info_zip_stored(self) -> None:
        self.zipped("zip", "-r", "-0", "-X")

    def test_7_zip(self) -> None:
        self.zipped("7z", "a", "-tzip")

    def test_python_with_zip64_everywhere(self) -> None:
        path = self.folder / "in.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, data in exported_files():
                with file.open(name, "w", force_zip64=True) as entry:
                    entry.write(data)
            file.comment = b"a comment"
        self.assertEqual(self.repacked(path), expected())

    def test_archive_that_a_zip_tool_changed(self) -> None:
        path = self.write("in.onnxar", expected())
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
            file.writestr("notes.txt", "text" * 100)
        self.fails(FORMAT, "onnxar: error[zip.entry.method]", "ls", path)
        self.repacked(path)
        files = {**dict(exported_files()), "notes.txt": b"text" * 100}
        self.assertEqual(entries_of(self.output), files)
        self.assertEqual(list(entries_of(self.output))[-1], MODEL)


class Check(RepackCase):
    def setUp(self) -> None:
        super().setUp()
        self.plain = self.write("in.zip", plain_zip(exported_files()))
        self.archive_path = self.write("in.onnxar", expected())

    def test_says_how_far_off_each_entry_is(self) -> None:
        with self.nothing_changes():
            done = run("repack", "-c", 64, "-v", self.plain)
        self.assertEqual(done.returncode, FOUND)
        offsets, at = [], 0
        for name, data in exported_files():
            at += LOCAL.size + len(name)
            offsets.append((str(at), name, f"off by {at % 64}" if at % 64 else "OK"))
            at += len(data)
        rows = [line.split(maxsplit=2) for line in done.stdout.decode().splitlines()]
        self.assertEqual([(a, b, c.strip("()")) for a, b, c in rows], offsets)
        self.assertIn("4 of 4 entries", done.stderr)

    def test_of_aligned_entries(self) -> None:
        for alignment in (1, 2, 64, "64B"):
            done = self.succeeds("repack", "-c", alignment, self.archive_path)
            self.assertEqual(done.stdout, b"")
        self.assertEqual(run("repack", "-c", 4096, self.archive_path).returncode, FOUND)

    def test_quiet(self) -> None:
        for path, code in ((self.plain, FOUND), (self.archive_path, DONE)):
            done = run("repack", "-q", "-c", 64, path)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (code, b"", ""))

    def test_compressed_entries_need_no_alignment(self) -> None:
        path = self.folder / "deflated.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("x" * 7, bytes(1000))
        done = self.succeeds("repack", "-c", 64, "-v", path)
        self.assertIn(b"(OK - compressed)", done.stdout)

    def test_usage(self) -> None:
        for call in (
            (self.plain,),
            ("-c", 64),
            (self.plain, "-c"),
            (self.plain, "-c", 0),
            (self.plain, "-c", 3),
            (self.plain, "-c", -1),
            (self.plain, "-c", 64, "-o", self.output),
            (self.plain, "-c", 64, "--align", 64),
            (self.plain, "-c", 64, "-f"),
            (self.plain, "-c", 64, "--rename", "a=b"),
            (self.plain, "-o", self.output, "--align", 65536),
            (self.plain, "-o", self.output, "--max-expansion", "0"),
            (self.plain, "-o", self.output, "--max-expansion", "-1"),
            (self.plain, "-o", self.output, "--max-expansion", "many"),
        ):
            with self.subTest(call=call), self.nothing_changes():
                done = run("repack", *call)
                self.assertEqual((done.returncode, done.stdout), (USAGE, b""), done.stderr)
                self.assertNotEqual(done.stderr, "")


if __name__ == "__main__":
    command_line.main()
