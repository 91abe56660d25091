"""torch.onnx.export with dynamo: its program in memory, the onnx_ir model in it, and the two files that it writes. with_torch.py has more about programs;
both run in the environment of `./dev python --torch`."""

import logging
import unittest
from pathlib import Path

import numpy as np
import torch
from common import ExporterTest

logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it warns about packages that are not needed here


def convolutions() -> torch.nn.Module:
    nn = torch.nn
    return nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 64))


def transformer() -> torch.nn.Module:
    return torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(64, 4, 256, batch_first=True), 2, enable_nested_tensor=False)


class Torch(ExporterTest):
    def test_convolutions(self) -> None:
        self.judge_module(convolutions(), (2, 3, 16, 16), least_outside=3)

    def test_a_transformer(self) -> None:
        self.judge_module(transformer(), (2, 10, 64), least_outside=8)

    def judge_module(self, module: torch.nn.Module, shape: tuple[int, ...], least_outside: int) -> None:
        def write(_: object, path: str) -> None:
            program.save(path, external_data=True)
            self.assertTrue(Path(f"{path}.data").exists())

        torch.manual_seed(7)
        x = torch.rand(shape)
        program = torch.onnx.export(module.eval(), (x,), dynamo=True, verbose=False, input_names=["x"])
        for made in (program, program.model, program.model_proto):
            self.compare(made, {"x": x.numpy().astype(np.float32)}, least_outside, write)


if __name__ == "__main__":
    unittest.main()
