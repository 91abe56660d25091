"""Programs of torch's unmodified exporter. `./dev python --torch` runs this, with some GB of packages from PyPI."""

from __future__ import annotations

import logging
import pathlib
import re
import unittest

import numpy as np
import onnx
import onnxruntime as ort
import torch
from support import FolderTest

import onnxar
import onnxar.numpy
import onnxar.onnxruntime
import onnxar.torch

logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it warns about packages that are not needed here
CPU = ["CPUExecutionProvider"]
WORDS, WIDTH = 1000, 64


class Language(torch.nn.Module):
    """A small language model whose first and last weights are one, as they are in GPT-2."""

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(WORDS, WIDTH, dtype=dtype)
        self.norm = torch.nn.LayerNorm(WIDTH, dtype=dtype)
        self.hidden = torch.nn.Linear(WIDTH, 4 * WIDTH, dtype=dtype)
        self.back = torch.nn.Linear(4 * WIDTH, WIDTH, dtype=dtype)
        self.head = torch.nn.Linear(WIDTH, WORDS, bias=False, dtype=dtype)
        self.head.weight = self.embedding.weight
        self.register_buffer("scale", torch.rand(WIDTH).to(dtype))

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        x = self.embedding(words) * self.scale
        x = x + self.back(torch.nn.functional.gelu(self.hidden(self.norm(x))))
        return self.head(x)


def words() -> torch.Tensor:
    return torch.arange(30).reshape(3, 10) * 31


def exported(module: torch.nn.Module, *inputs: torch.Tensor, **options) -> torch.onnx.ONNXProgram:
    return torch.onnx.export(module.eval(), inputs, dynamo=True, verbose=False, **options)


