"""`get --model` downloads what one graph needs, and writes what `pack --model` writes."""

import json
from collections.abc import Sequence

from support import wire_writer as wire
from support.command_line import FORMAT, IO, USAGE, main, run
from support.remote_case import RemoteCase

COUNT = 100_000  # floats of a tensor
END = 256 << 10  # bytes that the first request reads


def chosen(graphs: Sequence[str]) -> list[str]:
    return [word for graph in graphs for word in ("--model", graph)]


class Partial(RemoteCase):
    """The server has four graphs, which share a tensor."""

    def setUp(self) -> None:
        super().setUp()
        models = []
        for name in ("a", "b", "c", "d"):
            tensors = [wire.tensor("shared", count=COUNT), *(wire.tensor(f"{name}{i}", count=COUNT) for i in range(8))]
            models.append(self.model(*tensors, name=f"{name}.onnx"))
        side = self.write("tokenizer.json", b"{}" * 9999)
        self.local = self.folder / "family.onnxar"
        self.succeeds("pack", *models, "-o", self.local, "--add", f"tokenizer.json={side}")
        self.data = self.local.read_bytes()
        self.served = self.serve()

    def packed(self, *graphs: str) -> bytes:
        self.succeeds("pack", self.local, *chosen(graphs), "-o", self.folder / "packed.onnxar", "-f")
        return (self.folder / "packed.onnxar").read_bytes()

    def get(self, graph: str, *words: object, address: str | None = None, more: Sequence[str] = ()) -> str:
        said = self.succeeds("get", address or self.served, "-o", self.output, *chosen([graph, *more]), *words).stderr
        self.assertEqual(self.output.read_bytes(), self.packed(graph, *more))
        self.assertEqual(self.left(), [])
        return said

    def test_each_graph_is_what_pack_writes(self) -> None:
        for graph in ("a", "b", "c", "d", "d.onnx"):
            with self.subTest(graph=graph):
                self.get(graph, "-f")

    def test_several_graphs_are_what_pack_writes(self) -> None:
        for graphs in (("b", "d"), ("d", "a"), ("c", "b", "c"), ("a", "b", "c", "d")):
            with self.subTest(graphs=graphs):
                self.get(graphs[0], "-f", more=graphs[1:])
        self.server.requests.clear()
        self.assertRegex(self.get("d", "-f", more=["b"]), r"out: 20 entries, 6\.\d MB, .* of 13\.\d MB downloaded$")
        self.assertLess(self.body_bytes(), 17 * 4 * COUNT + 50_000)

    def test_variant_is_what_pack_writes(self) -> None:
        parts = {"encoder": {"cpu": "a", "gpu": "b"}, "decoder": {"cpu": "c", "gpu": "d"}}
        components = {
            part: {"variants": {name: {"ep": name, "variant_directory": ".", "executor_info": {"ort": {"model_file": f"{graph}.onnx"}}}
                                for name, graph in variants.items()}} for part, variants in parts.items()}  # fmt: skip
        manifest = self.write("manifest", json.dumps({"schema_version": "1.0", "components": components}).encode())
        self.succeeds("replace", self.local, "--add", f"manifest.json={manifest}")
        self.data = self.local.read_bytes()
        self.served = self.serve()
        self.get("gpu")
        self.assertLess(self.body_bytes(), 17 * 4 * COUNT + 50_000)
        self.assertIn("graph b:", run("ls", self.output).stdout.decode())
        kept = json.loads(run("cat", self.output, "manifest.json").stdout)["components"]
        self.assertEqual({part: list(each["variants"]) for part, each in kept.items()}, {"encoder": ["gpu"], "decoder": ["gpu"]})
        self.assertEqual(self.output.read_bytes(), self.packed("b", "d"))

    def test_only_its_entries_are_downloaded(self) -> None:
        said = self.get("b")
        self.assertRegex(said, r"out: 11 entries, 3\.\d MB, .* of 13\.\d MB downloaded$")
        self.assertLess(self.body_bytes(), 9 * 4 * COUNT + 50_000)
        self.assertLessEqual(len(self.server.requests), 5)

    def test_dry_run_counts_bytes(self) -> None:
        with self.nothing_changes():
            said = self.succeeds("get", self.served, "-o", self.output, "--model", "b", "-n").stderr
        self.assertRegex(said, r"out: would be 11 entries, 3\.\d MB, 3\.\d MB of 13\.\d MB to download$")

    def test_killed_download_resumes(self) -> None:
        self.data = self.data_of_large_graphs()
        self.kill_download(3, "--model", "b")
        self.assertIn("from an earlier download", self.get("b", address=self.serve()))

    def data_of_large_graphs(self) -> bytes:
        models = [self.model(wire.tensor(f"large_{name}", count=8_000_000), name=f"{name}.onnx") for name in ("a", "b")]
        self.succeeds("pack", *models, "-o", self.local, "-f")
        return self.local.read_bytes()

    def test_entries_of_another_graph_are_reused(self) -> None:
        self.get("a")
        self.server.requests.clear()
        self.assertIn("reused", self.get("a", "-f"))
        self.assertLess(self.body_bytes(), END)

    def test_unknown_graph_is_refused(self) -> None:
        said = self.refused("usage.no_such_entry", USAGE, "get", self.served, "-o", self.output, "--model", "e")
        self.assertFalse(self.output.exists())
        self.assertIn("e", said)

    def test_output_that_exists_stays(self) -> None:
        self.output.write_bytes(b"kept")
        self.refused("output.exists", USAGE, "get", self.served, "-o", self.output, "--model", "b")
        self.assertEqual(self.output.read_bytes(), b"kept")

    def test_digest_of_a_graph_is_refused(self) -> None:
        self.refused("usage.argument", USAGE, "get", self.served, "-o", self.output, "--model", "b", "--digest", "0" * 64)

    def test_damaged_weight_gets_no_name(self) -> None:
        damaged = bytearray(self.data)
        damaged[5000] ^= 1  # in the shared tensor, which is first
        self.data = bytes(damaged)
        self.refused("zip.data.crc", FORMAT, "get", self.serve(), "-o", self.output, "--model", "b")
        self.assertEqual(list(self.folder.glob(".out*")), [])
        self.assertFalse(self.output.exists())

    def test_server_without_ranges_is_refused(self) -> None:
        self.refused("remote.no_ranges", IO, "get", self.serve(ranges=False), "-o", self.output, "--model", "b")

    def test_file_replaced_between_requests(self) -> None:
        other = self.data[:-1] + b"\1"
        for answers in (1, 2):
            done = run("get", self.serve(swap=(answers, other)), "-o", self.output, "--model", "b")
            self.assertEqual(done.returncode, IO)
            self.assertIn("io.changed", done.stderr)
            self.assertFalse(self.output.exists())

    def test_hostile_answers_give_the_graph_or_an_error(self) -> None:
        for how in ({"cut": 2}, {"shift": 1, "honest": 1}, {"several": "first"}, {"several": "whole"}, {"content_range": "bytes 0-9/10", "honest": 1},
                    {"length": "0", "honest": 1}, {"parts": lambda body: body[:99]}, {"told": lambda first, last: (first + 1, last + 1)},
                    {"endless": True, "honest": 1}, {"encoding": "br", "honest": 1}):  # fmt: skip
            with self.subTest(how=how):
                done = run("get", self.serve(**how), "-o", self.output, "--model", "b", "-f", "--timeout", "2")
                if done.returncode == 0:
                    self.assertEqual(self.output.read_bytes(), self.packed("b"))
                    self.output.unlink()
                else:
                    self.assertEqual(done.returncode, IO, done.stderr)
                    self.assertFalse(self.output.exists())


if __name__ == "__main__":
    main()
