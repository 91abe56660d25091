"""The tensors of a model, their keys, and which of them a text selects."""

from __future__ import annotations

import collections
import difflib
import functools
from collections.abc import Callable, Iterable, Sequence

from onnxar import _core
from onnxar._errors import NotFoundError, printable

MOST_CANDIDATES = 20  # in a message
INITIALIZER = "graph.initializer["  # how the sites of the main graph's initializers begin


class Selection:
    """The tensors of an archive by their keys. `Archive` says which of them a text selects."""

    def __init__(self, handle: _core.Archive, path: str | None) -> None:
        self.handle, self.path = handle, path
        tensors, names, self._without_array = handle.tensors()
        self.tensors = _keyed(tensors, names, handle.names)

    @functools.cached_property
    def with_arrays(self) -> dict[str, _core.StoredTensor]:
        """All tensors except strings and those of unknown types."""
        return {key: tensor for key, tensor in self.tensors.items() if tensor.bits} if self._without_array else self.tensors

    @functools.cached_property
    def by_entry(self) -> dict[str, list[str]]:
        """The keys of the tensors in each entry."""
        return {entry["name"]: [self._by_site[site] for site in entry["sites"]] for entry in self.handle.entries()}

    @functools.cached_property
    def _by_output(self) -> dict[str, list[str]]:
        """The keys of the tensors of Constant nodes, by the node's output."""
        keys: dict[str, list[str]] = collections.defaultdict(list)
        for key, tensor in self.tensors.items():
            if tensor.output:
                keys[tensor.output].append(key)
        return keys

    @functools.cached_property
    def _by_site(self) -> dict[str, str]:
        """The key of the tensor at each site."""
        return {tensor.site: key for key, tensor in self.tensors.items()}

    @functools.cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """The keys of the tensors that each name selects."""
        keys = self._by_site
        return {name: [keys[tensor.site] for tensor in means] for name, means in _named(self.tensors.values()).items()}

    def keys_of(self, text: object) -> list[str]:
        """Returns the keys of the tensors that a text selects."""
        if not isinstance(text, str):
            return []
        if text in self.tensors:
            return [text]
        found = self._by_name.get(text) or self.by_entry.get(text)
        site = None if found else self._by_site.get(text.rstrip("~"))
        return found or ([site] if site is not None else self._by_output.get(text, []))

    def find(self, text: str) -> tuple[str, _core.StoredTensor]:
        """Returns the only tensor that a text selects, with its key. Raises usage.no_such_tensor; usage.ambiguous_tensor."""
        keys = self.keys_of(text)
        if len(keys) == 1:
            return keys[0], self.tensors[keys[0]]
        raise self.missing(text)

    def missing(self, text: object) -> NotFoundError:
        """Returns the error for a text that is not a key, with what it may mean instead."""
        keys, code = self.keys_of(text), "usage.no_such_tensor"
        if len(keys) > 1:
            more = ", ..." if len(keys) > MOST_CANDIDATES else ""
            code = "usage.ambiguous_tensor"
            message = f"{len(keys)} tensors match; their keys are {', '.join(keys[:MOST_CANDIDATES])}{more}"
        elif keys and keys[0] == text:
            message = "strings are not available as arrays; onnxar.load returns them"
        elif keys:
            message = f"no tensor has this key; it is an entry, a site or an output of the tensor {printable(keys[0])!r}, which tensor() finds"
        else:
            near = difflib.get_close_matches(text, self.tensors, 3) if isinstance(text, str) else []
            means = f"; did you mean {' or '.join(repr(printable(each)) for each in near)}?" if near else ""
            message = f"the model has no tensor of this name{means}"
        return NotFoundError(code, message, str(text), None, self.path or "")


def _keyed(tensors: Sequence[_core.StoredTensor], names: list[str], entries: Callable[[], list[str]]) -> dict[str, _core.StoredTensor]:
    """Returns the tensors by their keys. Usually all names are different, and each is a key."""
    keyed = dict(zip(names, tensors))
    if len(keyed) == len(names) and "" not in keyed:
        return keyed
    named, other = _named(tensors), {*names, *entries()}

    def key_of(tensor: _core.StoredTensor) -> str:
        if named.get(tensor.name) == [tensor]:
            return tensor.name
        site = tensor.site
        while site in other:  # a name or an entry of another tensor: `~` makes it a site again
            site += "~"
        return site

    return {key_of(tensor): tensor for tensor in tensors}


def _named(tensors: Iterable[_core.StoredTensor]) -> dict[str, list[_core.StoredTensor]]:
    """Returns the tensors that each name selects: of several, the initializers of the main graph."""
    named: dict[str, list[_core.StoredTensor]] = collections.defaultdict(list)
    for tensor in tensors:
        if tensor.name:
            named[tensor.name].append(tensor)
    for name, several in named.items():
        if len(several) > 1:
            named[name] = [each for each in several if each.site.startswith(INITIALIZER)] or several
    return named
