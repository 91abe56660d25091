"""The headers of the Pythons that wheels are for, and import libraries for Windows, from Python's own sources.

Linux and macOS share one pyconfig.h: it is written by Python's configure here, and what Python's public headers ask of it is the same
on all 64-bit systems of the two.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from pins import PYTHONS, WORK, fetched, pins

API = re.compile(r"\bPyAPI_(?P<kind>FUNC|DATA)\s*\([^)]*\)\s*\*?\s*(?P<name>\w+)")
STABLE = re.compile(r"^EXPORT_(?P<kind>FUNC|DATA)\((?P<name>\w+)\)", re.MULTILINE)


class Python:
    """The sources of one version, such as "3.11"."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.work = WORK / f"python/{version}"

    @property
    def source(self) -> Path:
        (folder,) = self.work.glob("Python-*")
        return folder

    def unpack(self) -> None:
        if list(self.work.glob("Python-*")):
            return
        self.work.mkdir(parents=True, exist_ok=True)
        (pin,) = (pin for pin in pins(PYTHONS) if pin.name == f"python{self.version}")
        subprocess.run(["tar", "-xf", fetched(pin), "-C", self.work], check=True)

    def posix_headers(self) -> list[Path]:
        self.unpack()
        folder = self.work / "posix"
        if not (folder / "pyconfig.h").exists():
            folder.mkdir(exist_ok=True)
            command = [self.source / "configure", "-q", "--without-ensurepip", "CC=gcc", "CXX=g++"]
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return [folder, self.source / "Include"]

    def windows_headers(self) -> list[Path]:
        self.unpack()
        folder = self.work / "windows"
        folder.mkdir(exist_ok=True)
        (config,) = (self.source / "PC").glob("pyconfig.h*")
        (folder / "pyconfig.h").write_text(config.read_text())
        return [folder, self.source / "Include"]

    def exported(self, stable: bool) -> list[str]:
        """Lines of a .def file: what python3.dll exports, or what the headers declare of pythonXY.dll."""
        texts = [(self.source / "PC/python3dll.c").read_text()] if stable else [
            header.read_text() for header in sorted((self.source / "Include").rglob("*.h"))]  # fmt: skip
        found = {(match["name"], match["kind"]) for text in texts for match in (STABLE if stable else API).finditer(text)}
        return sorted(f"  {name}{' DATA' if kind == 'DATA' else ''}" for name, kind in found)

    def import_library(self, zig: Path, stable: bool) -> Path:
        name = "python3" if stable else "python" + self.version.replace(".", "")
        definition, library = self.work / f"windows/{name}.def", self.work / f"windows/lib{name}.a"
        definition.write_text("\n".join([f"LIBRARY {name}.dll", "EXPORTS", *self.exported(stable), ""]))
        subprocess.run([zig, "dlltool", "-m", "i386:x86-64", "-d", definition, "-l", library], check=True)
        return library
