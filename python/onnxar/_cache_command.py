"""`python -m onnxar cache`: fills, lists and clears the cache of sessions of ONNX Runtime."""

from __future__ import annotations

import argparse
import datetime
import sys
import warnings

from onnxar._cache import Cache
from onnxar.onnxruntime import InferenceSession

DESCRIPTION = """Stores models as ONNX Runtime runs them on this machine, so that sessions with cache=True start sooner and share the weights."""


def main(arguments: list[str]) -> int:
    """Runs one of the actions, and returns the exit code."""
    parser = argparse.ArgumentParser("python3 -m onnxar cache", description=DESCRIPTION)
    parser.add_argument("--folder", metavar="FOLDER", help="The folder of the cache; default: the user's folder for caches")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    fill = actions.add_parser("fill", help="Store models, as sessions with the default options and the CPU's provider need them")
    fill.add_argument("models", metavar="ARCHIVE", nargs="+", help="An archive")
    fill.add_argument("--graph", metavar="NAME", default="", help="A further graph of each archive, in place of its model")
    actions.add_parser("list", help="List what is stored: size, date and model; the latest first")
    actions.add_parser("clear", help="Remove all that is stored; sessions that use it are not disturbed")
    chosen = parser.parse_args(arguments)
    cache = Cache(chosen.folder)
    if chosen.action == "fill":
        return max(_fill(cache, model, chosen.graph) for model in chosen.models)
    if chosen.action == "list":
        return _list(cache)
    print(f"removed {cache.clear()} from {cache.folder}")
    return 0


def _fill(cache: Cache, model: str, graph: str) -> int:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        session = InferenceSession(model, providers=["CPUExecutionProvider"], graph=graph, cache=cache.folder)
    for warning in said:
        print(f"{model}: {warning.message}", file=sys.stderr)
    if not session.is_cached:
        if not said:
            print(f"{model}: another process stores it at the moment", file=sys.stderr)
        return 1
    print(f"{model}: stored in {cache.folder}")
    return 0


def _list(cache: Cache) -> int:
    entries = cache.entries()
    for time, size, what in entries:
        print(f"{size / 1e6:10.1f} MB  {datetime.datetime.fromtimestamp(time).isoformat(' ', 'minutes')}  {what}")
    print(f"{sum(size for _, size, _ in entries) / 1e6:10.1f} MB  in {cache.folder}")
    return 0
