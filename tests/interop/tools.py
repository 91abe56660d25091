"""The tools of the interoperability matrix: their versions, their environments, and the commands that run them."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/interop"
BUILD = ROOT / "build/interop"
PYTHON = "/usr/bin/python3"


class Tool(NamedTuple):
    """The command gets the path of a file of jobs, as runners/worker.py describes it."""

    name: str
    version: str
    kind: str  # "runtime" if no cell may be refused that the plain model runs in, else "tool"
    prepare: Callable[[], None]
    command: Callable[[], list[str]]
    sources: tuple[Path, ...]  # a change to one of these makes its cells out of date
    reads_archives: bool = False

    def state(self) -> str:
        found = hashlib.sha256(self.version.encode())
        for path in self.sources:
            found.update(path.read_bytes())
        return found.hexdigest()[:16]


def venv(name: str) -> Path:
    return BUILD / "venvs" / name


def environment(name: str) -> None:
    """Makes the environment if it is not there as the requirements say."""
    wanted, folder = HERE / "requirements" / f"{name}.txt", venv(name)
    made = folder / "requirements.txt"
    if made.exists() and made.read_bytes() == wanted.read_bytes():
        return
    subprocess.run([PYTHON, "-m", "venv", "--clear", str(folder)], check=True)
    subprocess.run([folder / "bin/pip", "install", "-q", "--no-compile", "--disable-pip-version-check", "-r", str(wanted)], check=True)
    made.write_bytes(wanted.read_bytes())


def python_tool(name: str, kind: str, runner: str, env: str, package: str = "") -> Tool:
    wanted = HERE / "requirements" / f"{env}.txt"
    pins = dict(line.split("==") for line in wanted.read_text().split())
    package = package or next(iter(pins))
    script = HERE / "runners" / f"{runner}.py"
    return Tool(
        name, f"{package} {pins[package]}", kind,
        prepare=lambda: environment(env),
        command=lambda: [str(venv(env) / "bin/python"), "-B", "-m", "runners.worker", runner],
        sources=(script, wanted),
    )  # fmt: skip


PYTHON_TOOLS = (
    python_tool("ONNX Runtime 1.18, Python", "runtime", "onnxruntime_session", "onnxruntime-1.18"),
    python_tool("ONNX Runtime 1.20, Python", "runtime", "onnxruntime_session", "onnxruntime-1.20"),
    python_tool("ONNX Runtime 1.22, Python", "runtime", "onnxruntime_session", "onnxruntime-1.22"),
    python_tool("ONNX Runtime, Python", "runtime", "onnxruntime_session", "onnxruntime"),
    python_tool("ONNX Runtime's optimiser", "runtime", "onnxruntime_optimiser", "onnxruntime"),
    python_tool("ONNX Runtime's dynamic quantiser", "runtime", "onnxruntime_quantise_dynamic", "onnx", "onnxruntime"),
    python_tool("ONNX Runtime's static quantiser", "runtime", "onnxruntime_quantise_static", "onnx", "onnxruntime"),
    python_tool("ONNX Runtime's preparation for quantising", "runtime", "onnxruntime_preprocess", "onnx", "onnxruntime"),
    python_tool("onnx: load, reference evaluator", "runtime", "onnx_reference", "onnx"),
    python_tool("onnx: checker", "runtime", "onnx_checker", "onnx"),
    python_tool("onnx: shape inference", "runtime", "onnx_shapes", "onnx"),
    python_tool("onnx: version converter", "runtime", "onnx_version", "onnx"),
    python_tool("onnx: load, save elsewhere", "runtime", "onnx_saved", "onnx"),
    python_tool("onnx_ir: load, save elsewhere", "runtime", "onnx_ir_saved", "onnx", "onnx-ir"),
    python_tool("onnx_ir: passes", "runtime", "onnx_ir_passes", "onnx", "onnx-ir"),
    python_tool("onnxoptimizer", "tool", "onnxoptimizer_all", "onnxoptimizer", "onnxoptimizer"),
    python_tool("onnxslim", "tool", "onnxslim_path", "onnxslim", "onnxslim"),
    python_tool("onnxsim", "tool", "onnxsim_path", "onnxsim"),
    python_tool("OpenVINO", "runtime", "openvino_cpu", "openvino"),
    python_tool("OpenCV", "runtime", "opencv_dnn", "opencv"),
    python_tool("TVM", "tool", "tvm_relax", "tvm"),
    python_tool("ncnn, with pnnx", "tool", "ncnn_pnnx", "ncnn", "pnnx"),
)
TOOLS = PYTHON_TOOLS
