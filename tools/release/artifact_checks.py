"""Checks wheels, the source distribution and lists of contents with packagers' tools. Exits with the tool's message if
something is wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from pins import ROOT


def output_of(tool: str, *arguments: object) -> str:
    """Returns what a tool of this environment prints. Ends the program if it fails."""
    command = [sys.executable, "-m", tool, *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def check_sdist(sdist: Path) -> None:
    output_of("twine", "check", "--strict", sdist)


PLATFORM = re.compile(r"(?P<family>manylinux|musllinux)_(?P<major>\d+)_(?P<minor>\d+)_(?P<processor>\w+)")


def suffices(found: str, promised: str) -> bool:
    """True if a wheel that runs on the platform `found` runs on the promised one: the same C library and processor, and no newer version."""
    one, other = PLATFORM.fullmatch(found), PLATFORM.fullmatch(promised)
    if not one or not other or (one["family"], one["processor"]) != (other["family"], other["processor"]):
        return False
    return (int(one["major"]), int(one["minor"])) <= (int(other["major"]), int(other["minor"]))


def check_linkage(wheel: Path, platform: str) -> None:
    """Checks that auditwheel finds the promised platform, or an older one. It calls a wheel that needs another library `linux`."""
    text = " ".join(output_of("auditwheel", "show", wheel).split())
    found = re.search(r'platform tag: "([^"]+)"', text)
    if not found or not suffices(found[1], platform):
        sys.exit(f"auditwheel does not accept {wheel.name} for {platform}: {text}")


MAGIC = {"linux": b"\x7fELF", "win": b"MZ", "macosx": b"\xcf\xfa\xed\xfe"}


def check_programs(wheel: Path, platform: str) -> None:
    """Checks that the module and the command have the system's format: a linker may fail and still write a file."""
    (magic,) = (magic for system, magic in MAGIC.items() if system in platform)
    with zipfile.ZipFile(wheel) as opened:
        programs = [name for name in opened.namelist() if "/_core." in name and not name.endswith(".pyi") or "/scripts/" in name]
        if wrong := [name for name in programs if not opened.read(name).startswith(magic)] or len(programs) != 2:
            sys.exit(f"{wheel.name} has not one module and one command for {platform}, but {programs}; of another format: {wrong}")


def check_licences(wheel: Path) -> None:
    """Checks that the wheel has the licence of this project, and those of all libraries that are linked into it."""
    with zipfile.ZipFile(wheel) as opened:
        inside = {name.rsplit("/", 1)[1] for name in opened.namelist() if "/licenses/" in name}
    wanted = {"LICENSE", *(path.name for path in (ROOT / "cmake/licenses").iterdir())}
    if inside != wanted:
        sys.exit(f"{wheel.name} has the licences {sorted(inside)}, expected {sorted(wanted)}")


def check_sbom(path: Path) -> None:
    """Checks that a list of contents follows the schema of its version of CycloneDX."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    text = path.read_text()
    version = SchemaVersion.from_version(json.loads(text)["specVersion"])
    if error := JsonStrictValidator(version).validate_str(text):
        sys.exit(f"{path.name} is not CycloneDX: {error}")


def check_wheel(wheel: Path, platform: str) -> None:
    output_of("twine", "check", "--strict", wheel)
    output_of("check_wheel_contents", wheel)
    check_licences(wheel)
    check_programs(wheel, platform)
    if "linux" in platform:
        check_linkage(wheel, platform)
    if "-abi3-" in wheel.name:
        output_of("abi3audit", "--strict", wheel)
    size = re.sub(r"(?<=\d)(?=(\d{3})+$)", " ", str(wheel.stat().st_size))
    print(f"{wheel.name}: {size} bytes", flush=True)
