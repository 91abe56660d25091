#!/usr/bin/env python3
"""Measures the memory of sessions in Chromium and Node, and writes it to bench/RESULTS.md.

Usage: ONNXAR=path/to/onnxar memory.py NODE COPY, the copy of js/ that web.py built
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from measure import described_machine, verdict
from report import Section, write

WEIGHTS_MB = 512
ROOM = 64 << 20


def make_files(folder: Path) -> Path:
    """An archive, the same model with one file of data, and the sizes of the archive's entries."""
    files = folder / "memory"
    files.mkdir(exist_ok=True)
    model, archive = files / "model.onnx", files / "memory.onnxar"
    if not (files / "sizes.json").exists():
        script = ROOT / "examples" / "make_transformer.py"
        subprocess.run(["/usr/bin/python3", script, model, "--megabytes", str(WEIGHTS_MB)], check=True)
        tool = os.environ["ONNXAR"]
        subprocess.run([tool, "pack", model, "-o", archive, "--force"], check=True)
        subprocess.run([tool, "unpack", archive, "-o", files / "memory.onnx", "--external-data", "memory.bin", "--force"], check=True)
        with zipfile.ZipFile(archive) as made:
            (files / "sizes.json").write_text(json.dumps([each.file_size for each in made.infolist()]))
        model.unlink()
    return files


def measured(node: Path, folder: Path) -> Section:
    intro = (
        f"A transformer with {WEIGHTS_MB} MB of weights, from nginx on the same machine in Chromium (headless), from files in Node. "
        "Peak: by how much the resident memory of the process grew at most: of a page, from before the runtime is loaded, and of "
        "Node, from after that, until the model ran once. WebAssembly's memory holds the weights, and those that the runtime packed "
        "again. External data is one file beside the model, as the runtimes take it. onnxruntime 1.30; `./dev web --memory`"
    )
    section = Section("Sessions in the browser and in Node", intro, ("where", "runtime", "form", "seconds", "peak MB", "WebAssembly MB", "bar"))
    files = make_files(folder)
    largest = max(json.loads((files / "sizes.json").read_text()))
    script = [node, folder / "tools" / "memory.mjs", files]
    with subprocess.Popen(script, cwd=folder, stdout=subprocess.PIPE, text=True) as made:
        assert made.stdout is not None
        for line in made.stdout:
            said = json.loads(line)
            most = said["heap"] + largest + ROOM
            has_bar = said["form"] != "external data" and said["heap"] > 0
            bar = verdict("WebAssembly + largest tensor + 64 MiB", said["peak"] <= most) if has_bar else ""
            numbers = [f"{said['seconds']:.1f}", f"{said['peak'] / 1e6:.0f}", f"{said['heap'] / 1e6:.0f}" if said["heap"] else ""]
            section.row(said["where"], said["runtime"], said["form"], *numbers, bar)
    if made.returncode:
        sys.exit("memory.mjs failed")
    return section


def main() -> None:
    node, folder = Path(sys.argv[1]), Path(sys.argv[2])
    write(ROOT / "bench" / "RESULTS.md", [measured(node, folder)], described_machine(folder))


if __name__ == "__main__":
    main()
