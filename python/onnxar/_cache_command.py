"""`onnxar-py cache`: fills, lists and clears the cache of sessions of ONNX Runtime."""

from __future__ import annotations

import argparse
import datetime
import sys
import warnings

from onnxar._cache import Cache
from onnxar._errors import Error, printable
from onnxar.onnxruntime import InferenceSession

DESCRIPTION = """Stores models as ONNX Runtime runs them on this machine, so that sessions with cache=True start sooner and share the weights."""


def main(arguments: list[str]) -> int:
    """Runs one of the actions, and returns the exit code."""
    parser = argparse.ArgumentParser("onnxar-py cache", description=DESCRIPTION)
    parser.add_argument("--folder", metavar="FOLDER", help="The folder of the cache; default: the user's folder for caches")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    fill = actions.add_parser("fill", help="Store models, as sessions with the default options and the CPU's provider need them")
    fill.add_argument("models", metavar="ARCHIVE", nargs="+", help="An archive")
    fill.add_argument("--graph", metavar="NAME", default="", help="A further graph of each archive, instead of its model")
    actions.add_parser("list", help="List what is stored, and models that cannot be: size, date and model; the latest first")
    actions.add_parser("clear", help="Remove all that is stored, except what another process is storing; sessions that use it are not disturbed")
    chosen = parser.parse_args(arguments)
    try:
        cache = Cache(chosen.folder)
        if chosen.action == "fill":
            return max(_fill(cache, model, chosen.graph) for model in chosen.models)
        return _list(cache) if chosen.action == "list" else _clear(cache)
    except Error:  # which has a message of its own
        raise
    except OSError as error:
        print(printable(str(error)), file=sys.stderr)
        return 1


def _clear(cache: Cache) -> int:
    removed, busy = cache.clear()
    kept = f"; {busy} not removed, which another process is storing" if busy else ""
    print(f"removed {removed} from {_folder(cache)}{kept}")
    return 0


def _folder(cache: Cache) -> str:
    return printable(str(cache.folder))


def _fill(cache: Cache, model: str, graph: str) -> int:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        session = InferenceSession(model, providers=["CPUExecutionProvider"], graph=graph, cache=cache.folder)
    for warning in said:
        print(printable(f"{model}: {warning.message}"), file=sys.stderr)
    if not session.is_cached:
        if not said:
            print(f"{printable(model)}: another process stores it at the moment", file=sys.stderr)
        return 1
    print(f"{printable(model)}: stored in {_folder(cache)}")
    return 0


def _list(cache: Cache) -> int:
    entries, unfinished = cache.entries(), cache.unfinished()
    for time, size, what in entries:
        print(f"{size / 1e6:10.1f} MB  {datetime.datetime.fromtimestamp(time).isoformat(' ', 'minutes')}  {printable(what)}")
    if unfinished:
        print(f"{unfinished / 1e6:10.1f} MB  not finished: processes are at work or were killed; the next one that stores a model removes what killed ones left")
    print(f"{(sum(size for _, size, _ in entries) + unfinished) / 1e6:10.1f} MB  in {_folder(cache)}")
    return 0
