"""Files at addresses of HTTP and HTTPS. The session is that of fsspec's file system; the requests are our own, because each
answer says which version and which bytes it has, and fsspec drops that."""

from __future__ import annotations

import asyncio
import dataclasses
import random
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from onnxar._errors import Error, fault, make_error

Result = TypeVar("Result")

END = 256 << 10  # bytes at the end of a file that are read when it is opened
CONNECTIONS = 8
RETRIES = 5
PAUSE = 0.25  # seconds before the first retry; doubles each time
LONGEST_PAUSE = 60  # seconds; a server that asks for more is as good as gone
TIMEOUT = 30.0  # seconds without an answer, or with less than LEAST_SPEED, after which a request has failed
LEAST_SPEED = 1024  # bytes a second
MOST_STALLS = 1  # requests that are sent again because they were too slow; each takes long
PASSING = {408, 425, 429, 500, 502, 503, 504}
PIECE_OF_BODY = 1 << 20

CONTENT_RANGE = re.compile(r"bytes (\d{1,20})-(\d{1,20})/(\d{1,20})")


@dataclasses.dataclass(frozen=True)
class Answer:
    """What the head of an answer with bytes says, and these bytes."""

    size: int  # of the whole file
    etag: str
    modified: str
    data: bytearray

    def agrees(self, etag: str, modified: str, size: int) -> bool:
        """Whether this may be of the same version: nothing that both tell differs."""
        if self.size != size:
            return False
        if self.etag and etag:
            return self.etag == etag
        return not (self.modified and modified) or self.modified == modified


class Passing(Exception):
    """A failure that another try may not have."""

    def __init__(self, what: str, pause: float = 0) -> None:
        super().__init__(what)
        self.pause = pause


