"""What `onnxar.show` says of a model. The classes and fields have the names that they have in C++ and in
`onnxar show --json`. Bytes of names that are not UTF-8 are replaced by U+FFFD."""

from __future__ import annotations

import dataclasses

from onnxar._errors import Finding


@dataclasses.dataclass(frozen=True)
class Producer:
    name: str
    version: str


@dataclasses.dataclass(frozen=True)
class OpsetSummary:
    """`domain` is empty for ai.onnx."""

    domain: str
    version: int


@dataclasses.dataclass(frozen=True)
class ValueSummary:
    """An input or output: `type` such as "FLOAT" or "sequence(FLOAT)". A dimension is a number, a name, or None; `shape`
    is None where none is given."""

    name: str
    type: str
    shape: tuple[int | str | None, ...] | None


@dataclasses.dataclass(frozen=True)
class FunctionSummary:
    """`nodes` are those in its body, subgraphs included."""

    domain: str
    name: str
    overload: str
    inputs: list[str]
    outputs: list[str]
    nodes: int


@dataclasses.dataclass(frozen=True)
class NodeSummary:
    """A node and its place in the model (`site`); values of attributes are short text."""

    site: str
    op: str
    domain: str
    name: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, str]


@dataclasses.dataclass(frozen=True)
class OpCount:
    domain: str
    op: str
    nodes: int


@dataclasses.dataclass(frozen=True)
class DanglingInput:
    """A name that a node takes and nothing gives."""

    site: str
    name: str


@dataclasses.dataclass(frozen=True)
class GraphSummary:
    """`nodes` of the graph itself, `all_nodes` with those of subgraphs and functions; `depth` is the longest path.
    `cycle` has sites of nodes that wait for each other. `ops` begins with the most frequent."""

    name: str
    inputs: list[ValueSummary]
    outputs: list[ValueSummary]
    nodes: int
    all_nodes: int
    subgraphs: int
    depth: int
    cycle: list[str]
    dangling: list[DanglingInput]
    ops: list[OpCount]


@dataclasses.dataclass(frozen=True)
class TensorTotals:
    tensors: int
    elements: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class LargeTensor:
    name: str
    dtype: str
    shape: tuple[int, ...]
    site: str
    bytes: int


@dataclasses.dataclass(frozen=True)
class OpCost:
    domain: str
    op: str
    nodes: int
    multiply_adds: int


@dataclasses.dataclass(frozen=True)
class UnknownCost:
    """What could not be estimated, and why."""

    domain: str
    op: str
    nodes: int
    reason: str
    first_site: str


@dataclasses.dataclass(frozen=True)
class CostEstimate:
    """Multiply-adds of one run, of MatMul, Conv and their kin, where shapes are known. `in_subgraphs` counts each once."""

    multiply_adds: int
    in_subgraphs: int
    by_op: list[OpCost]
    not_known: list[UnknownCost]


@dataclasses.dataclass(frozen=True)
class StorageSummary:
    """Where the bytes are."""

    file_bytes: int
    model_bytes: int
    inline_bytes: int
    archived_bytes: int
    external_bytes: int
    side_bytes: int
    padding_bytes: int
    unused_bytes: int


@dataclasses.dataclass(frozen=True)
class FileBlock:
    """`kind` is "data", "graph", "header", "padding" or "unused"; only data has a `dtype`."""

    kind: str
    offset: int
    size: int
    name: str
    dtype: str | None


@dataclasses.dataclass(frozen=True)
class FileMap:
    """A file of the model; its blocks are in order and cover it."""

    path: str
    missing: bool
    size: int
    blocks: list[FileBlock]


@dataclasses.dataclass(frozen=True)
class Inspection:
    """`form` is "archive", "onnx" or "textproto"; `nodes` is None unless they were asked for. `parameters` counts elements
    of initializers, except running means and variances, which are `statistics`."""

    form: str
    producer: Producer
    domain: str
    model_version: int
    doc_string: str
    ir_version: int
    opsets: list[OpsetSummary]
    metadata: dict[str, str]
    graph: GraphSummary
    functions: list[FunctionSummary]
    training_infos: int
    parameters: int
    statistics: int
    tensors: TensorTotals
    by_type: dict[str, TensorTotals]
    by_site: dict[str, TensorTotals]
    largest: list[LargeTensor]
    cost: CostEstimate
    storage: StorageSummary
    files: list[FileMap]
    remarks: list[Finding]
    nodes: list[NodeSummary] | None
