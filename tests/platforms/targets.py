"""The platforms that `./dev platforms` builds for, and what it runs on them."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/platforms"

# Folders of tests whose GoogleTest programs run, in the order of the rooms. MODEL_ROOMS need protobuf and share a program.
ROOMS = ("os", "base", "zip", "onnx", "archive", "convert", "runtime", "conformance")
MODEL_ROOMS = ("model", "inspect")

CLANG = ("-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_C_COMPILER=clang-19")
STATIC = ("-DONNXAR_BUILD_C=OFF",)  # a static program loads no shared library


def program_of(room: str) -> str:
    return "model_test" if room in MODEL_ROOMS else f"{room}_test"


QEMU = "qemu-user 7.2"
WINE = "Wine 8"


@dataclasses.dataclass(frozen=True)
class Platform:
    """One row of the table. Names of cross builds are those of their files in cmake/toolchains/."""

    name: str
    system: str
    compiler: str
    run_by: str | None = "this machine"
    options: tuple[str, ...] = ()
    # Targets of a platform whose programs cannot be run here; the others build what they run.
    only_built: tuple[str, ...] = ()
    why_not_run: str = ""
    # Only where Debian has it for the processor, and where the byte order may matter to what uses it.
    protobuf: bool = False

    @property
    def toolchain(self) -> Path | None:
        file = ROOT / f"cmake/toolchains/{self.name}.cmake"
        return file if file.exists() else None

    @property
    def by_zig(self) -> bool:
        return self.compiler.startswith("zig")

    @property
    def folder(self) -> Path:
        return BUILD / self.name

    @property
    def build_folder(self) -> Path:
        return self.folder / ("build_model" if self.protobuf else "build")

    @property
    def rooms(self) -> tuple[str, ...]:
        return (*ROOMS, *MODEL_ROOMS) if self.protobuf else ROOMS

    @property
    def lists(self) -> tuple[str, ...]:
        """The files in skipped/, without their ending, that hold for this platform."""
        if self.run_by is None:
            return ()
        kinds = {QEMU: ("emulated", "qemu"), WINE: ("emulated",)}
        processor = () if "x86_64" in self.name else ("aarch64",) if "aarch64" in self.name else ("other_processors",)
        library = ("musl",) if "musl" in self.name else ()
        return (*kinds.get(self.run_by, ()), *processor, *library, self.name)

    @property
    def has_c(self) -> bool:
        return "-DONNXAR_BUILD_C=OFF" not in self.options

    @property
    def c_programs(self) -> tuple[str, ...]:
        """The second one is compiled with the first header of this ABI, which was never on Windows."""
        if not self.has_c:
            return ()
        return ("onnxar_c_program",) if self.is_windows else ("onnxar_c_program", "onnxar_c_v1_program")

    @property
    def is_windows(self) -> bool:
        return self.name.startswith("windows")

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of folders with sources of this system."""
        return ("windows",) if self.is_windows else ("posix", "darwin" if self.name.startswith("macos") else "linux")


LINKED = ("onnxar", "onnxar_c", "runtime_map", "write_and_read")  # the command, the C library, an example of each interface
NO_MAC = "macOS runs only on Apple's machines, and there is no emulator of it."
OTHER_BUILD = "`windows-x86_64` runs the same sources, with the compiler that Debian has."

PLATFORMS = (
    Platform("linux-x86_64-gcc", "Linux x86-64", "GCC 12, libstdc++",
             options=("-DCMAKE_CXX_COMPILER=g++-12", "-DCMAKE_C_COMPILER=gcc-12")),
    Platform("linux-x86_64-clang", "Linux x86-64", "Clang 19, libstdc++", options=CLANG),
    Platform("linux-x86_64-libcxx", "Linux x86-64", "Clang 19, libc++"),
    Platform("linux-i386", "Linux, 32 bits", "GCC 12, -m32"),
    Platform("linux-musl-x86_64", "Linux x86-64, static with musl", "zig 0.15, libc++", options=STATIC),
    Platform("linux-aarch64", "Linux aarch64", "GCC 12", QEMU),
    Platform("linux-musl-aarch64", "Linux aarch64, static with musl", "zig 0.15, libc++", QEMU, options=STATIC),
    Platform("linux-riscv64", "Linux riscv64", "GCC 12", QEMU),
    Platform("linux-s390x", "Linux s390x, big-endian", "GCC 12, with protobuf", QEMU, protobuf=True),
    Platform("windows-x86_64", "Windows x86-64", "GCC 12, mingw-w64", WINE),
    Platform("windows-zig-x86_64", "Windows x86-64", "zig 0.15, libc++", None, only_built=LINKED, why_not_run=OTHER_BUILD),
    Platform("macos-arm64", "macOS arm64", "zig 0.15, libc++", None, only_built=LINKED, why_not_run=NO_MAC),
    Platform("macos-x86_64", "macOS x86-64", "zig 0.15, libc++", None, only_built=LINKED, why_not_run=NO_MAC),
)

# Named on the page because users ask for them.
NOT_BUILT = (("MSVC, for Windows", "There is no MSVC on Linux. The sources were searched for what MSVC refuses, and parsed by clang without the macros of GCC: attributes and pragmas have guards, and no builtin is needed."),)


def jobs() -> int:
    return int(os.environ.get("ONNXAR_JOBS") or os.cpu_count() or 1)
