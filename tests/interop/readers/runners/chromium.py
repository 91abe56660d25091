"""onnxruntime-web in headless Chromium: python -m runners.chromium NODE_MODULES JOBS."""

from __future__ import annotations

import http.server
import json
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
TYPES = {".mjs": "text/javascript", ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html"}
PAGE = b"""<!doctype html><script type="importmap">
{"imports": {"onnxruntime-web": "/node_modules/onnxruntime-web/dist/ort.bundle.min.mjs",
 "onnxar/onnxruntime": "/node_modules/onnxar/dist/onnxruntime.js"}}</script>
<script type="module" src="/page.mjs"></script>"""


def job(line: str) -> dict[str, object]:
    model, given, output = line.split("\t")
    beside = [each for each in Path(model).parent.iterdir() if each.is_file() and each.suffix not in (".onnx", ".txt", ".json")]
    data = [each for each in beside if each.name == "model.onnxar"] if model.endswith("linked.onnx") else beside
    return {"model": model, "data": list(map(str, data)), "input": given, "output": output}


class Handler(http.server.BaseHTTPRequestHandler):
    modules: Path
    jobs: list[dict[str, object]]
    done: threading.Event

    def log_message(self, *_: object) -> None:
        pass

    def answer(self, body: bytes, kind: str = "application/octet-stream", status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_file(self, file: Path) -> None:
        """Whole, or the range that is asked for; files may be larger than memory should hold."""
        size, asked = file.stat().st_size, re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers["Range"] or "")
        begin, end = 0, size
        if asked:
            first, last = asked.groups()
            begin, end = (int(first), min(size, int(last) + 1)) if first else (max(0, size - int(last)), size)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Type", TYPES.get(file.suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(end - begin))
        if asked:
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{size}")
        self.end_headers()
        with file.open("rb") as opened:
            opened.seek(begin)
            while begin < end and (piece := opened.read(min(end - begin, 1 << 20))):
                self.wfile.write(piece)
                begin += len(piece)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/":
            return self.answer(PAGE, "text/html")
        if path == "/jobs":
            return self.answer(json.dumps(self.jobs).encode(), "application/json")
        if path.startswith("/node_modules/"):
            file = self.modules.parent / path[1:]
        elif path.startswith("/file/"):
            file = Path(path.removeprefix("/file"))
        else:
            file = HERE / "node" / path[1:]
        if not file.is_file():
            return self.answer(b"", status=404)
        return self.answer_file(file)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if self.path == "/done":
            self.done.set()
        else:
            output = self.path.removeprefix("/result")
            if output.removesuffix(".refused") in [each["output"] for each in self.jobs]:
                Path(output).write_bytes(body)
        self.answer(b"")


def main() -> None:
    Handler.modules, jobs = Path(sys.argv[1]), Path(sys.argv[2])
    Handler.jobs = [job(line) for line in jobs.read_text().splitlines()]
    Handler.done = threading.Event()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, tempfile.TemporaryDirectory() as profile:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--remote-debugging-port=0",
             f"http://127.0.0.1:{server.server_port}/"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        done = Handler.done.wait(timeout=600)
        browser.terminate()
        browser.wait()
        server.shutdown()
    sys.exit(0 if done else "the page does not end in 600 seconds")


if __name__ == "__main__":
    main()
