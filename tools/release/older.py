"""Turns a wheel into one of an older version with one more file, to test that an upgrade removes the file."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

VERSION = "0.0.1"
RELIC = "relic.py"  # a module of the older version that the newer one does not have


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def renamed(name: str, version: str) -> str:
    return name.replace(f"onnxar-{version}.d", f"onnxar-{VERSION}.d", 1)


def changed(name: str, data: bytes, version: str) -> bytes:
    if name.endswith(".dist-info/METADATA"):
        return data.replace(f"\nVersion: {version}\n".encode(), f"\nVersion: {VERSION}\n".encode(), 1)
    if name == "onnxar/__init__.py":
        return data + f'\n__version__ = "{VERSION}"\n'.encode()
    return data


def make(wheel: Path, folder: Path) -> Path:
    version = wheel.name.split("-")[1]
    out = folder / wheel.name.replace(f"-{version}-", f"-{VERSION}-", 1)
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        record = []
        for entry in old.infolist():
            if entry.is_dir() or entry.filename.endswith("/RECORD"):
                continue
            data = changed(entry.filename, old.read(entry), version)
            name = renamed(entry.filename, version)
            new.writestr(_like(entry, name), data)
            record.append(f"{name},sha256={digest(data)},{len(data)}")
        relic = b"# of an older version\n"
        new.writestr(f"onnxar/{RELIC}", relic)
        record.append(f"onnxar/{RELIC},sha256={digest(relic)},{len(relic)}")
        name = f"onnxar-{VERSION}.dist-info/RECORD"
        new.writestr(name, "\n".join([*record, f"{name},,", ""]))
    return out


def _like(entry: zipfile.ZipInfo, name: str) -> zipfile.ZipInfo:
    """Returns the entry under a new name with its mode: the command must stay executable."""
    info = zipfile.ZipInfo(name, entry.date_time)
    info.external_attr = entry.external_attr
    return info
