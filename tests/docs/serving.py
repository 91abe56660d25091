"""Runs the blocks of docs/onnxruntime.md for other languages, with ONNX Runtime as their registries have it: Node and
the web (npm; the web block in headless Chromium), and Java (Maven). Each prints the shape of the model's output.

Usage: ONNXAR=onnxar PYTHONPATH=tests serving.py FOLDER, which keeps the packages
"""

from __future__ import annotations

import functools
import http.server
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

from docs.blocks import ROOT, Block, blocks_of
from docs.running import model

NODE = ["onnxruntime-node@1.30.0", "onnxruntime-web@1.30.0"]
JAVA = "1.29.0"
PAGE = """<!doctype html><script type="importmap">{"imports": {"onnxruntime-web": "/node_modules/onnxruntime-web/dist/ort.bundle.min.mjs"}}
</script><script>console.log = (text) => { document.title = "printed " + text; };
addEventListener("unhandledrejection", (event) => { document.title = "failed " + event.reason; });</script>
<script type="module" src="web.mjs"></script>"""


def run(folder: Path, *command: object) -> str:
    return subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, check=True, timeout=600).stdout


def packages(folder: Path) -> None:
    if not (folder / "node_modules/onnxruntime-web").exists():
        run(folder, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *NODE)
    if not jar(folder).exists():
        artifact = f"-Dartifact=com.microsoft.onnxruntime:onnxruntime:{JAVA}"
        run(folder, "mvn", "-q", f"-Dmaven.repo.local={folder}/maven", "dependency:get", artifact)


def jar(folder: Path) -> Path:
    return folder / f"maven/com/microsoft/onnxruntime/onnxruntime/{JAVA}/onnxruntime-{JAVA}.jar"


def in_node(block: Block, folder: Path) -> str:
    (folder / "node.mjs").write_text(block.text)
    return run(folder, "node", "node.mjs").strip()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def in_browser(block: Block, folder: Path) -> str:
    (folder / "web.mjs").write_text(block.text)
    (folder / "index.html").write_text(PAGE)
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/index.html"
        text = run(folder, "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--timeout=60000",
                   "--virtual-time-budget=60000", "--dump-dom", address)  # fmt: skip
        server.shutdown()
    title = re.search(r"<title>(.*?)</title>", text, re.DOTALL)
    return title[1].removeprefix("printed ") if title else "no title"


def in_java(block: Block, folder: Path) -> str:
    (folder / "Serve.java").write_text(block.text)
    run(folder, "javac", "-cp", jar(folder), "Serve.java")
    return run(folder, "java", "-cp", f"{jar(folder)}:{folder}", "Serve").strip()


def main() -> None:
    folder = Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    packages(folder)
    model(folder)
    run(folder, os.environ["ONNXAR"], "pack", "model.onnx", "-o", "model.onnxar", "-f")
    run(folder, os.environ["ONNXAR"], "link", "model.onnxar", "-o", "linked.onnx", "-f")
    wanted = {"node": "1,16", "web": "1,16", "java": "16"}
    ways = {"node": in_node, "web": in_browser, "java": in_java}
    blocks = [block for block in blocks_of(ROOT / "docs/onnxruntime.md") if block.reason == "run by ./dev serve"]
    found = {name: way(block, folder) for (name, way), block in zip(ways.items(), blocks, strict=True)}
    print(found)
    if found != wanted:
        sys.exit(f"serving.py: {wanted} was wanted")


if __name__ == "__main__":
    main()
