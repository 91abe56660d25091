"""Reads the model package in an archive: the graph of each variant of a component, and what a variant needs.

Reads only the parts of ONNX Runtime's model packages that sessions use.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import re
import warnings
from collections.abc import Iterable
from typing import Any

from onnxar._archive import Archive
from onnxar._errors import Error, printable, usage
from onnxar._paths import is_unicode

MANIFEST = "manifest.json"
COMPONENT = "component.json"
MOST_BYTES = 16 << 20  # of a JSON file
MOST_LISTED = 10  # in a message
KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number", type(None): "null"}


@dataclasses.dataclass(frozen=True)
class Variant:
    """A variant of a component. `body` is its JSON object in the manifest, and `folder` is the folder of the component."""

    name: str
    ep: str
    device: str
    compatibility: str
    body: dict[str, Any]
    folder: str

    def __str__(self) -> str:
        needs = f"{shorten(self.ep)} on {shorten(self.device)}" if self.device else shorten(self.ep)
        return f"{shorten(self.name)} needs {needs or 'no provider that it names'}"


@dataclasses.dataclass(frozen=True)
class Executable:
    """The parts that a session of a variant needs. `graph` is empty for the archive's only model."""

    graph: str
    session_options: dict[str, str]
    provider_options: dict[str, str]


