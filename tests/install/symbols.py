"""Reports symbols of ours that a shared object exports and should not export.

symbols.py plugin OBJECT          a plugin that links the static library: plugin_main only
symbols.py library OBJECT HEADERS a shared library: of namespace onnxar, only names that the public headers declare
"""

import re
import subprocess
import sys
from pathlib import Path


def exported(path: str) -> list[str]:
    """The demangled names that `path` exports."""
    command = ["nm", "--dynamic", "--defined-only", "--demangle", "--format=posix", path]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [re.sub(r"@.*", "", re.sub(r" [A-Za-z] [0-9a-f]*( [0-9a-f]+)?$", "", line)) for line in lines]


def of_ours(names: list[str]) -> list[str]:
    return [name for name in names if "onnxar" in name]


def undeclared(names: list[str], headers: Path) -> list[str]:
    """Names that the public headers do not declare, by their first part inside the namespace.

    Two kinds do not count: instances of the standard library's templates for our enumerations, which have no visibility
    that could hide them, and what protoc generates for each file."""
    words = set(re.findall(r"\w+", "\n".join(path.read_text() for path in headers.rglob("*.h"))))
    found = []
    for name in of_ours(names):
        if name.startswith("std::") or "onnxar_2fonnx_2eproto" in name:
            continue
        inside = re.search(r"\bonnxar::(\w+)(?:::(\w+))?", name)
        if inside is None:
            found.append(name)
            continue
        room = inside[1] in ("os", "base", "zip", "wire", "onnx", "c") and inside[2] is not None
        if room or inside[1] not in words:
            found.append(name)
    return found


def main(kind: str, path: str, *headers: str) -> int:
    names = exported(path)
    if kind == "plugin":
        wrong = of_ours(names)
        if "plugin_main" not in names:
            wrong.append("plugin_main is not exported")
    else:
        wrong = undeclared(names, Path(headers[0]))
        if not of_ours(names):
            wrong.append("nothing is exported")
    print(f"{path}: {len(names)} symbols, {len(of_ours(names))} of ours, {len(wrong)} wrong")
    for name in wrong:
        print("  " + name)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
