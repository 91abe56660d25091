"""Runs the blocks of the documents that need large packages, a registry or servers: those that are marked
`run by tests/docs/recipes.py`, page by page, in a folder with the quick start's model.onnxar.

Usage: ONNXAR=onnxar ONNXAR_PACKAGE_PYTHON=python PYTHONPATH=tests recipes.py, with the programs of the blocks in PATH
"""

from __future__ import annotations

import contextlib
import http.server
import os
import re
import signal
import sys
import tempfile
import threading
from pathlib import Path

from docs.blocks import Block, code, pages
from docs.running import Compiler, Failed, Story, model, run
from support.ports import free_port

MARKER = "run by tests/docs/recipes.py"
PORT = re.compile(r"(127\.0\.0\.1:|--port )(\d{4})\b")
GITHUB = "https://ghcr.io"  # the name of the registry with tokens
OPEN = "5000"  # the port of the registry without


class Tokens(http.server.BaseHTTPRequestHandler):
    """A registry that wants a token, and redirects its readers to the open one, as those of GitHub and Docker do."""

    store = ""

    def do_GET(self) -> None:
        if self.path.startswith("/token?"):
            self.answer(200, b'{"token": "mine"}')
        elif self.headers["Authorization"] == "Bearer mine":
            self.answer(307, b"", Location=self.store + self.path)
        else:
            self.answer(401, b"")

    do_HEAD = do_GET

    def answer(self, status: int, text: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(text)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


def play(page: Path, blocks: list[Block], folder: Path) -> None:
    ports: dict[str, int] = {}  # those of the page, and free ones in their place
    story = Story(folder, Path(os.environ["ONNXAR"]), Path(os.environ["ONNXAR_PACKAGE_PYTHON"]), Compiler(folder))
    model(folder)
    run(["onnxar", "pack", "model.onnx"], folder, story.environment)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tokens) as tokens:
        threading.Thread(target=tokens.serve_forever, daemon=True).start()
        try:
            for block in blocks:
                text = PORT.sub(lambda found: found[1] + str(ports.setdefault(found[2], free_port())), block.text)
                Tokens.store = f"http://127.0.0.1:{ports.get(OPEN, 0)}"
                story.run(block._replace(text=text.replace(GITHUB, f"http://127.0.0.1:{tokens.server_port}")))
                print(block.place, "passed", flush=True)
            story.end()
        except Failed as failed:
            sys.exit(f"{block.place}: {failed}")
        finally:
            tokens.shutdown()
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, ValueError):  # the page ends it, unless a block fails
                os.kill(int((folder / "registry.pid").read_text()), signal.SIGTERM)


def main() -> None:
    for page in pages():
        blocks = [block for block in code(page) if block.reason == MARKER]
        if blocks:
            with tempfile.TemporaryDirectory() as folder:
                os.environ.update(HOME=folder, DVC_SITE_CACHE_DIR=f"{folder}/.dvc-cache", DVC_NO_ANALYTICS="1",
                                  BENTOML_DO_NOT_TRACK="True", MLFLOW_DISABLE_TELEMETRY="true")  # fmt: skip
                play(page, blocks, Path(folder))


if __name__ == "__main__":
    main()