class Package:
    """The manifest of an open archive. Raises usage.argument (the archive has no package, or the manifest is not valid); zip.data.crc.
    Paths are checked when `executable` needs them, so an error in one variant leaves the others."""

    def __init__(self, archive: Archive) -> None:
        self._archive, self._names, self._file = archive, frozenset(archive._handle.names()), MANIFEST
        manifest = self._json(MANIFEST) if MANIFEST in self._names and "genai_config.json" not in self._names else None
        if not isinstance(manifest, dict) or not {"schema_version", "components"} <= manifest.keys():
            raise self._wrong(f"the archive is not a model package, which has a {MANIFEST} with schema_version and components, and no "
                              "genai_config.json; name a graph with `graph`")  # fmt: skip
        version = manifest["schema_version"]
        if not isinstance(version, int | str) or not re.fullmatch(r"0*1(\.[0-9]+)?", str(version)):
            shown = shorten(version) if isinstance(version, str) else json.dumps(version) if isinstance(version, int) else KINDS[type(version)]
            raise self._wrong(f"the package's schema_version is {shown}, and this version of onnxar reads 1")
        self._components = self._field(manifest, "components", dict)
        self._assets = self._field(manifest, "shared_assets", dict, {})

    def variants(self, component: str) -> list[Variant]:
        """Returns the variants of a component in the order of the manifest; without a name, those of the only component."""
        name = component or (next(iter(self._components)) if len(self._components) == 1 else "")
        if name not in self._components:
            what = f"the package has no component {shorten(component)!r}" if component else "pass `component`"
            raise self._wrong(f"{what}: its components are {listed(self._components)}")
        body, folder = self._component(name, self._components[name])
        variants = self._field(body, "variants", dict)
        return [self._variant(each, variants[each], folder) for each in variants]

    def executable(self, variant: Variant) -> Executable:
        """Returns what a session of the variant needs. Raises usage.argument (it has nothing for ONNX Runtime; a path leaves
        the package; its model is not a graph of the archive)."""
        folder = self._path(variant.folder, self._field(variant.body, "variant_directory", str, variant.name))
        infos = self._field(variant.body, "executor_info", dict, {})
        info = infos.get("ort", {})
        if isinstance(info, str):
            info = self._json(self._path(folder, self._text(info)))
        if not isinstance(info, dict) or "model_file" not in info:
            raise self._wrong(f"the variant {shorten(variant.name)!r} has no executor_info.ort.model_file, so ONNX Runtime cannot run it")
        graph = self._graph(self._path(folder, self._field(info, "model_file", str)))
        options = [self._field(info, key, dict, {}) for key in ("session_options", "provider_options")]
        return Executable(graph, *({self._text(key): self._field(each, key, str) for key in each} for each in options))

    def _component(self, name: str, value: Any) -> tuple[dict[str, Any], str]:
        """Returns the body of a component and its folder: inline, or in the JSON file or folder that the manifest names."""
        if isinstance(value, str):
            file = self._path("", self._text(value))
            if file not in self._names:
                file = _joined(file, COMPONENT)
            value, self._file = self._json(file), file
        return self._object(value, f"component {shorten(name)!r}"), os.path.dirname(self._file)

    def _variant(self, name: str, value: Any, folder: str) -> Variant:
        body = self._object(value, f"variant {shorten(name)!r}")
        ep, device, compatibility = (self._field(body, key, str, "") for key in ("ep", "device", "compatibility_string"))
        return Variant(name, ep, device, compatibility, body, folder)

    def _graph(self, name: str) -> str:
        graphs = self._archive.graphs()
        if name in graphs:
            return name
        if not graphs and name.endswith(".onnx"):  # the name of an only model is not in the archive
            return ""
        raise self._wrong(f"the variant's model {shorten(name)!r} is not a graph of the archive, whose graphs are {listed(graphs)}")

    def _path(self, folder: str, path: str) -> str:
        """Returns the name in the archive of a path in a folder. `sha256:` and a digest name the folder of a shared asset."""
        asset, _, rest = path.partition("/")
        if asset.startswith("sha256:"):
            folder = self._path("", self._field(self._assets, asset, str, "shared_assets/" + asset.replace(":", "-")))
            path = rest or "."
        if path.startswith("/") or ".." in path.split("/"):
            raise self._wrong(f"the path {shorten(path)!r} leaves the package")
        return _joined(folder, path)

    def _json(self, name: str) -> Any:
        """Returns the value in a JSON file of the archive. Warns of a key that an object has twice; the last one is used."""
        if name not in self._names:
            raise self._wrong(f"the archive has no file {shorten(name)!r}")
        self._file = name
        if self._archive.entry(name).nbytes > MOST_BYTES:
            raise self._wrong(f"the file has more than {MOST_BYTES >> 20} MiB")
        twice: list[str] = []

        def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            if len(found := dict(pairs)) < len(pairs) and not twice:
                twice.extend(key for key, count in collections.Counter(key for key, _ in pairs).items() if count > 1)
            return found

        data = self._archive._handle.copy(name)
        try:
            value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=object_of, parse_constant=_refuse)
        except ValueError as error:
            raise self._wrong(f"the file is not valid JSON: {error}") from None
        except RecursionError:
            raise self._wrong("the file has too many objects and lists inside each other") from None
        if twice:
            warnings.warn(str(self._wrong(f"an object has the key {shorten(twice[0])!r} twice; the last one is used")), RuntimeWarning, stacklevel=6)
        return value

    def _field(self, body: dict[str, Any], key: str, kind: type, default: Any = None) -> Any:
        """Returns a member of an object. Without a default, the member must exist."""
        if key not in body and default is not None:
            return default
        value = body.get(key)
        if type(value) is not kind:
            what = KINDS[type(value)] if key in body else "missing"
            raise self._wrong(f"{shorten(key)} is {what}; it must be {KINDS[kind]}")
        return self._text(value) if isinstance(value, str) else value

    def _object(self, value: Any, what: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong(f"{what} is {KINDS[type(value)]}; it must be an object")
        return value

    def _text(self, text: str) -> str:
        """Refuses texts that ONNX Runtime cannot represent."""
        if "\0" in text or not is_unicode(text):
            raise self._wrong(f"the text {shorten(text)!r} has a character that is not allowed")
        return text

    def _wrong(self, message: str) -> Error:
        entry = self._file if self._file in self._names else ""
        return usage(message, entry, self._archive.path or "")


def listed(values: Iterable[Any], between: str = ", ") -> str:
    """Returns values for a message, the first of many."""
    values = list(values)
    more = [f"and {len(values) - MOST_LISTED} more"] if len(values) > MOST_LISTED else []
    texts = [shorten(each) if isinstance(each, str) else str(each) for each in values[:MOST_LISTED]]
    return between.join([*texts, *more]) or "none"


def shorten(text: str) -> str:
    """Returns a text of a file, shortened for a message."""
    return printable(text if len(text) <= 60 else f"{text[:57]}...")


def _joined(folder: str, path: str) -> str:
    return "/".join(part for part in f"{folder}/{path}".split("/") if part not in ("", "."))


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number of JSON")
