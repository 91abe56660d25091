"""Runs a model over rows with Ray Data. Every worker opens the same archive, and the page cache has its weights once.

    pip install "ray[data]" onnxar onnxruntime
    python batch_inference.py model.onnxar input.parquet output/

The workers get the path of the archive, which must be a file on each node: no weight goes through Ray's object store. A
worker that dies is started again, and Ray runs its batches anew.
"""

from __future__ import annotations

import argparse
import os

import numpy as np
import onnxruntime
import ray
import ray.data

import onnxar.onnxruntime


class Model:
    """One session. Ray makes an object in each worker."""

    def __init__(self, archive: str, column: str, prepacking: bool = False) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # Ray starts one worker for each core
        if not prepacking:  # prepacked weights are copies, which each worker has for itself
            options.add_session_config_entry("session.disable_prepacking", "1")
        self.session = onnxar.onnxruntime.InferenceSession(archive, options, providers=["CPUExecutionProvider"])
        self.column = column

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        names = [output.name for output in self.session.get_outputs()]
        given = {self.session.get_inputs()[0].name: np.stack(list(batch[self.column])).astype(np.float32)}
        return {**batch, **dict(zip(names, self.session.run(names, given), strict=True))}


def infer(archive: str, rows: ray.data.Dataset, column: str, workers: int, prepacking: bool = False) -> ray.data.Dataset:
    return rows.map_batches(
        Model,
        fn_constructor_args=(os.path.abspath(archive), column, prepacking),
        compute=ray.data.ActorPoolStrategy(size=workers),
        batch_size=64,
        num_cpus=1,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("archive")
    parser.add_argument("input", help="a Parquet file or folder; one column has the model's first input")
    parser.add_argument("output", help="a folder for Parquet files")
    parser.add_argument("--column", default="x")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--prepacking", action="store_true", help="faster products, and a copy of the weights in each worker")
    given = parser.parse_args()
    rows = ray.data.read_parquet(given.input)
    infer(given.archive, rows, given.column, given.workers, given.prepacking).write_parquet(given.output)


if __name__ == "__main__":
    main()
