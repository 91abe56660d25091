"""`digest`: one SHA-256 for what an archive holds, which anyone can compute with unzip and sha256sum."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import unittest
import zipfile
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.archives import MODEL, Archive, Entry, linked, model_of, weights
from support.command_line import FORMAT, IO, USAGE, ToolCase, run

SPEC = Path(__file__).resolve().parents[2] / "spec/digest.md"
SIGNATURE = "onnxar.sig"


def expected(path: Path) -> str:
    """By zipfile and hashlib."""
    with zipfile.ZipFile(path) as archive:
        names = sorted(set(archive.namelist()) - {SIGNATURE})
        lines = [f"{hashlib.sha256(archive.read(name)).hexdigest()}  {name}\n" for name in names]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


class Digest(ToolCase):
    def digest(self, path: Path) -> str:
        return self.succeeds("digest", path).stdout.decode().removesuffix("\n")

    def sample(self) -> Path:
        tensors = (wire.tensor(name, wire.UINT8, size) for name, size in {"b": 2000, "a.weight": 1500, "C": 3000}.items())
        path = self.packed(*tensors)
        side_file = self.write("tokenizer.json", b"{}")
        self.succeeds("replace", path, "--add", f"tokens/t o k.json={side_file}", "--add", f"B.txt={side_file}")
        return path

    def test_is_that_of_the_names_and_bytes(self) -> None:
        path = self.sample()
        self.assertEqual(self.digest(path), expected(path))

    def test_list_prints_what_the_digest_is_the_sha256_of(self) -> None:
        path = self.sample()
        listed = self.succeeds("digest", "--list", path).stdout
        self.assertEqual(hashlib.sha256(listed).hexdigest(), self.digest(path))
        names = re.findall(rb"^[0-9a-f]{64}  (.+)$", listed, re.M)
        self.assertEqual(names, [b"B.txt", b"C", MODEL.encode(), b"a_weight", b"b", b"tokens/t o k.json"])

    def test_json_has_both(self) -> None:
        path = self.sample()
        found = json.loads(self.succeeds("digest", "--json", path).stdout)
        self.assertEqual((found["path"], found["sha256"]), (str(path), expected(path)))
        lines = "".join(f"{entry['sha256']}  {entry['name']}\n" for entry in found["entries"])
        self.assertEqual(lines.encode(), self.succeeds("digest", "--list", path).stdout)

    @unittest.skipUnless(all(map(shutil.which, ("unzip", "sha256sum", "xargs"))), "no unzip, sha256sum or xargs")
    def test_the_commands_of_the_specification_compute_it(self) -> None:
        model = model_of(linked("w"))
        self.write("model.onnxar", Archive([*weights("w"), Entry("-", b"dash"), Entry(SIGNATURE, b"signed"), model]).file)
        commands = re.search(r"^```sh\n(.*?)^```", SPEC.read_text(), re.M | re.S)[1]
        done = subprocess.run(["sh", "-ec", commands], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, f"{self.digest(self.folder / 'model.onnxar')}  -\n")
        lines = self.succeeds("digest", "--list", self.folder / "model.onnxar").stdout
        subprocess.run(["sha256sum", "-c", "--strict"], cwd=self.folder / "content", input=lines.replace(b"  -\n", b"  ./-\n"),
                       capture_output=True, check=True)  # fmt: skip

    def test_rewriting_keeps_it(self) -> None:
        path = self.sample()
        before = self.digest(path)
        for options in ((), ("--align", "4096")):
            self.succeeds("repack", path, "-o", self.output, "-f", *options)
            self.assertEqual(self.digest(self.output), before)

    def test_an_edit_and_its_reverse_keep_it(self) -> None:
        path = self.sample()
        before = self.digest(path)
        self.succeeds("replace", path, "--add", f"more.txt={self.write('more.txt', b'more')}")
        self.assertNotEqual(self.digest(path), before)
        self.succeeds("replace", path, "--remove", "more.txt")
        self.assertEqual(self.digest(path), before)
        self.succeeds("replace", path, "--add", f"{SIGNATURE}={self.write('sig', b'signature')}")
        self.assertEqual(self.digest(path), before)
        self.succeeds("undo", path, "--force")
        self.assertEqual(self.digest(path), before)

    def test_unused_entry_counts_until_archive_is_packed(self) -> None:
        tensors = [wire.tensor(name, wire.UINT8, 2000) for name in "ab"]
        path = self.packed(*tensors)
        before = self.digest(path)
        self.succeeds("replace", path, self.model(*tensors, wire.tensor("c", wire.UINT8, 2001), name="more.onnx"))
        self.succeeds("replace", path, self.model(*tensors))
        self.assertNotEqual(self.digest(path), before)
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(self.digest(self.output), before)

    def test_does_not_depend_on_the_number_of_threads(self) -> None:
        path = self.packed(*(wire.tensor(f"w{i}", wire.UINT8, 1 << 21) for i in range(5)))
        found = {self.succeeds("digest", "--list", "-j", threads, path).stdout for threads in (1, 2, 7)}
        self.assertEqual(len(found), 1)

    def test_damaged_and_other_files_have_no_digest(self) -> None:
        archive = Archive([*weights("w"), model_of(linked("w"))])
        archive.put(archive.data[0] + 5, b"??")
        done = run("digest", self.write("damaged.onnxar", archive.file))
        self.assertEqual((done.returncode, done.stdout), (FORMAT, b""))
        self.assertIn("error[zip.data.crc] ", done.stderr)
        self.assertIn('entry "w"', done.stderr)
        for code, arguments in ((FORMAT, (self.model(),)), (IO, (self.folder / "none",)), (USAGE, ()),
                                (USAGE, ("--list", "--json", self.model()))):  # fmt: skip
            done = run("digest", *arguments)
            self.assertEqual((done.returncode, done.stdout), (code, b""))


if __name__ == "__main__":
    command_line.main()
