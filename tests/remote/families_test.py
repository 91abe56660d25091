"""Archives of several models at an address, and verbs that take files alone."""

from support import wire_writer as wire
from support.command_line import DONE, IO, main, run
from support.remote_case import RemoteCase


class Families(RemoteCase):
    def setUp(self) -> None:
        super().setUp()
        encoder = self.model(wire.tensor("shared"), wire.tensor("e"), name="encoder.onnx")
        decoder = self.model(wire.tensor("d"), wire.tensor("table", seed="shared"), name="decoder.onnx")
        self.local = self.folder / "local.onnxar"
        self.succeeds("pack", encoder, decoder, "-o", self.local, "-f")
        self.data = self.local.read_bytes()
        self.address = self.serve()

    def test_a_graph_is_read_as_from_the_file(self) -> None:
        for words in (["cat", "%", "--model=decoder"], ["check", "--data", "%"],
                      ["dump", "%", "--model", "decoder"], ["diff", "%", "@", "--model", "decoder"], ["diff", "@", "%", "--model", "decoder"]):
            with self.subTest(words=words):
                remote, local = (run(*[{"%": model, "@": self.local}.get(word, word) for word in words]) for model in (self.address, self.local))
                self.assertEqual((remote.returncode, remote.stdout), (DONE, local.stdout), remote.stderr)

    def test_a_tensor_of_a_graph_is_extracted(self) -> None:
        self.succeeds("extract", self.address, "table", "--model", "decoder", "-o", self.folder / "remote.npy")
        self.succeeds("extract", self.local, "table", "--model", "decoder", "-o", self.folder / "local.npy")
        self.assertEqual((self.folder / "remote.npy").read_bytes(), (self.folder / "local.npy").read_bytes())

    def test_remote_graph_is_compared_with_a_local_model(self) -> None:
        self.assertEqual(run("diff", self.address, self.folder / "decoder.onnx", "--model", "decoder").returncode, DONE)

    def test_diff_makes_no_request_to_identify_an_address(self) -> None:
        counts = []
        for words in ([], ["--model", "decoder"]):
            before = len(self.server.requests)
            run("diff", self.address, self.local, *words)
            counts.append(len(self.server.requests) - before)
        self.assertEqual(counts[0], counts[1])

    def test_ls_lists_entries_of_a_graph_in_three_requests(self) -> None:
        listing = self.succeeds("ls", self.address, "--model", "decoder").stdout.decode()
        self.assertEqual([line.split()[0] for line in listing.splitlines()[1:-1]], ["shared", "d"])
        self.assertLessEqual(len(self.server.requests), 3)

    def test_unpack_writes_all_models(self) -> None:
        self.succeeds("unpack", self.address, "-o", f"{self.folder}/back/")
        for name in ("encoder.onnx", "decoder.onnx"):
            self.assertEqual((self.folder / "back" / name).read_bytes(), (self.folder / name).read_bytes())

    def test_pack_joins_it_with_a_model_of_this_machine(self) -> None:
        third = self.model(wire.tensor("third"), wire.tensor("e2", seed="e"), name="third.onnx")
        self.succeeds("pack", self.address, third, "-o", self.folder / "three.onnxar")
        self.succeeds("check", "--data", "--strict", self.folder / "three.onnxar")


class Files(RemoteCase):
    def test_verbs_that_need_a_file_recommend_get(self) -> None:
        address = self.serve()
        for words in (["link", address], ["replace", address, self.local], ["repack", address, "-o", self.output], ["undo", "--force", address],
                      ["recover", address]):
            with self.subTest(words=words):
                told = self.refused("io.not_found", IO, *words)
                self.assertIn("this is an address, but a file is needed here; `onnxar get` downloads it as a whole", told)
        self.assertEqual(self.server.requests, [])


if __name__ == "__main__":
    main()
