"""What packagers' tools say of wheels, the source distribution and lists of contents. Each function ends the program with their words if something is wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from pins import ROOT


def told(tool: str, *arguments: object) -> str:
    """What a tool of this environment prints. Ends the program if it fails."""
    command = [sys.executable, "-m", tool, *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def judge_sdist(sdist: Path) -> None:
    told("twine", "check", "--strict", sdist)


PLATFORM = re.compile(r"(?P<family>manylinux|musllinux)_(?P<major>\d+)_(?P<minor>\d+)_(?P<processor>\w+)")


def suffices(found: str, promised: str) -> bool:
    """Whether a wheel that runs on the platform `found` runs on the promised one: the same C library and processor, and no newer version."""
    one, other = PLATFORM.fullmatch(found), PLATFORM.fullmatch(promised)
    if not one or not other or (one["family"], one["processor"]) != (other["family"], other["processor"]):
        return False
    return (int(one["major"]), int(one["minor"])) <= (int(other["major"]), int(other["minor"]))


def judge_linkage(wheel: Path, platform: str) -> None:
    """auditwheel has to find the promised platform, or an older one. It calls a wheel that needs a foreign library `linux`."""
    text = " ".join(told("auditwheel", "show", wheel).split())
    found = re.search(r'platform tag: "([^"]+)"', text)
    if not found or not suffices(found[1], platform):
        sys.exit(f"auditwheel does not take {wheel.name} for {platform}: {text}")


MAGIC = {"linux": b"\x7fELF", "win": b"MZ", "macosx": b"\xcf\xfa\xed\xfe"}


def judge_programs(wheel: Path, platform: str) -> None:
    """The module and the command are of the system's format. A linker may fail and yet write a file."""
    (magic,) = (magic for system, magic in MAGIC.items() if system in platform)
    with zipfile.ZipFile(wheel) as opened:
        programs = [name for name in opened.namelist() if "/_core." in name and not name.endswith(".pyi") or "/scripts/" in name]
        if wrong := [name for name in programs if not opened.read(name).startswith(magic)] or len(programs) != 2:
            sys.exit(f"{wheel.name} has not one module and one command for {platform}, but {programs}; of another format: {wrong}")


def judge_licences(wheel: Path) -> None:
    """The licence of this project, and those of all libraries that are linked into it."""
    with zipfile.ZipFile(wheel) as opened:
        inside = {name.rsplit("/", 1)[1] for name in opened.namelist() if "/licenses/" in name}
    wanted = {"LICENSE", *(path.name for path in (ROOT / "cmake/licenses").iterdir())}
    if inside != wanted:
        sys.exit(f"{wheel.name} has the licences {sorted(inside)}, expected {sorted(wanted)}")


def judge_sbom(path: Path) -> None:
    """A list of contents has to be as the schema of its version of CycloneDX says."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    text = path.read_text()
    version = SchemaVersion.from_version(json.loads(text)["specVersion"])
    if error := JsonStrictValidator(version).validate_str(text):
        sys.exit(f"{path.name} is not CycloneDX: {error}")


def judge_wheel(wheel: Path, platform: str) -> None:
    told("twine", "check", "--strict", wheel)
    told("check_wheel_contents", wheel)
    judge_licences(wheel)
    judge_programs(wheel, platform)
    if "linux" in platform:
        judge_linkage(wheel, platform)
    if "-abi3-" in wheel.name:
        told("abi3audit", "--strict", wheel)
    size = re.sub(r"(?<=\d)(?=(\d{3})+$)", " ", str(wheel.stat().st_size))
    print(f"{wheel.name}: {size} bytes", flush=True)
