"""Checksums of external data: `pack --checksum`, and where they are verified."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from support import command_line
from support import onnx_walk as walk
from support import wire_writer as wire
from support.archives import MODEL, linked, model_of, weights
from support.command_line import FORMAT, FOUND, ToolCase, entries_of, run

CODE = "onnx.external_data.checksum"
DATA = wire.content(wire.FLOAT, 300, "w")
WRONG = hashlib.sha1(b"other bytes").hexdigest()


class Writing(ToolCase):
    def test_each_link_carries_the_sha1_of_its_entry(self) -> None:
        path = self.packed(wire.tensor("a"), wire.tensor("b"), options=("--checksum", "sha1"))
        entries = entries_of(path)
        links = [walk.link(site.tensor) for site in walk.external_sites(walk.parse(entries[MODEL]))]
        self.assertEqual(len(links), 2)
        for link in links:
            self.assertEqual([*link], [*walk.KEYS, "checksum"])
            self.assertEqual(link["checksum"], hashlib.sha1(entries[link["location"]]).hexdigest())
        self.succeeds("check", "--data", "--strict", path)

    def test_it_is_left_out_unless_asked_for(self) -> None:
        path = self.packed(wire.tensor("w"), options=("--checksum", "sha1"))
        self.succeeds("pack", path, "-o", self.output)
        (site,) = walk.external_sites(walk.parse(entries_of(self.output)[MODEL]))
        self.assertEqual(walk.keys_of_link(site.tensor), walk.KEYS)

    def test_inline_again_it_is_the_same_model(self) -> None:
        model = wire.plain(wire.tensor("w"))
        self.assertEqual(self.unpacked(self.packed(wire.tensor("w"), options=("--checksum", "sha1"))), model)

    def test_other_kinds_are_refused(self) -> None:
        done = run("pack", self.model(), "-o", self.output, "--checksum", "md5")
        self.assertEqual(done.returncode, command_line.USAGE)
        self.assertFalse(self.output.exists())


class Verifying(ToolCase):
    def external(self, data: bytes = DATA, **link: object) -> Path:
        self.write("weights.bin", data)
        fields = wire.DataFile("weights.bin").link(**{"length": len(DATA), **link})
        return self.model(wire.fields_of("w", wire.FLOAT, [300], fields))

    def archive_with(self, checksum: str) -> Path:
        return self.archive_of(*weights("w"), model_of(linked("w", checksum=checksum)))

    def test_wrong_one_is_found_with_the_data(self) -> None:
        for path in (self.external(checksum=WRONG), self.archive_with(WRONG)):
            self.succeeds("check", path)
            done = run("check", "--data", "--json", "-q", path)
            self.assertEqual(done.returncode, FOUND)
            (finding,) = json.loads(done.stdout)["findings"]
            self.assertEqual((finding["severity"], finding["code"]), ("error", CODE))
            for expected in ('tensor "w"', WRONG):
                self.assertIn(expected, finding["message"])

    def test_pack_warns_of_a_checksum_that_is_not_sha1(self) -> None:
        done = self.succeeds("pack", self.external(checksum="crc:1"), "-o", self.output)
        self.assertIn(f"warning[{CODE}]", done.stderr)

    def test_part_of_a_file_is_not_compared_with_checksum(self) -> None:
        path = self.external(DATA + b"more", checksum=WRONG)
        self.succeeds("check", "--data", path)
        self.succeeds("pack", path, "-o", self.output)

    def test_wrong_one_stops_what_copies_the_bytes(self) -> None:
        for path in (self.external(checksum=WRONG), self.archive_with(WRONG)):
            for command in (("pack", path), ("unpack", path), ("unpack", path, "--external-data", "data.bin")):
                self.fails(FORMAT, f"onnxar: error[{CODE}] {path}: ", *command, "-o", self.output)


if __name__ == "__main__":
    command_line.main()
