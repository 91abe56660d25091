"""Every backend test model of onnx that ONNX Runtime runs inline also runs from an archive, with the same outputs.

Models that ONNX Runtime does not run, or whose outputs differ from the test data, are listed in backend_left_out.txt
with the reason, and no others. `backend_slow_test.py --write` writes that file; `--all` runs each model from a cache
and frozen, too.
"""

from __future__ import annotations

import ctypes
import math
import os
import pathlib
import re
import sys
import tempfile
import unittest
from typing import Any

import numpy as np
import onnxruntime as ort
from backend_cases import DIFFERS, Case, cases, difference, same_bits
from support import FolderTest

import onnxar
import onnxar.onnxruntime
from onnxar import _dtypes

os.environ["ALLOW_RELEASED_ONNX_OPSET_ONLY"] = "0"  # the newest models use the next opset
LEFT_OUT = pathlib.Path(__file__).with_name("backend_left_out.txt")
FATAL_ONLY = 4
PART = 1 if "--all" in sys.argv else 4  # one model in so many is also run from a cache and frozen, which takes twice as long as the rest
# Models that do not work when ONNX Runtime loads what it stored: a loop over optional sequences, and models of IR version 3, which get
# more inputs.
NOT_CACHED = {"test_loop16_seq_none", "test_bvlc_alexnet", "test_densenet121", "test_inception_v1", "test_inception_v2", "test_resnet50",
              "test_shufflenet", "test_squeezenet", "test_vgg19", "test_zfnet512"}  # fmt: skip


def options(kind: type[ort.SessionOptions] = ort.SessionOptions) -> ort.SessionOptions:
    chosen = kind()
    chosen.intra_op_num_threads = 1  # a pool of threads for each of some thousand sessions is slow
    chosen.inter_op_num_threads = 1
    chosen.log_severity_level = FATAL_ONLY
    return chosen


def outputs_of(session: ort.InferenceSession, inputs: list[Any]) -> list[Any]:
    feeds = dict(zip((value.name for value in session.get_inputs()), inputs, strict=False))
    odd = [*map(is_odd, inputs), *(value.type in ODD_TYPES for value in session.get_outputs())]
    if not any(odd):
        return session.run(None, feeds)
    values = session.run_with_ort_values(None, {name: as_ort_value(value) for name, value in feeds.items()})
    return list(map(as_array, values))


# Types that NumPy lacks: ONNX Runtime only takes and returns their bytes.
ODD_TYPES = {"tensor(bfloat16)": 16, "tensor(float8e4m3fn)": 17, "tensor(float8e4m3fnuz)": 18, "tensor(float8e5m2)": 19,
             "tensor(float8e5m2fnuz)": 20}  # fmt: skip


def is_odd(value: Any) -> bool:
    return isinstance(value, np.ndarray) and _dtypes._NUMBER.get(value.dtype.name) in ODD_TYPES.values()


def as_ort_value(value: Any) -> ort.OrtValue:
    if not is_odd(value):
        return ort.OrtValue.ortvalue_from_numpy(value)
    integers = np.ascontiguousarray(value).view(np.dtype(f"u{value.dtype.itemsize}"))
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(integers, _dtypes._NUMBER[value.dtype.name])


def as_array(value: ort.OrtValue) -> np.ndarray:
    if value.data_type() not in ODD_TYPES:
        return value.numpy()
    dtype = _dtypes.numpy_dtype(ODD_TYPES[value.data_type()])
    shape = tuple(value.shape())
    data = ctypes.string_at(value.data_ptr(), math.prod(shape) * dtype.itemsize)
    return np.frombuffer(data, dtype).reshape(shape)


def reason_of(error: Exception) -> str:
    """Returns ONNX Runtime's message without positions in its source."""
    text = str(error).split("\n")[0]
    known = re.match(r"\[ONNXRuntimeError\] : \d+ : (\w+) : (.*)", text)
    kind, text = known.groups() if known else (type(error).__name__, text)
    text = re.sub(r"^/\S+:\d+ .*\) (?=[A-Z])|/\S+:\d+ |with name '[^']*'|\(node:.*", "", text)
    return f"{kind}: {' '.join(text.split())[:100]}".strip()


