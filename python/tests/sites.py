"""Models with a tensor at every site, and tensors with every field."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from support import weights


def float_tensor(name: str, count: int = 8) -> onnx.TensorProto:
    return numpy_helper.from_array(weights(count, seed=count), name)


def every_site_of_ir(more: int = 0) -> onnx.ModelProto:
    """Returns a tensor at every site that onnx_ir keeps: initializers, attributes, subgraphs, function bodies."""
    inner = helper.make_graph(
        [helper.make_node("Constant", [], ["inner"], value=float_tensor("in_subgraph", 9 + more))], "then", [],
        [helper.make_tensor_value_info("inner", TensorProto.FLOAT, [9])], [float_tensor("initializer_of_subgraph", 10 + more)],
    )  # fmt: skip
    nodes = [
        helper.make_node("Constant", [], ["c"], value=float_tensor("in_attribute", 11 + more)),
        helper.make_node("If", ["condition"], ["d"], then_branch=inner, else_branch=inner),
        helper.make_node("F", [], ["e"], domain="mine"),
    ]
    body = [helper.make_node("Constant", [], ["out"], value=float_tensor("in_function", 12 + more))]
    function = helper.make_function("mine", "F", [], ["out"], body, [helper.make_opsetid("", 20)])
    small = numpy_helper.from_array(np.arange(4, dtype=np.int64), "small_integers")
    condition = numpy_helper.from_array(np.array(True), "condition")
    graph = helper.make_graph(nodes, "sites", [], [], [float_tensor("initializer", 8 + more), small, condition])
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("mine", 1)]
    return helper.make_model(graph, functions=[function], ir_version=10, opset_imports=opsets)


def every_site(more: int = 0) -> onnx.ModelProto:
    """Returns a tensor at every site that a model has. `more` elements are added to all but the small ones."""
    model = every_site_of_ir(more)

    def sparse(name: str) -> onnx.SparseTensorProto:
        made = onnx.SparseTensorProto(values=float_tensor(f"values_{name}", 13 + more), dims=[20 + more])
        made.indices.CopyFrom(numpy_helper.from_array(np.arange(13 + more, dtype=np.int64), f"indices_{name}"))
        return made

    model.graph.sparse_initializer.append(sparse("of_graph"))
    if more:
        several = model.graph.node.add(op_type="Several", domain="mine", doc_string="attributes that few operators have")
        several.attribute.add(name="tensors", type=onnx.AttributeProto.TENSORS).tensors.extend(
            [float_tensor("one", 8 + more), float_tensor("small", 2), float_tensor("two", 9 + more)])  # fmt: skip
        several.attribute.add(name="graphs", type=onnx.AttributeProto.GRAPHS).graphs.extend(
            [model.graph.node[1].attribute[0].g, helper.make_graph([], "empty", [], [])])  # fmt: skip
        several.attribute.add(name="sparse", type=onnx.AttributeProto.SPARSE_TENSOR).sparse_tensor.CopyFrom(sparse("of_node"))
        several.attribute.add(name="sparses", type=onnx.AttributeProto.SPARSE_TENSORS).sparse_tensors.append(sparse("in_list"))
        several.attribute.add(name="text", type=onnx.AttributeProto.STRINGS).strings.extend([b"a", b"\xff"])
        several.attribute.add(name="numbers", type=onnx.AttributeProto.FLOATS).floats.extend([1.5, 2.5])
        training = model.training_info.add()
        training.initialization.initializer.append(float_tensor("in_initialization", 8 + more))
        training.algorithm.node.append(helper.make_node("Constant", [], ["c"], value=float_tensor("in_algorithm", 8 + more)))
        training.initialization_binding.add(key="a", value="b")
        model.metadata_props.add(key="k", value="v")
    return model


def tensors_of_all_kinds() -> Iterator[TensorProto]:
    """Raw data with and without each other field, in and out of order, and values in every typed field."""
    raw = {"data_type": TensorProto.FLOAT, "dims": [512], "raw_data": weights(512).tobytes()}
    yield TensorProto(name="plain", **raw)
    described = TensorProto(name="described", doc_string="what it is", **raw)
    described.metadata_props.add(key="k", value="v")
    yield described
    yield TensorProto(**raw)
    yield TensorProto(name="said_to_be_inside", data_location=TensorProto.DEFAULT, **raw)
    yield TensorProto(name="packed", data_type=TensorProto.INT4, dims=[3, 1001], raw_data=bytes(1502))
    yield TensorProto(name="of_a_new_type", data_type=77, dims=[512], raw_data=bytes(2048))
    yield TensorProto(name="part", segment=TensorProto.Segment(begin=0, end=512), **raw)
    yield TensorProto(name="twice", float_data=[1.0] * 512, **raw)
    yield TensorProto(name="empty", data_type=TensorProto.FLOAT, dims=[0], raw_data=b"")
    for data_type, dtype in ((TensorProto.FLOAT, np.float32), (TensorProto.INT64, np.int64), (TensorProto.INT8, np.int8),
                             (TensorProto.DOUBLE, np.float64), (TensorProto.UINT64, np.uint64)):  # fmt: skip
        yield helper.make_tensor(f"typed_{data_type}", data_type, [30], np.arange(30).astype(dtype))
    yield helper.make_tensor("strings", TensorProto.STRING, [2], [b"a" * 2000, b"\xff"])


def spellings(count: int) -> Iterator[tuple[str, TensorProto]]:
    """Tensors with raw data, as programs leave them behind: onnx.load sets data_location, and others clear only some fields."""
    raw = {"data_type": TensorProto.FLOAT, "dims": [count], "raw_data": weights(count).tobytes()}
    yield "plain", TensorProto(name="w", **raw)
    yield "location", TensorProto(name="w", data_location=TensorProto.DEFAULT, **raw)
    left = TensorProto(name="w", data_location=TensorProto.DEFAULT, **raw)
    for key, value in (("location", "w.data"), ("offset", "0"), ("length", "1"), ("key of another program", "")):
        left.external_data.add(key=key, value=value)
    yield "left external_data", left
    unset = TensorProto(**raw)
    unset.external_data.extend(left.external_data)
    yield "external_data without a location", unset
    empty = TensorProto(name="", doc_string="", data_location=TensorProto.DEFAULT, **raw)
    empty.external_data.add()
    yield "empty fields", empty
    described = TensorProto(name="w", doc_string="what it is", data_location=TensorProto.DEFAULT, **raw)
    described.metadata_props.add(key="k", value="v")
    yield "described", described
    unordered = TensorProto()
    for field in ("raw_data", "data_location", "name", "dims", "data_type"):
        unordered.MergeFromString(only(left, field))
    yield "unordered", unordered


def only(tensor: TensorProto, field: str) -> bytes:
    """Returns one field of the tensor, serialised."""
    one = TensorProto()
    one.CopyFrom(tensor)
    for each, _ in tensor.ListFields():
        if each.name != field:
            one.ClearField(each.name)
    return one.SerializeToString()


def plain(tensor: TensorProto) -> TensorProto:
    """Returns the same data without fields that have no effect."""
    made = TensorProto()
    made.CopyFrom(tensor)
    made.ClearField("data_location")
    made.ClearField("external_data")
    return made
