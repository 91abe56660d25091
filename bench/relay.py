"""Simulates a distant file server: serves SFTP, or a server of this machine, on a local port and delays every byte by
DELAY seconds each way.

Usage: relay.py PORT DELAY SFTP_SERVER|HOST:PORT
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from asyncio.subprocess import PIPE

CHUNK = 1 << 18


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float) -> None:
    """Copies bytes with a delay. Later bytes do not wait for it: this adds latency, and does not limit throughput."""
    now = asyncio.get_running_loop().time
    line: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def receive() -> None:
        data = b"some"
        while data:
            data = await reader.read(CHUNK)
            line.put_nowait((now() + delay, data))

    receiver = asyncio.create_task(receive())
    while True:
        due, data = await line.get()
        if due > now():
            await asyncio.sleep(due - now())
        if not data:
            break
        writer.write(data)
        await writer.drain()
    writer.close()
    await receiver


async def main() -> None:
    port, delay, server = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, colon, behind = server.rpartition(":")
        if colon:
            from_server, to_server = await asyncio.open_connection(host, int(behind), limit=4 * CHUNK)
            with contextlib.suppress(ConnectionError):
                await asyncio.gather(pump(reader, to_server, delay), pump(from_server, writer, delay))
            return
        process = await asyncio.create_subprocess_exec(server, "-R", stdin=PIPE, stdout=PIPE, limit=4 * CHUNK)
        assert process.stdin and process.stdout
        await asyncio.gather(pump(reader, process.stdin, delay), pump(process.stdout, writer, delay))

    async with await asyncio.start_server(serve, "127.0.0.1", port, limit=4 * CHUNK) as listening:
        print("ready", flush=True)
        await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
