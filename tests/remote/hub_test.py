"""A hub of models: its addresses redirect to signed ones that expire, and its client keeps files under links."""

import os

from support.archives import Archive, linked, model_of, weights
from support.command_line import IO, main
from support.remote_case import RemoteCase

FILE = "/mine/model/resolve/main/m.onnxar"


class Hub(RemoteCase):
    """The hub's answer has the file's hash and size; the store behind it has an ETag of its own."""

    def hub(self, lasts: int, **how: object) -> str:
        target = self.server.serve("/store/5e8f", self.data, etag='"of the store"', signature_lasts=lasts, **how)
        fields = {"X-Linked-Size": str(len(self.data)), "X-Linked-ETag": '"5e8f"', "X-Repo-Commit": "abc", "ETag": '"of the hub"'}
        self.server.serve("/old" + FILE, b"", redirect=FILE)  # a model that was renamed
        return self.server.serve(FILE, b"", redirect=target, signature_lasts=lasts, more=fields)

    def paths(self) -> list[str]:
        return [each.path.split("?")[0] for each in self.server.requests]

    def test_verbs_follow_to_the_store_and_stay_there(self) -> None:
        self.hub(lasts=100)
        far = self.succeeds("cat", self.server.address("/old" + FILE), "w3").stdout
        self.assertEqual(far, self.succeeds("cat", self.local, "w3").stdout)
        self.assertEqual(self.paths(), ["/old" + FILE, FILE, "/store/5e8f", "/store/5e8f"])
        self.assertEqual({each.headers.get("If-Range") for each in self.server.requests}, {None, '"of the store"'})

    def test_a_signature_that_expires_is_asked_for_again(self) -> None:
        address = self.hub(lasts=1)
        for words in (["check", "--data", "%"], ["extract", "%", "w1*", "-o", f"{self.folder}/out/"]):
            self.succeeds(*[address if word == "%" else word for word in words])
        self.assertGreater(len(self.server.signatures), 2)

    def test_a_download_outlives_its_signatures(self) -> None:
        count = 10_000_000  # 40 MB
        self.data = bytes(Archive([*weights("w", count=count), model_of(linked("w", count))]).file)
        self.succeeds("get", self.hub(lasts=1), "-o", self.output, "-c", 1)
        self.assertEqual(self.output.read_bytes(), self.data)
        self.assertGreater(len(self.server.signatures), 2)

    def test_store_that_refuses_all_signatures_is_reported(self) -> None:
        self.refused("io.permission", IO, "ls", self.hub(lasts=0))
        self.assertEqual(len(self.server.signatures), 2)

    def test_a_new_version_at_the_hub_is_noticed(self) -> None:
        other = bytes(reversed(self.data))
        self.refused("io.changed", IO, "cat", self.hub(lasts=1, swap=(1, other)), "w3")


class Cache(RemoteCase):
    """`snapshots/COMMIT/m.onnxar` is a link to `blobs/HASH`."""

    def setUp(self) -> None:
        super().setUp()
        self.on_posix("links")
        self.blobs, self.snapshot = self.folder / "blobs", self.folder / "snapshots" / "abc"
        self.blobs.mkdir()
        self.snapshot.mkdir(parents=True)
        (self.blobs / "5e8f").write_bytes(self.data)
        self.kept = self.snapshot / "m.onnxar"
        os.symlink("../../blobs/5e8f", self.kept)

    def test_verbs_read_it_as_the_file_itself(self) -> None:
        for words in (["cat", "%", "w3"], ["ls", "%"], ["check", "--data", "%"], ["dump", "%"]):
            with self.subTest(words=words):
                found = [self.succeeds(*[path if word == "%" else word for word in words]).stdout for path in (self.kept, self.local)]
                self.assertEqual(*found)

    def test_a_link_for_runtimes_is_beside_the_blob(self) -> None:
        # Runtimes resolve links, and refuse external data outside of the model's folder.
        self.assertIn(str(self.blobs), self.refused("usage.argument", 2, "link", self.kept, "-o", self.snapshot / "m.onnx"))
        self.succeeds("link", self.kept, "-o", self.blobs / "m.onnx")
        self.succeeds("check", "--data", self.blobs / "m.onnx")
        self.assertEqual(os.readlink(self.kept), "../../blobs/5e8f")

    def test_get_replaces_the_link_and_not_the_blob(self) -> None:
        self.refused("output.exists", 2, "get", self.serve(), "-o", self.kept)
        self.succeeds("get", self.serve(), "-o", self.kept, "-f")
        self.assertEqual(self.kept.read_bytes(), self.data)
        self.assertEqual((self.blobs / "5e8f").read_bytes(), self.data)


if __name__ == "__main__":
    main()
