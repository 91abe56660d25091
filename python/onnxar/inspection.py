"""The results of `onnxar.show`.

Classes and fields have the same names as in C++ and in `onnxar show --json`. In names, bytes that are not UTF-8 are replaced by U+FFFD.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from onnxar import _summary
from onnxar._errors import Finding, usage


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
    """An input or output. `type` is, for example, "FLOAT" or "sequence(FLOAT)". A dimension is a number, a name, or None.
    `shape` is None if the model does not state one."""

    name: str
    type: str
    shape: tuple[int | str | None, ...] | None


@dataclasses.dataclass(frozen=True)
class FunctionSummary:
    """`nodes` counts the nodes of the body, including subgraphs."""

    domain: str
    name: str
    overload: str
    inputs: list[str]
    outputs: list[str]
    nodes: int


@dataclasses.dataclass(frozen=True)
class NodeSummary:
    """A node. `site` is its path in the model. Values of attributes are short texts."""

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
    """An input of a node whose name is undefined."""

    site: str
    name: str


@dataclasses.dataclass(frozen=True)
class GraphSummary:
    """`nodes` counts the nodes of the graph itself, `all_nodes` also those of subgraphs and functions. `depth` is the length
    of the longest path. `cycle` has the sites of nodes that depend on each other. `ops` is sorted by frequency."""

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
    output: str = ""


@dataclasses.dataclass(frozen=True)
class OpCost:
    domain: str
    op: str
    nodes: int
    multiply_adds: int


@dataclasses.dataclass(frozen=True)
class UnknownCost:
    """An operator without an estimate, and the reason."""

    domain: str
    op: str
    nodes: int
    reason: str
    first_site: str


@dataclasses.dataclass(frozen=True)
class Factor:
    """The size of a dimension, to a power."""

    name: str
    power: int

    def __str__(self) -> str:
        return self.name if self.power == 1 else f"{self.name}^{self.power}"


@dataclasses.dataclass(frozen=True)
class CostTerm:
    """`coefficient` times all `factors`."""

    coefficient: int
    factors: list[Factor]

    def __str__(self) -> str:
        return "*".join([str(self.coefficient), *map(str, self.factors)])


@dataclasses.dataclass(frozen=True)
class SizeRange:
    """A range of sizes of the dimension `name`, with both ends."""

    name: str
    least: int
    most: int


@dataclasses.dataclass(frozen=True)
class CostPolynomial:
    """Multiply-adds in terms of the dimensions that the inputs leave open. It is exact for all sizes that
    are in the ranges `sizes` and with which the model runs. There are at most 64 terms."""

    terms: list[CostTerm]
    sizes: list[SizeRange]

    def at(self, sizes: Mapping[str, int]) -> int:
        """Returns the multiply-adds for these sizes. Other names are ignored. Raises usage.argument (a missing name, a size
        out of its range)."""
        for each in self.sizes:
            if each.name not in sizes:
                raise usage(f"the size of the dimension {each.name!r} is missing")
            if not each.least <= sizes[each.name] <= each.most:
                raise usage(f"the dimension {each.name!r} is {sizes[each.name]}; this cost holds from {each.least} to {each.most}")
        return sum(
            term.coefficient * math.prod(sizes[factor.name] ** factor.power for factor in term.factors) for term in self.terms
        )

    def __str__(self) -> str:
        return " + ".join(map(str, self.terms)).replace("+ -", "- ") or "0"


@dataclasses.dataclass(frozen=True)
class CostEstimate:
    """Multiply-adds of MatMul, Conv and similar operators in one run, as far as shapes are known. `in_subgraphs` counts each
    subgraph once. `polynomial` is the whole cost if that depends on the sizes of open dimensions."""

    multiply_adds: int | None  # None where it is not the whole cost
    at_least: int
    in_subgraphs: int
    by_op: list[OpCost]
    not_known: list[UnknownCost]
    polynomial: CostPolynomial | None


@dataclasses.dataclass(frozen=True)
class StorageSummary:
    """The sizes of the parts of a model's files."""

    file_bytes: int
    model_bytes: int
    inline_bytes: int
    archived_bytes: int
    external_bytes: int
    side_bytes: int
    padding_bytes: int
    unused_bytes: int
    graph_bytes: int = 0