class Programs(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(7)
        self.path = self.folder / "m.onnxar"

    def outputs(self, session: ort.InferenceSession, *inputs: torch.Tensor) -> list[np.ndarray]:
        feeds = {value.name: each.numpy() for value, each in zip(session.get_inputs(), inputs, strict=True)}
        return session.run(None, feeds)

    def expect_the_same(self, program: torch.onnx.ONNXProgram, *inputs: torch.Tensor) -> list[np.ndarray]:
        """Expects the results of the model with its data inside, bit for bit."""
        inline = ort.InferenceSession(program.model_proto.SerializeToString(), providers=CPU)
        archive = onnxar.onnxruntime.InferenceSession(self.path, providers=CPU)
        found, expected = self.outputs(archive, *inputs), self.outputs(inline, *inputs)
        self.assertEqual([each.tobytes() for each in found], [each.tobytes() for each in expected])
        return found

    def test_program_runs_from_its_archive_like_in_torch(self):
        module = Language()
        program = exported(module, words())
        report = onnxar.save(program, self.path)
        self.assertGreater(report.tensors_outside, 3)
        (found,) = self.expect_the_same(program, words())
        np.testing.assert_allclose(found, module(words()).detach().numpy(), rtol=1e-4, atol=1e-4)
        self.assertEqual([each for each in onnxar.check(self.path, data=True) if each.severity == "error"], [])

    def test_a_dynamic_batch_stays_dynamic(self):
        program = exported(Language(), words(), dynamic_shapes=({0: torch.export.Dim("batch")},))
        onnxar.save(program, self.path)
        for batch in (1, 3, 5):
            (found,) = self.expect_the_same(program, words()[:1].repeat(batch, 1))
            self.assertEqual(found.shape, (batch, 10, WORDS))

    def test_a_tied_weight_is_one_entry(self):
        onnxar.save(exported(Language(), words()), self.path)
        with onnxar.open(self.path) as archive:
            large = [entry for entry in archive.entries() if entry.size == WORDS * WIDTH * 4]
        self.assertEqual(len(large), 1)
        self.assertLess(self.path.stat().st_size, 2 * WORDS * WIDTH * 4)

    def test_half_precision(self):
        for dtype in (torch.bfloat16, torch.float16):
            module = Language(dtype)
            program = exported(module, words())
            onnxar.save(program, self.path, overwrite=True)
            with onnxar.open(self.path) as archive:
                (weight,) = (array for array in archive.values() if array.shape == (WORDS, WIDTH))
                self.assertEqual(str(weight.dtype), str(dtype).removeprefix("torch."))
                raw = module.embedding.weight.detach().view(torch.uint16).numpy()
                np.testing.assert_array_equal(weight.view(np.uint16), raw)

    def test_the_program_is_afterwards_as_it_was(self):
        program = exported(Language(), words())
        before = program.model_proto.SerializeToString(deterministic=True)
        onnxar.save(program, self.path)
        self.assertEqual(program.model_proto.SerializeToString(deterministic=True), before)
        program.save(self.folder / "m.onnx")
        self.assertEqual(onnxar.diff(self.path, self.folder / "m.onnx").tensors, [])
        onnx.checker.check_model(onnxar.load(self.path))

    def test_weights_are_written_from_where_torch_has_them(self):
        count, side = 8, 2048
        module = torch.nn.Sequential(*(torch.nn.Linear(side, side, bias=False) for _ in range(count)))
        program = exported(module, torch.zeros(1, side))
        before, most = anonymous_memory(), 0

        def look(done: int, total: int) -> None:
            nonlocal most
            most = max(most, anonymous_memory() - before)

        report = onnxar.save(program, self.path, sync=False, progress=look)
        self.assertEqual(report.payload_bytes, count * side * side * 4)  # 128 MiB
        self.assertLess(most, 40 << 20)
        print(f"{report.payload_bytes >> 20} MiB of weights written, {most >> 20} MiB of memory taken meanwhile")
        self.expect_the_same(program, torch.rand(1, side))


def anonymous_memory() -> int:
    return int(re.search(r"RssAnon:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())[1]) << 10


class Weights(FolderTest):
    """onnxar.torch saves and loads tensors by name."""

    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(7)
        self.path = self.folder / "w.onnxar"

    def tensors(self) -> dict[str, torch.Tensor]:
        numbers = torch.randn(40, 50)
        types = (torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64,
                 torch.bool, torch.complex64, torch.float8_e4m3fn, torch.float8_e5m2, torch.uint16)  # fmt: skip
        return {"w": numbers, "none": numbers[:0], "scalar": torch.tensor(5.0), "slice": numbers[3:9, ::2], "turned": numbers.T,
                "conjugate": torch.randn(4, dtype=torch.complex64).conj(),
                **{str(each): (numbers * 3).to(each) for each in types}}  # fmt: skip

    def assert_equal(self, loaded: dict[str, torch.Tensor]) -> None:
        expected = self.wanted
        self.assertEqual(list(loaded), list(expected))
        for name, tensor in expected.items():
            self.assertEqual((loaded[name].dtype, loaded[name].shape), (tensor.dtype, tensor.shape), name)
            bits = lambda each: each.contiguous().resolve_conj().reshape(-1).view(torch.uint8)
            self.assertTrue(torch.equal(bits(loaded[name]), bits(tensor)), name)

    def test_every_type_comes_back_from_files_and_bytes(self):
        self.wanted = self.tensors()
        onnxar.torch.save_file(self.wanted, self.path, {"epoch": "3"})
        self.assert_equal(onnxar.torch.load_file(self.path))
        self.assert_equal(onnxar.torch.load(onnxar.torch.save(self.wanted)))
        self.assertEqual([finding for finding in onnxar.check(self.path, data=True) if finding.severity == "error"], [])
        self.assertEqual(onnxar.open(self.path).metadata(), {"epoch": "3"})

    def test_numpy_and_torch_read_each_other(self):
        onnxar.torch.save_file({"w": torch.arange(1000.0)}, self.path)
        np.testing.assert_array_equal(onnxar.numpy.load_file(self.path)["w"], np.arange(1000, dtype=np.float32), strict=True)
        onnxar.numpy.save_file({"w": np.arange(1000)}, self.path, overwrite=True)
        self.assertTrue(torch.equal(onnxar.torch.load_file(self.path)["w"], torch.arange(1000)))

    def test_writes_to_a_tensor_do_not_reach_the_file(self):
        onnxar.torch.save_file({"w": torch.ones(5000)}, self.path)
        before = self.path.read_bytes()
        loaded = onnxar.torch.load_file(self.path)
        loaded["w"] += 1
        self.assertEqual(float(loaded["w"].sum()), 10000)
        self.assertEqual(self.path.read_bytes(), before)
        self.assertEqual(float(onnxar.torch.load_file(self.path)["w"].sum()), 5000)

    def test_tied_weights_are_one_entry_and_one_memory(self):
        module = Language()
        onnxar.torch.save_file(module.state_dict(), self.path)
        keys = [entry.name for entry in onnxar.ls(self.path)]
        self.assertEqual(len(keys), len(module.state_dict()))  # one fewer, and the model
        loaded = onnxar.torch.load_file(self.path)
        self.assertEqual(loaded["head.weight"].data_ptr(), loaded["embedding.weight"].data_ptr())
        again = Language()
        again.load_state_dict(loaded)
        self.assertTrue(torch.equal(again.eval()(words()), module.eval()(words())))

    def test_what_cannot_be_saved_is_refused_by_its_name(self):
        for tensor in (torch.ones(3, 3).to_sparse(), torch.empty(3, device="meta"), np.ones(3), [1.0]):
            with self.assertRaises(ValueError) as raised:
                onnxar.torch.save_file({"w": tensor}, self.path)
            self.assertEqual(raised.exception.entry, "w")
        with self.assertRaises(FileNotFoundError):
            onnxar.torch.load_file(self.path)
        self.assertEqual(self.names(), set())


if __name__ == "__main__":
    unittest.main()
