"""A server of files over HTTP on the loopback that misbehaves as told, and notes what it is asked for."""

from __future__ import annotations

import hashlib
import http.server
import io
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote

RANGE = re.compile(r"(\d*)-(\d*)$")


@dataclass
class File:
    """A file, and how it is served. Numbers count down with the answers."""

    data: bytes
    etag: str | None = None  # None: one of the data
    modified: str | None = "Mon, 23 Nov 2026 10:00:00 GMT"
    ranges: bool = True
    several: str = "multipart"  # or "first", "whole"
    told: Callable[[int, int], tuple[int, int]] | None = None  # the range that a part of several says it is
    parts: Callable[[bytes], bytes] | None = None  # makes another body of several ranges
    encoding: str | None = None
    fail: int = 0  # so many answers have `status`
    status: int = 503
    retry_after: int | None = None
    cut: int = 0  # so many bodies end in the middle
    shift: int = 0  # other bytes than were asked for
    redirect: str | None = None
    swap: tuple[int, bytes] | None = None  # after so many answers the file is another one
    secret: str | None = None  # the Authorization that is needed
    delay: float = 0
    slow: int = 1 << 30  # so many answers come as `drip` and `stop` say
    drip: tuple[int, float] | None = None  # so many bytes at a time, and the pause after them in seconds
    stop: int | None = None  # so many bytes of an answer come, with those of its head, and then none
    honest: int = 0  # so many answers are right before what follows
    content_range: str | None = None  # sent in place of the right one
    length: str | None = None  # Content-Length, in place of the right one
    endless: bool = False  # bodies come in chunks without end
    raw: tuple[bytes, bytes] | None = None  # sent in place of an answer; the second part without end
    page: bytes = b""  # the body of failures
    more: dict[str, str] = field(default_factory=dict)  # fields of each answer, also of redirects
    signature_lasts: int | None = None  # so many answers; each redirect gives a new one
    answers: int = 0

    def tag(self) -> str:
        return f'"{hashlib.sha1(self.data).hexdigest()}"' if self.etag is None else self.etag


@dataclass
class Request:
    method: str
    path: str
    range: str | None
    headers: dict[str, str] = field(default_factory=dict)


class Slow(io.BufferedIOBase):
    """Writes to a connection as slowly as `drip` and `stop` of the file say."""

    def __init__(self, connection: socket.socket, file: File) -> None:
        self.connection = connection
        self.piece, self.pause = file.drip or (1 << 20, 0)
        self.left = 1 << 62 if file.stop is None else file.stop

    def write(self, data: bytes) -> int:
        for at in range(0, len(data), self.piece):
            part = data[at : at + self.piece][: self.left]
            self.left -= len(part)
            self.connection.sendall(part)
            time.sleep(self.pause)
            if self.left == 0:
                self.connection.recv(1)  # until the client breaks the connection off
                raise ConnectionResetError
        return len(data)


