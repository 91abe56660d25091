"""Finds the faults of an archive or model file."""

from __future__ import annotations

from onnxar import _core
from onnxar._errors import Finding
from onnxar._options import Path, load_options
from onnxar._progress import Progress, reporting
from onnxar._sources import located


def check(
    path: Path, *, data: bool = False, strict: bool = False, data_dir: Path | None = None, threads: int = 0,
    progress: Progress = None,
) -> list[Finding]:  # fmt: skip
    """Returns all faults of an archive or `.onnx` file, and remarks about it.

    Args:
        path: The path of the file, or the address of an archive.
        data: Also compare CRC-32s and checksums, which reads all bytes.
        strict: Make warnings errors.
        data_dir: The folder of external data.
        threads: The number of threads that read; 0: one per core.
        progress: See `onnxar.pack`.

    Raises:
        FileError: The file cannot be read (io.*). Faults of its content are findings.

    Example:

        for finding in onnxar.check("model.onnxar", data=True):
            print(finding.severity, finding.code, finding.message)
    """
    with reporting(progress, "checking") as tell:
        load = load_options(data_dir, threads=threads)
        rows = _core.check(located(path, "check", load), data, strict, load, tell)
    return [Finding(*row) for row in rows]
