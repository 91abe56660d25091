"""Verbs that read an archive at an address, from servers that behave and servers that do not."""

import json
import os
import zipfile
import zlib

from support.archives import Archive, linked, model_of, weights
from support.command_line import DONE, FORMAT, FOUND, IO, USAGE, main, run
from support.remote_case import RemoteCase


class Reading(RemoteCase):
    def test_ls_takes_at_most_three_requests(self) -> None:
        address = self.serve()
        listing = json.loads(self.succeeds("ls", "--json", address).stdout)
        self.assertLessEqual(len(self.server.requests), 3)
        local = json.loads(self.succeeds("ls", "--json", self.local).stdout)
        for entry in local["entries"]:
            entry["alignment"] = None
        self.assertEqual(listing["entries"], local["entries"])
        self.assertEqual(listing["file_size"], len(self.data))
        self.assertIsNone(listing["alignment"])

    def test_one_tensor_takes_two_more(self) -> None:
        address = self.serve()
        self.succeeds("ls", address)
        before = len(self.server.requests)
        self.succeeds("extract", address, "w7", "-o", self.folder / "w7.npy")
        self.assertLessEqual(len(self.server.requests) - before, 5)
        self.succeeds("extract", self.local, "w7", "-o", self.folder / "local.npy")
        self.assertEqual((self.folder / "w7.npy").read_bytes(), (self.folder / "local.npy").read_bytes())

    def test_verbs_print_the_same_as_for_the_file(self) -> None:
        address = self.serve()
        for words in (["cat", "%", "w3"], ["cat", "%", "--model"], ["check", "--json", "%"], ["check", "--data", "%"],
                      ["digest", "--list", "%"]):
            with self.subTest(words=words):
                remote = self.succeeds(*[address if word == "%" else word for word in words])
                local = self.succeeds(*[self.local if word == "%" else word for word in words])
                self.assertEqual(remote.stdout, local.stdout)

    def test_unpack_writes_what_it_writes_for_the_file(self) -> None:
        self.succeeds("unpack", self.serve(), "-o", self.folder / "remote.onnx")
        self.succeeds("unpack", self.local, "-o", self.folder / "local.onnx")
        self.assertEqual((self.folder / "remote.onnx").read_bytes(), (self.folder / "local.onnx").read_bytes())

    def test_a_pattern_writes_each_tensor(self) -> None:
        self.succeeds("extract", self.serve(), "w1*", "-o", f"{self.folder}/remote/")
        self.succeeds("extract", self.local, "w1*", "-o", f"{self.folder}/local/")
        for path in (self.folder / "local").iterdir():
            self.assertEqual((self.folder / "remote" / path.name).read_bytes(), path.read_bytes())

    def test_show_and_diff(self) -> None:
        address = self.serve()
        self.succeeds("show", address)
        self.assertEqual(run("diff", address, self.local).returncode, DONE)
        other = self.archive("x", name="other.onnxar")
        self.assertEqual(run("diff", address, other).returncode, FOUND)

    def test_a_damaged_entry_is_found(self) -> None:
        damaged = bytearray(self.data)
        with zipfile.ZipFile(self.local) as archive:
            damaged[archive.getinfo("w3").header_offset + 2000] ^= 1
        self.data = bytes(damaged)
        self.refused("zip.data.crc", FORMAT, "cat", self.serve(), "w3")