@dataclasses.dataclass(frozen=True)
class GraphTotals:
    """One graph of an archive that has several. `name` is its path without ".onnx", or "" for a model without a name; `model_bytes` is
    the size of its ModelProto, `weight_bytes` is the size of the entries that its tensors use, and `shared_bytes` is the part of
    it that other graphs also use. `parameters` counts elements of initializers and of values of Constant nodes."""

    name: str
    model_bytes: int
    weight_bytes: int
    shared_bytes: int
    parameters: int


@dataclasses.dataclass(frozen=True)
class FileBlock:
    """A range of bytes. `kind` is "data", "graph", "header", "padding" or "unused"; only data has a `dtype`."""

    kind: str
    offset: int
    size: int
    name: str
    dtype: str | None


@dataclasses.dataclass(frozen=True, repr=False)
class FileMap:
    """A file of the model. Its blocks are in order and cover the file. `path` is "" for a model in memory."""

    path: str
    missing: bool
    size: int
    blocks: list[FileBlock]

    def __repr__(self) -> str:
        what = "missing" if self.missing else f"{_summary.size(self.size)}, {_summary.counted(len(self.blocks), 'block')}"
        return f"<onnxar.inspection.FileMap {_summary.cut(self.path or 'in memory', 40)!r}: {what}>"


@dataclasses.dataclass(frozen=True, repr=False)
class Inspection:
    """A summary of a model. Its repr fits a screen; programs use the fields. `form` is "archive", "onnx" or "textproto". `nodes` is
    None unless requested. `graphs` has all graphs of an archive that has several, the model first. `parameters` counts elements of initializers and of values of Constant nodes, except running means and variances, which `statistics` counts."""

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
    graphs: list[GraphTotals] = dataclasses.field(default_factory=list)

    def __repr__(self) -> str:
        return _summary_of(self).text()

    def _repr_html_(self) -> str:
        return _summary_of(self).html()


def _summary_of(found: Inspection) -> _summary.Summary:
    opsets = ", ".join(f"{opset.domain or 'ai.onnx'} {opset.version}" for opset in found.opsets)
    producer = f"{found.producer.name} {found.producer.version}".strip() or "unknown"
    graph = found.graph
    lines = [
        f"producer    {producer}; IR {found.ir_version}; {opsets}",
        f"graph       {graph.name or 'without a name'}: {_summary.counted(graph.all_nodes, 'node')}, "
        + (f"{_summary.counted(graph.subgraphs, 'subgraph')}, " if graph.subgraphs else "") + f"depth {graph.depth}",
        *(f"{kind:<11} {value.name}: {value.type} {_summary.shape(value.shape)}" for kind, values in
          (("input", graph.inputs), ("output", graph.outputs)) for value in values[:3]),
        f"parameters  {found.parameters:,} in {_summary.counted(found.tensors.tensors, 'tensor')} of {_summary.size(found.tensors.bytes)}",
        f"cost        {_cost(found.cost)}",
    ]  # fmt: skip
    lines += [f"{'graphs' if not at else '':<11} {_graph(each)}" for at, each in enumerate(found.graphs[:4])]
    lines += [f"            ... and {len(found.graphs) - 4:,} more"] if len(found.graphs) > 4 else []
    lines += [f"{remark.severity:<11} {remark.message}" for remark in found.remarks[:2]]
    rows: list[Sequence[str]] = [(each.op, each.domain or "ai.onnx", f"{each.nodes:,}") for each in graph.ops]
    head = f"<onnxar.Inspection of an {found.form} of {_summary.size(found.storage.file_bytes)}>"
    return _summary.Summary(head, lines, ("operator", "domain", "nodes"), rows)


def _graph(graph: GraphTotals) -> str:
    shared = f", shared {_summary.size(graph.shared_bytes)}" if graph.shared_bytes else ""
    return f"{graph.name or '(model)'}: {graph.parameters:,} parameters, weights {_summary.size(graph.weight_bytes)}{shared}"


def _cost(cost: CostEstimate) -> str:
    if cost.multiply_adds is not None:
        return f"{cost.multiply_adds:,} multiply-adds"
    if cost.polynomial is not None:
        return f"{cost.polynomial} multiply-adds"
    missing = ", ".join(dict.fromkeys(each.op for each in cost.not_known))
    return f"at least {cost.at_least:,} multiply-adds; not known: {missing}"
