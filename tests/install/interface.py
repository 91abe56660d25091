"""Compares what an installed library asks of the programs that link it with the few things that its headers need.

interface.py PREFIX: options of a compiler or linker, which would change the user's own code, are refused
"""

import re
import sys
from pathlib import Path

# Properties of exported targets, and the values that they may have.
ALLOWED = {
    "INTERFACE_INCLUDE_DIRECTORIES": r"\$\{_IMPORT_PREFIX\}/include",
    "INTERFACE_COMPILE_FEATURES": r"cxx_std_20",  # of the C++ headers
    "INTERFACE_COMPILE_DEFINITIONS": r"ONNXAR_SHARED",  # onnxar/version.h
    "INTERFACE_LINK_LIBRARIES": r"[\w:$<>;]+",  # names of targets and libraries
}
# Words of pkg-config files.
WORDS = re.compile(r"-I\$\{includedir\}|-DONNXAR_SHARED|-L\$\{libdir\}|-l\w+|-pthread")


def faults_of_target(name: str, properties: str) -> list[str]:
    found = []
    for key, value in re.findall(r'^ +(INTERFACE_\w+) "(.*)"$', properties, re.MULTILINE):
        value = value.replace("\\$", "$")
        allowed = ALLOWED.get(key)
        if allowed is None or not re.fullmatch(allowed, value):
            found.append(f"{name} imposes {key} {value}")
        elif name == "onnxar::c" and key != "INTERFACE_INCLUDE_DIRECTORIES":
            found.append(f"{name}, whose header is plain C, imposes {key} {value}")
    return found


def faults_of_targets(path: Path) -> list[str]:
    text = path.read_text()
    targets = re.findall(r"^set_target_properties\(([\w:]+) PROPERTIES\n((?: .*\n)*)\)", text, re.MULTILINE)
    if not targets:
        return [f"{path.name} has no target with properties"]
    return [fault for name, properties in targets for fault in faults_of_target(name, properties)]


def faults_of_pc(path: Path) -> list[str]:
    lines = re.findall(r"^(?:Libs|Libs\.private|Cflags|Cflags\.private): *(.*)$", path.read_text(), re.MULTILINE)
    return [f"{path.name} imposes {word}" for line in lines for word in line.split() if not WORDS.fullmatch(word)]


def main(prefix: Path) -> int:
    files, packages = sorted(prefix.rglob("onnxar-*-targets.cmake")), sorted(prefix.rglob("onnxar-*.pc"))
    faults = [fault for path in files for fault in faults_of_targets(path)]
    faults += [fault for path in packages for fault in faults_of_pc(path)]
    names = {name for path in files for name in re.findall(r"^add_library\(onnxar::(\w+) \w+ IMPORTED\)", path.read_text(), re.MULTILINE)}
    described = {path.stem.removeprefix("onnxar-") for path in packages}
    if names - {"onnxar_bundled_zlib"} != described or not described:
        faults.append(f"CMake targets {sorted(names)} and pkg-config files {sorted(described)}")
    print(f"{len(described)} components")
    for fault in faults:
        print("  " + fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