class Patience:
    """Waits for parts of an answer, until less than LEAST_SPEED came for `seconds`; 0: without end. The time begins anew
    whenever the bytes since its begin reach that speed."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begin = time.monotonic()
        self._bytes = 0

    def _left(self) -> float:
        return self._begin + self._seconds - time.monotonic()

    async def wait(self, part: Awaitable[Result]) -> Result:
        """Errors: asyncio.TimeoutError."""
        # What came while this process was busy or stopped is there at once.
        return await asyncio.wait_for(part, None if self._seconds == 0 else max(self._left(), 0.05))

    def note(self, count: int) -> None:
        """Notes that so many bytes came. Errors: asyncio.TimeoutError."""
        self._bytes += count
        if self._bytes >= LEAST_SPEED * (time.monotonic() - self._begin):
            self._begin, self._bytes = time.monotonic(), 0
        elif self._seconds != 0 and self._left() <= 0:
            raise asyncio.TimeoutError


class HttpFile:
    """A file on a server that sends ranges. Every answer is compared with the first one, by ETag, else by Last-Modified, and
    by size. `version` is None if the server tells neither: then only one answer is of one version."""

    def __init__(self, system: Any, url: str, name: str, timeout: float = TIMEOUT) -> None:
        self.name = name
        self._system = system
        self._timeout = timeout
        self._url = system.encode_url(url)
        first: Answer = self._run(self._opened)
        self.size, self._etag, self._modified = first.size, first.etag, first.modified
        self.end: Any = first.data
        """The last bytes, which the request that opened the file has brought."""
        self.version = (self.size, self._etag, self._modified) if self._etag or self._modified else None

    def fetch(self, ranges: list[tuple[int, int]]) -> list[Any]:
        found: list[Any] = self._run(lambda: self._all(ranges))
        return found

    def whole(self) -> bytes:
        """Returns all bytes, by one request."""
        if len(self.end) == self.size:
            return bytes(self.end)
        return bytes(self._run(lambda: self._retried({}, self._whole_of)).data)

    def _run(self, made: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        from fsspec.asyn import sync

        return sync(self._system.loop, made)

    def _fault(self, code: str, message: str) -> Error:
        return fault(code, message, path=self.name)

    # --- requests ---

    async def _opened(self) -> Answer:
        return await self._retried({"Range": f"bytes=-{END}"}, self._end_of)

    async def _all(self, ranges: list[tuple[int, int]]) -> list[Any]:
        free = asyncio.Semaphore(CONNECTIONS)
        tasks = [asyncio.ensure_future(self._one(each, free)) for each in ranges]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()

    async def _one(self, wanted: tuple[int, int], free: asyncio.Semaphore) -> Any:
        start, stop = wanted
        headers = {"Range": f"bytes={start}-{stop - 1}"}
        if condition := self._modified if not self._etag else "" if self._etag.startswith("W/") else self._etag:
            headers["If-Range"] = condition
        async with free:
            return (await self._retried(headers, lambda response: self._range_of(response, start, stop))).data

    async def _retried(self, headers: Mapping[str, str], read: Callable[[Any], Coroutine[Any, Any, Answer]]) -> Answer:
        import aiohttp

        astray = (aiohttp.TooManyRedirects, getattr(aiohttp, "RedirectClientError", aiohttp.InvalidURL))  # the latter is new in 3.10
        pause, stalls = PAUSE, 0
        for tries in range(RETRIES + 1):
            try:
                return await self._asked(headers, read)
            except astray as error:
                raise self._fault("remote.answer", f"the server redirects without end, or to what is not an address of HTTP: {_reason(error)}") from error
            except (Passing, aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, asyncio.TimeoutError) as error:
                is_slow = isinstance(error, asyncio.TimeoutError)  # by our limit, or by one that the caller gave to fsspec
                stalls += is_slow
                if stalls > MOST_STALLS or tries == RETRIES:
                    raise (self._too_slow() if is_slow else self._unreachable(error)) from error
                await asyncio.sleep(max(pause * random.uniform(0.5, 1), getattr(error, "pause", 0)))
                pause *= 2
        raise AssertionError

    async def _asked(self, headers: Mapping[str, str], read: Callable[[Any], Coroutine[Any, Any, Answer]]) -> Answer:
        import aiohttp

        session, given = await self._system.set_session(), dict(self._system.kwargs)
        if "timeout" not in self._system.client_kwargs:
            given.setdefault("timeout", aiohttp.ClientTimeout(total=None))
        given["headers"] = {**given.get("headers", {}), **headers, "Accept-Encoding": "identity"}
        async with await Patience(self._timeout).wait(session.get(self._url, **given)) as response:
            if self._url.scheme == "https" and any(each.url.scheme != "https" for each in (*response.history, response)):
                raise self._fault("remote.answer", "the server redirects from HTTPS to HTTP")
            self._expect_status(response)
            return await read(response)

    # --- answers ---

    def _expect_status(self, response: Any) -> None:
        status = response.status
        if status in PASSING:
            seconds = response.headers.get("Retry-After", "")
            raise Passing(f"status {status}", min(int(seconds[:9]), LONGEST_PAUSE) if seconds.isdecimal() and seconds.isascii() else 0)
        if status in (404, 410):
            raise self._fault("io.not_found", "the server has no such file")
        if status in (401, 403, 407):
            raise self._fault("io.permission", f"the server denies access (status {status})")
        if status not in (200, 206) and not _is_empty(response):
            raise self._fault("remote.refused", f"the server answers with status {status}")
        encoding = response.headers.get("Content-Encoding", "identity")
        if encoding.lower() not in ("", "identity"):
            raise self._fault("remote.answer", f'the server sends the file in the encoding "{encoding}" although it was asked not to')

    async def _end_of(self, response: Any) -> Answer:
        if _is_empty(response):
            return _answer(response, 0, bytearray())
        if response.status == 200:
            # A server may answer with the whole file if it is as short as what was asked for.
            if response.content_length is None or response.content_length > END:
                raise self._without_ranges()
            return _answer(response, response.content_length, await self._body(response, response.content_length))
        first, last, size = self._range(response)
        if last + 1 != size or last + 1 - first != min(END, size):
            raise self._other_range(response, f"the last {END} bytes")
        return _answer(response, size, await self._body(response, last + 1 - first))

    async def _range_of(self, response: Any, start: int, stop: int) -> Answer:
        if response.status != 206:
            size = response.content_length
            self._expect_version(_answer(response, self.size if size is None else size, bytearray()))
            raise self._without_ranges()
        first, last, size = self._range(response)
        self._expect_version(_answer(response, size, bytearray()))
        if (first, last + 1) != (start, stop):
            raise self._other_range(response, f"bytes {start}-{stop - 1}")
        return _answer(response, size, await self._body(response, stop - start))

    async def _whole_of(self, response: Any) -> Answer:
        if response.status != 200:
            raise self._fault("remote.answer", f"the server answers with status {response.status} although no range was asked for")
        return _answer(response, self.size, await self._body(response, self.size))

    async def _body(self, response: Any, length: int) -> bytearray:
        data, patience = bytearray(), Patience(self._timeout)
        while piece := await patience.wait(response.content.read(PIECE_OF_BODY)):
            patience.note(len(piece))
            data += piece
            if len(data) > length:
                raise self._fault("remote.answer", "the server sends more bytes than it announced")
        if len(data) != length:
            raise Passing("the body ended early")
        return data

    def _range(self, response: Any) -> tuple[int, int, int]:
        text = response.headers.get("Content-Range", "")
        if found := CONTENT_RANGE.fullmatch(text):
            first, last, size = (int(each) for each in found.groups())
            if first <= last < size < 1 << 63:
                return first, last, size
        raise self._other_range(response, "a range")

    def _other_range(self, response: Any, asked: str) -> Error:
        found = response.headers.get("Content-Range", "no Content-Range")[:100]
        return self._fault("remote.answer", f"the server was asked for {asked} and answered with {found!r}")

    def _expect_version(self, answer: Answer) -> None:
        if not answer.agrees(self._etag, self._modified, self.size):
            raise self._fault("io.changed", "the file was replaced since it was opened; open it again")

    def _unreachable(self, error: Exception) -> Error:
        return self._fault("remote.unreachable", f"the server failed {RETRIES + 1} times, at last with: {_reason(error)}")

    def _too_slow(self) -> Error:
        what = f"the server did not answer in time, or sent less than 1 KiB/s for {self._timeout:g} s"
        return make_error("remote.timeout", what, "", None, self.name, "remote.wait_longer")

    def _without_ranges(self) -> Error:
        return self._fault("remote.no_ranges", "the server sends whole files only, so no part of this one can be read; download it")


def _answer(response: Any, size: int, data: bytearray) -> Answer:
    return Answer(size, response.headers.get("ETag", ""), response.headers.get("Last-Modified", ""), data)


def _is_empty(response: Any) -> bool:
    """Whether the server says that an empty file has no last bytes."""
    return bool(response.status == 416 and response.headers.get("Content-Range", "") == "bytes */0")


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, Passing) else type(error).__name__
