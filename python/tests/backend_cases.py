"""onnx's test models for backends: models, inputs and expected outputs."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import onnx.backend.test
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

ON_DISK = ("simple", "pytorch-converted", "pytorch-operator")
ROOT = pathlib.Path(onnx.__file__).parents[1]

DIFFERS = "its outputs differ from the test data's"


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    model: onnx.ModelProto
    data: list[tuple[list[Any], list[Any]]]
    rtol: float
    atol: float


def as_value(item: Any) -> Any:
    if isinstance(item, onnx.TensorProto):
        return numpy_helper.to_array(item)
    return np.asarray(item) if isinstance(item, np.generic) else item


def read(path: pathlib.Path, type_: onnx.TypeProto) -> Any:
    content = path.read_bytes()
    if type_.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(content))
    if type_.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(content))
    return numpy_helper.to_array(onnx.TensorProto.FromString(content))


def on_disk(test: Any) -> Case:
    folder = pathlib.Path(test.model_dir)
    model = onnx.load(folder / "model.onnx")
    data = []
    for case in sorted(folder.glob("test_data_set_*")):
        values = [
            [read(case / f"{what}_{i}.pb", value.type) for i, value in enumerate(declared) if (case / f"{what}_{i}.pb").exists()]
            for what, declared in (("input", model.graph.input), ("output", model.graph.output))
        ]
        data.append((values[0], values[1]))
    return Case(test.name, model, data, test.rtol, test.atol)


def light(test: Any) -> Case:
    """Networks from well-known papers, whose weights are generated at run time."""
    path = ROOT / test.url
    model = onnx.load(path)
    initializers = {tensor.name for tensor in model.graph.initializer}
    inputs = [Runner.generate_dummy_data(value) for value in model.graph.input if value.name not in initializers]
    expected = numpy_helper.to_array(onnx.load_tensor(path.with_name(f"{path.stem}_output_0.pb")))
    return Case(test.name, model, [(inputs, [expected])], test.rtol, test.atol)


def cases() -> Iterator[Case]:
    for test in load_model_tests(kind="node"):
        data = [([as_value(each) for each in inputs], [as_value(each) for each in outputs]) for inputs, outputs in test.data_sets]
        yield Case(test.name, test.model, data, test.rtol, test.atol)
    for kind in ON_DISK:
        yield from map(on_disk, load_model_tests(kind=kind))
    yield from map(light, load_model_tests(kind="real"))


def difference(case: Case, outputs: list[Any], expected: list[Any]) -> str | None:
    """Returns the difference between the outputs and the test data, by the rules of onnx's own runner; None if equal."""
    try:
        Runner.assert_similar_outputs(expected, outputs, case.rtol, case.atol)
    except (AssertionError, TypeError, AttributeError, ValueError):
        return DIFFERS
    return None


def same_bits(one: Any, other: Any) -> bool:
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same_bits, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_bits(value, other[key]) for key, value in one.items())
    if not isinstance(one, np.ndarray):
        return type(one) is type(other) and one == other
    if one.dtype.hasobject:
        return bool(np.array_equal(one, other))
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
