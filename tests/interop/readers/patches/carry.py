"""Puts the current reader, the modules spec/rfc/onnx_archive*.py and the metadata of js/ into the patches of upstream/ that carry them.

Usage: carry.py  (after a change to these files; tests/interop/onnx/upstream_test.py compares them)
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
UPSTREAM = ROOT / "upstream"
HUB = "packages/hub/src/vendor/onnxar"
METADATA = ("file_view", "graphs", "metadata", "outline", "wire", "zip")
READER = {f"onnxar_reader.{end}": ROOT / f"reader/onnxar_reader.{end}" for end in "ch"}
# Each patch's pattern, and where the files are in the project.
CARRIED = {
    "onnx/0001-*.patch": {f"onnx/{name}": ROOT / f"spec/rfc/onnx_{name}" for name in ("archive.py", "archive_tensors.py")},
    "onnx_checker/0001-*.patch": {f"onnx/common/{name}": path for name, path in READER.items()},
    "huggingface_js/0001-*.patch": {f"{HUB}/LICENSE": ROOT / "LICENSE"} | {f"{HUB}/{name}.ts": ROOT / f"js/src/{name}.ts" for name in METADATA},
    "onnxruntime/0001-*.patch": {f"onnxruntime/core/graph/{name}": path for name, path in READER.items()},
}


def addition(name: str, data: bytes) -> str:
    """A file that is added, as git writes it."""
    lines = data.decode().split("\n")[:-1]
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()[:7]
    head = f"diff --git a/{name} b/{name}\nnew file mode 100644\nindex 0000000..{blob}\n--- /dev/null\n+++ b/{name}\n"
    return head + f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


def with_file(patch: str, name: str, data: bytes) -> str:
    """The patch with these bytes as the added file, and with the file's number of lines in its summary."""
    begin = patch.index(f"diff --git a/{name} b/{name}\n")
    after = re.search(r"(?m)^(?:diff --git |-- $)", patch[begin + 1 :])
    end = len(patch) if after is None else begin + 1 + after.start()
    old, new = patch[begin:end].count("\n+"), data.count(b"\n") + 1  # with the line +++
    head, body = patch[:begin], patch[begin:]
    head = re.sub(rf"( {re.escape(name)} +\| +)\d+", lambda found: f"{found[1]}{new - 1}", head, count=1)
    head = re.sub(r"(\d+) insertions", lambda found: f"{int(found[1]) + new - old} insertions", head, count=1)
    return head + addition(name, data) + body[end - begin :]


def main() -> None:
    for pattern, files in CARRIED.items():
        (path,) = UPSTREAM.glob(pattern)
        text = old = path.read_text()
        for name, source in files.items():
            text = with_file(text, name, source.read_bytes().replace(b"\nfrom onnx_archive", b"\nfrom onnx.archive"))  # as a module of onnx
        if text != old:
            path.write_text(text)
            print(f"changed {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
