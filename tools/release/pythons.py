"""Provides the headers of the Pythons for which wheels are made, and import libraries for Windows, from Python's own sources.

Linux and macOS share the pyconfig.h of the Python that runs this: Python's public headers use only the sizes of types in it, which are the same on all 64-bit
systems of the two, and in all versions.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

from pins import PYTHONS, WORK, fetched, pins

API = re.compile(r"\bPyAPI_(?P<kind>FUNC|DATA)\s*\([^)]*\)\s*\*?\s*(?P<name>_?Py\w+)")
STABLE = re.compile(r"^EXPORT_(?P<kind>FUNC|DATA)\((?P<name>\w+)\)", re.MULTILINE)


def own_config() -> Path:
    """Returns the pyconfig.h of this Python. Debian's Python has a second one, with the values for each architecture."""
    config = Path(sysconfig.get_config_h_filename())
    second = Path("/usr/include") / str(sysconfig.get_config_var("MULTIARCH")) / config.parent.name / config.name
    return second if second.exists() else config


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
        folder.mkdir(exist_ok=True)
        shutil.copy(own_config(), folder / "pyconfig.h")
        return [folder, self.source / "Include"]

    def windows_headers(self) -> list[Path]:
        self.unpack()
        folder = self.work / "windows"
        folder.mkdir(exist_ok=True)
        (config,) = (self.source / "PC").glob("pyconfig.h*")
        (folder / "pyconfig.h").write_text(config.read_text())
        return [folder, self.source / "Include"]

    def exported(self, stable: bool) -> list[str]:
        """Returns lines of a .def file: the exports of python3.dll, or what the headers declare for pythonXY.dll."""
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
