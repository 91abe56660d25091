"""Well-known architectures as ONNX models whose weights are external data of zeros, a sparse file.

What they count (parameters, multiply-adds) is known from the literature and does not depend on the weights.
"""

from __future__ import annotations

from pathlib import Path

from onnx import ModelProto, StringStringEntryProto, TensorProto, helper

DATA = "zeros.bin"


class Builder:
    """A model under construction. Every call returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list = []
        self.weights: list[TensorProto] = []
        self.constants: list[TensorProto] = []
        self.end = 0

    def weight(self, *dims: int) -> str:
        tensor = TensorProto(name=f"w{len(self.weights)}", dims=dims, data_type=TensorProto.FLOAT)
        size = 4
        for dim in dims:
            size *= dim
        for key, value in (("location", DATA), ("offset", self.end), ("length", size)):
            tensor.external_data.append(StringStringEntryProto(key=key, value=str(value)))
        tensor.data_location = TensorProto.EXTERNAL
        self.end += -(-size // 64) * 64
        self.weights.append(tensor)
        return tensor.name

    def constant(self, *values: int) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def op(self, kind: str, *inputs: str, **attributes: object) -> str:
        output = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def save(self, path: Path, inputs: dict[str, list], outputs: dict[str, list]) -> Path:
        """Writes the model, and the data file next to it."""
        values = [
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in each.items()]
            for each in (inputs, outputs)
        ]
        graph = helper.make_graph(self.nodes, path.stem, *values, self.weights + self.constants)
        model: ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        path.write_bytes(model.SerializeToString())
        with open(path.parent / DATA, "wb") as file:
            file.truncate(self.end)
        return path


def resnet50(path: Path) -> Path:
    """ResNet-50 v1.5 (the stride is in the 3x3) at 224x224, as in torchvision, with BatchNormalization."""
    build = Builder()

    def conv(x: str, inner: int, outer: int, kernel: int, stride: int = 1) -> str:
        pads = [kernel // 2] * 4
        y = build.op("Conv", x, build.weight(outer, inner, kernel, kernel), strides=[stride] * 2, pads=pads)
        return build.op("BatchNormalization", y, *(build.weight(outer) for _ in range(4)))

    x = build.op("Relu", conv("image", 3, 64, 7, 2))
    x = build.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            step = stride if block == 0 else 1
            y = build.op("Relu", conv(x, channels, width, 1))
            y = build.op("Relu", conv(y, width, width, 3, step))
            y = conv(y, width, 4 * width, 1)
            shortcut = conv(x, channels, 4 * width, 1, step) if block == 0 else x
            x = build.op("Relu", build.op("Add", y, shortcut))
            channels = 4 * width
    x = build.op("Flatten", build.op("GlobalAveragePool", x))
    y = build.op("Gemm", x, build.weight(1000, 2048), build.weight(1000), transB=1)
    return build.save(path, {"image": [1, 3, 224, 224]}, {y: [1, 1000]})


def bert_base(path: Path, length: object = 128) -> Path:
    """The encoder of BERT-base: 12 layers of width 768 with 12 heads."""
    build = Builder()
    width, heads, layers = 768, 12, 12

    def dense(x: str, inner: int, outer: int) -> str:
        return build.op("Add", build.op("MatMul", x, build.weight(inner, outer)), build.weight(outer))

    def split(x: str, *order: int) -> str:
        x = build.op("Reshape", x, build.constant(0, -1, heads, width // heads))
        return build.op("Transpose", x, perm=order)

    def norm(x: str) -> str:
        """As exporters wrote it before LayerNormalization."""
        centred = build.op("Sub", x, build.op("ReduceMean", x, axes=[-1]))
        spread = build.op("ReduceMean", build.op("Mul", centred, centred), axes=[-1])
        y = build.op("Div", centred, build.op("Sqrt", spread))
        return build.op("Add", build.op("Mul", y, build.weight(width)), build.weight(width))

    x = "hidden"
    for _ in range(layers):
        query, key, value = (dense(x, width, width) for _ in range(3))
        scores = build.op("MatMul", split(query, 0, 2, 1, 3), split(key, 0, 2, 3, 1))
        mixed = build.op("MatMul", build.op("Softmax", scores, axis=-1), split(value, 0, 2, 1, 3))
        mixed = build.op("Transpose", mixed, perm=[0, 2, 1, 3])
        mixed = build.op("Reshape", mixed, build.constant(0, -1, width))
        x = norm(build.op("Add", x, dense(mixed, width, width)))
        inner = dense(x, width, 4 * width)
        inner = build.op("Mul", inner, build.op("Erf", inner))
        x = norm(build.op("Add", x, dense(inner, 4 * width, width)))
    return build.save(path, {"hidden": [1, length, width]}, {x: [1, length, width]})
