"""The places in a model that can hold a tensor, and models with a tensor at every place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from support.wire_writer import (
    ALGORITHM,
    FUNCTIONS,
    GRAPH_NODE,
    GRAPHS,
    INITIALIZATION,
    SPARSE_INITIALIZER,
    SPARSE_TENSOR,
    SPARSE_TENSORS,
    TENSORS,
    TRAINING_INFO,
    G,
    Part,
    T,
    attribute,
    block,
    graph,
    initializers,
    node,
    sparse,
    strings,
)


def in_node(op_type: str, number: int, *values: bytes) -> Part:
    return Part(block(GRAPH_NODE, node(op_type, attribute(number, *values))))


def in_function(body: bytes) -> Part:
    return Part(model=block(FUNCTIONS, block(1, "f") + body))


def in_default(default: bytes) -> Part:
    return in_function(block(10, "zoo") + block(11, default))


def in_training(number: int, each: bytes) -> Part:
    return Part(model=block(TRAINING_INFO, block(number, weights(each))))


def constant(each: bytes) -> bytes:
    return node("Constant", attribute(T, each))


def weights(*tensors: bytes) -> bytes:
    """A graph of initializers."""
    return graph(initializers(*tensors))


def step(each: bytes) -> bytes:
    """A graph of one Constant."""
    return graph(block(GRAPH_NODE, constant(each)))


# The places that can hold a tensor: name -> function that puts a tensor there.
SITES: dict[str, Callable[[bytes], Part]] = {
    "initializer": lambda each: Part(initializers(each)),
    "sparse_initializer": lambda each: Part(block(SPARSE_INITIALIZER, sparse(each))),
    "t": lambda each: in_node("Constant", T, each),
    "tensors": lambda each: in_node("Many", TENSORS, each, strings("between"), each),
    "sparse_tensor": lambda each: in_node("Constant", SPARSE_TENSOR, sparse(each)),
    "sparse_tensors": lambda each: in_node("Many", SPARSE_TENSORS, sparse(each), sparse(each)),
    "g_initializer": lambda each: in_node("If", G, weights(each)),
    "g_attribute": lambda each: in_node("If", G, step(each)),
    "graphs": lambda each: in_node("Cases", GRAPHS, weights(each), step(each)),
    "function_body": lambda each: in_function(block(7, constant(each)) + block(10, "zoo")),
    "function_default": lambda each: in_default(attribute(T, each)),
    "function_default_graph": lambda each: in_default(attribute(G, weights(each))),
    "initialization": partial(in_training, INITIALIZATION),
    "algorithm": partial(in_training, ALGORITHM),
}


def at_every_site(make: Callable[..., bytes], *arguments: object) -> list[Part]:
    """Puts the result of `make`, for the site's name and the arguments, at each site."""
    return [put(make(site, *arguments)) for site, put in SITES.items()]
