"""Writes a CycloneDX list of what a published file contains, with licences and checksums."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import uuid
from pathlib import Path
from typing import Any

from pins import BUNDLED, pins, sha256
from sdist import commit_time
from versions import library_version

Component = dict[str, Any]

# Parts of zig, which is the compiler: (name, version, licence). `zig_parts` selects those that a system uses.
LIBCXX = ("libc++", "20.1.0", "Apache-2.0 WITH LLVM-exception")
MUSL = ("musl", "1.2.5", "MIT")
MINGW = ("mingw-w64", "13.0", "ZPL-2.1")


def licensed(licence: str) -> list[dict[str, Any]]:
    return [{"expression": licence}] if " " in licence else [{"license": {"id": licence}}]


def library(name: str, version: str, licence: str, purl: str) -> Component:
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "licenses": licensed(licence), "purl": purl}


def bundled() -> list[Component]:
    found = []
    for pin in pins(BUNDLED):
        component = library(pin.name, pin.version, pin.licence, f"pkg:generic/{pin.name}@{pin.version}")
        component["externalReferences"] = [{"type": "distribution", "url": pin.address, "hashes": [{"alg": "SHA-256", "content": pin.sha256}]}]
        found.append(component)
    return found


def zig_parts(name: str) -> list[Component]:
    """Returns the parts of zig in a published file, by its name. A wheel for musl contains a static program."""
    parts = [LIBCXX]
    if name.endswith(".exe") or "-win_" in name:
        parts.append(MINGW)
    elif name.endswith("-static") or "-musllinux_" in name:
        parts.append(MUSL)
    return [library(*part, f"pkg:generic/{part[0].replace('+', '%2B')}@{part[1]}") for part in parts]


def nanobind() -> list[Component]:
    version = importlib.metadata.version("nanobind")
    return [library("nanobind", version, "BSD-3-Clause", f"pkg:pypi/nanobind@{version}"),
            library("robin-map", "1.4.0", "MIT", "pkg:generic/robin-map@1.4.0")]  # fmt: skip


def parts_of(name: str) -> list[Component]:
    """Returns what a published file contains besides this project's code."""
    if name.endswith(("-reader.tar.gz", "-source.tar.gz", "-recipes.tar.gz")):
        return []
    if name.endswith("-libraries.tar.gz"):
        return [part for part in bundled() if part["name"] == "zlib"]
    if name.endswith(".tar.gz"):
        return bundled()
    return [*bundled(), *zig_parts(name), *(nanobind() if name.endswith(".whl") else [])]


def sbom(file: Path, kind: str) -> dict[str, Any]:
    """Returns the list as text, always the same for the same file. `kind` is CycloneDX's word for the file: application or library."""
    version, sum_ = library_version(), sha256(file)
    purl = f"pkg:generic/onnxar@{version}?file_name={file.name}"
    parts = parts_of(file.name)
    main = library("onnxar", version, "Apache-2.0", purl) | {"type": kind, "hashes": [{"alg": "SHA-256", "content": sum_}]}
    time = datetime.datetime.fromtimestamp(int(commit_time()), datetime.UTC)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, purl + sum_)}",
        "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": main},
        "components": parts,
        "dependencies": [{"ref": purl, "dependsOn": [part["bom-ref"] for part in parts]}, *({"ref": part["bom-ref"]} for part in parts)],
    }


def write_sbom(file: Path, kind: str) -> Path:
    path = file.with_name(file.name + ".cdx.json")
    path.write_text(json.dumps(sbom(file, kind), indent=2) + "\n")
    return path