def run_inline(case: Case) -> tuple[list[list[Any]], str | None]:
    """Returns the outputs, or the reason to skip the model."""
    try:
        session = ort.InferenceSession(case.model.SerializeToString(), options(), ["CPUExecutionProvider"])
        outputs = [outputs_of(session, inputs) for inputs, _ in case.data]
    except Exception as error:  # ONNX Runtime and NumPy raise classes without a common base
        return [], reason_of(error)
    for found, (_, expected) in zip(outputs, case.data, strict=True):
        if reason := difference(case, found, expected):
            return [], reason
    return outputs, None


class Backend(FolderTest):
    def run_archive(self, case: Case) -> tuple[list[list[Any]], int]:
        path = self.folder / "model.onnxar"
        report = onnxar.save(case.model, path, 0, overwrite=True, sync=False)
        session = onnxar.onnxruntime.InferenceSession(path, options(), providers=["CPUExecutionProvider"])
        return [outputs_of(session, inputs) for inputs, _ in case.data], report.tensors_outside

    def run_cached(self, case: Case) -> tuple[list[list[Any]], bool]:
        """Runs the archive that `run_archive` made. Returns true if the cache was used."""
        with tempfile.TemporaryDirectory(dir=self.folder) as cache:
            chosen = options(onnxar.onnxruntime.SessionOptions)
            session = onnxar.onnxruntime.InferenceSession(self.folder / "model.onnxar", chosen, ["CPUExecutionProvider"], cache=cache)
            return [outputs_of(session, inputs) for inputs, _ in case.data], session.is_cached

    def run_frozen(self, case: Case) -> list[list[Any]]:
        path = self.folder / "frozen.onnxar"
        onnxar.freeze(case.model, path, threshold=0, overwrite=True, sync=False)
        session = onnxar.onnxruntime.InferenceSession(path, options(), providers=["CPUExecutionProvider"])
        return [outputs_of(session, inputs) for inputs, _ in case.data]

    def test_every_inline_model_also_runs_from_an_archive(self):
        left_out, not_cached, ran, outside = {}, set(), 0, 0
        for number, case in enumerate(cases()):
            with self.subTest(model=case.name):
                outputs, reason = run_inline(case)
                if reason:
                    left_out[case.name] = reason
                    continue
                found, tensors = self.run_archive(case)
                ran, outside = ran + 1, outside + (tensors > 0)
                self.assertTrue(same_bits(outputs, found), "the archive gives other outputs than the inline model")
                for one, (_, expected) in zip(found, case.data, strict=True):
                    self.assertIsNone(difference(case, one, expected))
                if number % PART != 0:
                    continue
                found, is_cached = self.run_cached(case)
                self.assertTrue(same_bits(outputs, found), "the session with a cache gives other outputs")
                if not is_cached:
                    not_cached.add(case.name)
                self.assertTrue(same_bits(outputs, self.run_frozen(case)), "the frozen model gives other outputs")
        print(f"{ran} models ran from archives, {outside} of them with data in entries; {len(left_out)} left out; not from the cache: {sorted(not_cached)}")
        self.assertLessEqual(not_cached, NOT_CACHED)
        if "--write" in sys.argv:
            LEFT_OUT.write_text("".join(f"{name}: {reason}\n" for name, reason in sorted(left_out.items())))
        listed = dict(line.split(": ", 1) for line in LEFT_OUT.read_text().splitlines())
        # The kernels that ONNX Runtime has for the CPU determine which outputs are close enough to the test data.
        rounded = {name for name in left_out.keys() ^ listed.keys() if DIFFERS in (left_out.get(name), listed.get(name))}
        print(f"left out here or in the list alone, for their outputs: {sorted(rounded)}")
        self.assertLess(len(rounded), 30)
        for reasons in (left_out, listed):
            for name in rounded:
                reasons.pop(name, None)
        self.assertEqual(left_out, listed)
        self.assertGreater(outside, 100)


if __name__ == "__main__":
    unittest.main(argv=[each for each in sys.argv if each not in ("--write", "--all")], warnings="ignore")  # of what onnx computes