class Server:
    """`files` by path; `requests` in the order in which they came."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self.requests: list[Request] = []
        self.accepts: Callable[[Request], bool] = lambda _: True  # others get status 403
        self.lock = threading.Lock()
        self.signatures: list[int] = []  # how often each was used
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                owner.answer(self)

            do_HEAD = do_GET

            def log_message(self, *_: object) -> None:
                pass

        class Threads(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_: object) -> None:
                pass  # clients break connections off

        self.http = Threads(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def address(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.http.server_address[1]}{path}"

    def serve(self, path: str, data: bytes, **how: object) -> str:
        self.files[path] = File(data, **how)
        return self.address(path)

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()

    # --- answers -----------------------------------------------------------------------------------------------------

    def answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        path = handler.path.split("?")[0]
        with self.lock:
            request = Request(handler.command, handler.path, handler.headers["Range"], dict(handler.headers))
            self.requests.append(request)
            if not self.accepts(request):
                return self.empty(handler, 403)
            file = self.files.get(unquote(path))
            if file is None or self.has_expired(handler.path, file):
                return self.empty(handler, 404 if file is None else 403)
            file.answers += 1
            if file.swap and file.answers > file.swap[0]:
                file.data, file.swap, file.etag = file.swap[1], None, None
            failing = file.fail > 0
            file.fail -= failing
            cut = not failing and file.cut > 0 and file.answers > 1
            file.cut -= cut
            slow = (file.drip or file.stop is not None) and file.answers > file.honest and file.slow > 0
            file.slow -= bool(slow)
        if slow:
            handler.wfile = Slow(handler.connection, file)
        time.sleep(file.delay)
        if file.secret and handler.headers["Authorization"] != file.secret:
            return self.empty(handler, 401)
        if failing:
            later = {} if file.retry_after is None else {"Retry-After": str(file.retry_after)}
            return self.empty(handler, file.status, {**file.more, **later}, file.page)
        if file.redirect is not None:
            return self.empty(handler, 302, {"Location": file.redirect + self.new_signature(file), **file.more})
        if file.raw and file.answers > file.honest:
            handler.wfile.write(file.raw[0])
            while True:  # until the client breaks the connection off
                handler.wfile.write(file.raw[1])
        self.send(handler, file, cut)

    def new_signature(self, file: File) -> str:
        if file.signature_lasts is None:
            return ""
        self.signatures.append(0)
        return f"?signature={len(self.signatures) - 1}"

    def has_expired(self, path: str, file: File) -> bool:
        signature = re.search(r"signature=(\d+)", path)
        if file.signature_lasts is None or file.redirect is not None:
            return False
        if not signature:
            return True
        self.signatures[int(signature[1])] += 1
        return self.signatures[int(signature[1])] > file.signature_lasts

    def empty(
        self,
        handler: http.server.BaseHTTPRequestHandler,
        status: int,
        more: dict[str, str] | None = None,
        page: bytes = b"",
    ) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(page)), **(more or {})}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(page)

    def send(self, handler: http.server.BaseHTTPRequestHandler, file: File, cut: bool) -> None:
        size = len(file.data)
        asked = handler.headers["Range"] if file.ranges else None
        condition = handler.headers["If-Range"]
        if condition and condition not in (file.tag(), file.modified):
            asked = None
        ranges = list(wanted(asked, size)) if asked else []
        headers = {"ETag": file.tag(), "Last-Modified": file.modified, "Content-Encoding": file.encoding, **file.more}
        headers["Accept-Ranges"] = "bytes" if file.ranges else "none"
        if len(ranges) > 1 and file.several == "first":
            ranges = ranges[:1]
        lies = file.answers > file.honest
        if lies and file.length is not None:
            headers["Content-Length"] = file.length
        if lies and file.endless:
            headers |= {"Content-Length": None, "Transfer-Encoding": "chunked"}
        if not ranges or (len(ranges) > 1 and file.several == "whole"):
            return self.body(handler, 200, headers, file.data, cut)
        if len(ranges) == 1:
            first, last = ranges[0]
            told = f"bytes {first + file.shift}-{last + file.shift}/{size}"
            headers["Content-Range"] = file.content_range if lies and file.content_range else told
            return self.body(handler, 206, headers, file.data[first + file.shift : last + file.shift + 1], cut)
        parts = b""
        for first, last in ranges:
            says = file.told(first, last) if file.told else (first, last)
            head = f"\r\n--limit\r\nContent-Type: x/y\r\nContent-Range: bytes {says[0]}-{says[1]}/{size}\r\n\r\n"
            parts += head.encode() + file.data[first : last + 1]
        headers["Content-Type"] = "multipart/byteranges; boundary=limit"
        parts += b"\r\n--limit--\r\n"
        self.body(handler, 206, headers, file.parts(parts) if file.parts else parts, cut)

    def body(
        self,
        handler: http.server.BaseHTTPRequestHandler,
        status: int,
        headers: dict[str, str | None],
        body: bytes,
        cut: bool,
    ) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            if value:
                handler.send_header(name, value)
        handler.end_headers()
        if handler.command == "HEAD":
            return
        while headers.get("Transfer-Encoding"):  # until the client breaks the connection off
            piece = body or b"more"
            handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        handler.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            handler.wfile.flush()
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True


def wanted(asked: str, size: int) -> Iterator[tuple[int, int]]:
    """The first and last byte of each range."""
    for text in asked.removeprefix("bytes=").split(","):
        first, last = RANGE.match(text.strip()).groups()
        if first == "":
            yield max(0, size - int(last)), size - 1
        else:
            yield int(first), min(int(last or size), size - 1)


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    try:
        yield server
    finally:
        server.close()
