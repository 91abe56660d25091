"""A server of one file over HTTP on the loopback that is slow as told: for tests of time limits."""

from __future__ import annotations

import http.server
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class SlowServer:
    """Answers are right in what they say. `honest` counts down answers that are as fast as they can; after these, the head comes
    after `delay` seconds, and `piece` bytes of the body each `pause` seconds, up to `most` bytes, after which nothing more
    comes. A slow head comes a byte each `head_pause`. `slow` counts down answers that are slow; None: all are."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.honest = 0
        self.slow: int | None = None
        self.delay = 0.0
        self.head_pause = 0.0
        self.piece, self.pause, self.most = 1 << 20, 0.0, 1 << 62
        self.requests: list[str] = []
        self.closed = threading.Event()
        self.lock = threading.Lock()
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                owner.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        class Threads(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass  # clients break connections off

        self.http = Threads(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/m.onnxar"

    def is_slow_now(self) -> bool:
        with self.lock:
            if self.honest > 0 or self.slow == 0:
                self.honest = max(0, self.honest - 1)
                return False
            if self.slow is not None:
                self.slow -= 1
            return True

    def answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        self.requests.append(handler.headers["Range"])
        size = len(self.data)
        first, last = re.match(r"bytes=(\d*)-(\d*)", handler.headers["Range"] or "bytes=0-").groups()
        begin, end = (max(0, size - int(last)), size) if first == "" else (int(first), int(last or size - 1) + 1)
        head = (
            f"HTTP/1.1 206 Part\r\nETag: \"a\"\r\nContent-Length: {end - begin}\r\nContent-Range: bytes {begin}-{end - 1}/{size}\r\n\r\n"
        ).encode()
        body = self.data[begin:end]
        if not self.is_slow_now():
            handler.wfile.write(head + body)
            return
        self.closed.wait(self.delay)
        if self.head_pause:
            self.drip(handler, head, 1, self.head_pause)
        else:
            handler.wfile.write(head)
        self.drip(handler, body[: self.most], self.piece, self.pause)
        if self.most < len(body):
            self.closed.wait(60)

    def drip(self, handler: http.server.BaseHTTPRequestHandler, data: bytes, piece: int, pause: float) -> None:
        begin = time.monotonic()
        for count, at in enumerate(range(0, len(data), piece), 1):
            handler.wfile.write(data[at : at + piece])
            self.closed.wait(max(0.0, begin + count * pause - time.monotonic()))

    def close(self) -> None:
        self.closed.set()
        self.http.shutdown()
        self.http.server_close()


@contextmanager
def slow_server(data: bytes) -> Iterator[SlowServer]:
    server = SlowServer(data)
    try:
        yield server
    finally:
        server.close()