class Servers(RemoteCase):
    def cat(self, **how: object) -> None:
        self.server.requests.clear()
        self.assertEqual(zlib.crc32(run("cat", self.serve(**how), "w3").stdout), zlib.crc32(run("cat", self.local, "w3").stdout))

    def test_failures_that_pass_are_retried(self) -> None:
        for status in (429, 503, 500):
            with self.subTest(status=status):
                self.cat(fail=2, status=status, retry_after=0)

    def test_server_that_keeps_failing_is_reported(self) -> None:
        self.assertIn("503", self.refused("remote.unreachable", IO, "ls", self.serve(fail=100, retry_after=0)))

    def test_interrupted_body_is_resumed(self) -> None:
        self.data = bytes(Archive([*weights("w3", count=2_000_000), model_of(linked("w3", 2_000_000))]).file)
        self.local.write_bytes(self.data)
        self.cat(cut=2)

    def test_wrong_ranges_are_refused(self) -> None:
        self.refused("remote.answer", IO, "ls", self.serve(shift=-1))

    def test_a_server_without_ranges_is_refused(self) -> None:
        self.assertIn("onnxar get", self.refused("remote.no_ranges", IO, "ls", self.serve(ranges=False)))

    def test_a_short_file_needs_no_ranges(self) -> None:
        data = self.archive("a", "b").read_bytes()
        self.succeeds("ls", self.server.serve("/short", data, ranges=False))

    def test_another_version_is_refused(self) -> None:
        other = bytes(reversed(self.data))
        self.refused("io.changed", IO, "cat", self.serve(swap=(1, other)), "w3")

    def test_versions_must_be_distinguishable(self) -> None:
        self.refused("remote.answer", IO, "ls", self.serve(etag="", modified=None))
        self.cat(etag="")  # by the time alone
        self.cat(etag='W/"weak"')

    def test_redirects_are_followed_and_kept(self) -> None:
        target = self.server.serve("/signed", self.data)
        address = self.server.serve("/hub", b"", redirect=target + "?signature=1")
        self.succeeds("cat", address, "w3")
        self.assertEqual([each.path for each in self.server.requests].count("/hub"), 1)

    def test_ten_redirects_are_followed_and_no_more(self) -> None:
        address = self.server.serve("/0", self.data)
        for count in range(1, 12):
            address = self.server.serve(f"/{count}", b"", redirect=address)
            if count == 10:
                self.succeeds("ls", address)
        self.refused("remote.answer", IO, "ls", address)

    def test_redirects_without_end_are_refused(self) -> None:
        self.server.serve("/loop", b"", redirect="/loop")
        self.refused("remote.answer", IO, "ls", self.server.address("/loop"))

    def test_passwords_stay_at_their_host(self) -> None:
        secret = "Basic dXNlcjpwYXNz"
        target = self.server.serve("/far", self.data).replace("127.0.0.1", "localhost")
        self.server.serve("/hub", b"", redirect=target)
        self.succeeds("ls", self.server.address("/hub").replace("//", "//user:pass@"))
        sent = {each.path: each.headers.get("Authorization") for each in self.server.requests}
        self.assertEqual(sent, {"/hub": secret, "/far": None})

    def test_netrc_provides_passwords(self) -> None:
        netrc = self.write("netrc", b"machine 127.0.0.1 login user password pass\n")
        address = self.serve(secret="Basic dXNlcjpwYXNz")
        self.refused("io.permission", IO, "ls", address)
        self.succeeds("ls", address, env={**os.environ, "NETRC": str(netrc)})

    def test_token_of_environment_stays_at_its_host(self) -> None:
        secret = "Bearer hidden"
        address = self.serve(secret=secret)
        self.refused("io.permission", IO, "ls", address)
        with_token = {**os.environ, "ONNXAR_TOKEN": "hidden"}
        self.succeeds("ls", address, env=with_token)
        self.server.serve("/hub", b"", redirect=self.server.serve("/far", self.data).replace("127.0.0.1", "localhost"))
        self.succeeds("ls", self.server.address("/hub"), env=with_token)
        sent = {each.path: each.headers.get("Authorization") for each in self.server.requests}
        self.assertEqual((sent["/hub"], sent["/far"]), (secret, None))

    def test_address_with_a_name_does_not_get_the_token(self) -> None:
        address = self.serve(secret="Basic dXNlcjpwYXNz").replace("//", "//user:pass@")
        self.succeeds("ls", address, env={**os.environ, "ONNXAR_TOKEN": "hidden"})

    def test_messages_have_no_secrets(self) -> None:
        address = self.server.address("/none").replace("//", "//user:hidden@") + "?key=hidden"
        said = self.refused("io.not_found", IO, "ls", address)
        self.assertNotIn("hidden", said)

    def test_incomplete_addresses_are_refused(self) -> None:
        self.refused("remote.address", USAGE, "ls", "http://")
        self.refused("remote.address", USAGE, "ls", "s3://bucket")

    def test_unknown_host_is_reported(self) -> None:
        self.assertIn("resolve", self.refused("remote.unreachable", IO, "ls", "http://host.invalid/m"))

    def test_many_ranges_are_one_request(self) -> None:
        names = [f"w{i}" for i in range(60)]
        rows = [*weights(*names, count=40_000), model_of(*[linked(name, 40_000) for name in names])]
        self.data = bytes(Archive(rows).file)
        for several, most in (("multipart", 6), ("first", 80), ("whole", 80)):
            with self.subTest(several=several):
                self.server.requests.clear()
                self.succeeds("check", self.serve(several=several))
                self.assertLessEqual(len(self.server.requests), most)


if __name__ == "__main__":
    main()
