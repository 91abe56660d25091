"""One process of bench/caching.py: makes a session, runs it once, and tells how long that took; on a line of input, its memory."""

from __future__ import annotations

import json
import pathlib
import sys
import time
import zlib

import numpy as np
import onnxruntime

import onnxar.onnxruntime

CPU = ["CPUExecutionProvider"]


def feeds(session: onnxruntime.InferenceSession) -> dict[str, np.ndarray]:
    """Ones, with a batch of one."""
    types = {"tensor(float)": np.float32, "tensor(int64)": np.int64}
    return {each.name: np.ones([1 if isinstance(dim, str) else dim for dim in each.shape], types[each.type])
            for each in session.get_inputs()}  # fmt: skip


def memory() -> dict[str, int]:
    lines = [line.split() for line in pathlib.Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]]
    fields = {name.rstrip(":"): int(kib) * 1024 for name, kib, *_ in lines}
    return {"pss": fields["Pss"], "private": fields["Pss_Anon"]}


def main(form: str, path: str, cache: str, threads: str) -> None:
    options = onnxar.onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(threads)
    if form == "parallel":  # of ONNX Runtime 1.32; others ignore it
        options.add_session_config_entry("session.prepack.enable_parallel", "1")
    told: dict[str, float] = {}
    if form != "nothing":
        begin = time.perf_counter()
        if form in ("plain", "external"):
            session = onnxruntime.InferenceSession(path, options, CPU)
        else:
            session = onnxar.onnxruntime.InferenceSession(path, options, CPU, cache=cache if form == "cache" else False)
        (result,) = session.run(None, feeds(session))
        told = {"seconds": time.perf_counter() - begin, "checksum": zlib.crc32(result.tobytes())}
        if form == "cache" and not session.is_cached:
            raise SystemExit("the session does not use the cache")
    print(json.dumps(told), flush=True)
    sys.stdin.readline()
    print(json.dumps(memory()), flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
