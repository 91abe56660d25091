"""The tools of the interoperability matrix: their versions, their environments, and the commands that run them."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from interop.readers import models

ROOT = Path(__file__).resolve().parents[3]
HERE = ROOT / "tests/interop/readers"
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
    reads_nested: bool = True  # False: reads external data of the graph's initializers alone, so it also gets the form that has no other

    def forms(self, model: str) -> list[str]:
        inline = ["inline"] if model in models.NESTED and not self.reads_nested else []
        return ["plain", "link", "hub", "folder", *(["archive"] if self.reads_archives else []), *inline]

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


def environment_with_onnxar(name: str) -> None:
    """With the wheel that ./dev builds, for tools that read archives by it."""
    environment(name)
    wheels = list((ROOT / "build/wheel").glob("onnxar-*.whl"))
    if not wheels:
        raise OSError("no wheel of onnxar in build/wheel; ./dev interop builds it")
    subprocess.run([venv(name) / "bin/pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--no-compile",
                    "--force-reinstall", *wheels], check=True)  # fmt: skip


def python_tool(name: str, kind: str, runner: str, env: str, package: str = "", *, archives: bool = False,
                nested: bool = True) -> Tool:
    wanted = HERE / "requirements" / f"{env}.txt"
    pins = dict(line.split("==") for line in wanted.read_text().split())
    package = package or next(iter(pins))
    script = HERE / "runners" / f"{runner}.py"
    return Tool(
        name, f"{package} {pins[package]}", kind,
        prepare=lambda: (environment_with_onnxar if archives else environment)(env),
        command=lambda: [str(venv(env) / "bin/python"), "-B", "-m", "runners.worker", runner],
        sources=(script, wanted),
        reads_archives=archives,
        reads_nested=nested,
    )  # fmt: skip


def tool_of_this_python(runner: str) -> Tool:
    """With the packages that the running Python has, for tests."""
    command = [sys.executable, "-B", "-m", "runners.worker", runner]
    return Tool(runner, "", "runtime", lambda: None, lambda: command, ())


def webgpu_tool() -> Tool:
    """Without a GPU: in a mount namespace where Linux lists one, as ONNX Runtime asks for, with Chromium's software Vulkan."""
    script = """mount -t tmpfs none /sys/class
                device=/sys/class/0000:00:02.0
                mkdir -p $device/drm/card0 /sys/class/drm /sys/class/pci
                for each in vendor=0x8086 device=0x0000 class=0x030000; do echo ${each#*=} > $device/${each%=*}; done
                ln -s /sys/class/pci $device/subsystem
                ln -s ../.. $device/drm/card0/device
                ln -s $device/drm/card0 /sys/class/drm/card0
                VK_DRIVER_FILES=/usr/lib/chromium/vk_swiftshader_icd.json exec "$@" """
    tool = python_tool("ONNX Runtime, WebGPU plugin", "runtime", "onnxruntime_plugin", "onnxruntime-webgpu")
    return tool._replace(command=lambda: ["unshare", "--mount", "bash", "-euc", script, "bash", *tool.command()])


PYTHON_TOOLS = (
    python_tool("ONNX Runtime 1.18, Python", "runtime", "onnxruntime_session", "onnxruntime-1.18", archives=True),
    python_tool("ONNX Runtime 1.20, Python", "runtime", "onnxruntime_session", "onnxruntime-1.20"),
    python_tool("ONNX Runtime 1.22, Python", "runtime", "onnxruntime_session", "onnxruntime-1.22"),
    python_tool("ONNX Runtime, Python", "runtime", "onnxruntime_session", "onnxruntime", archives=True),
    python_tool("ONNX Runtime, model package", "runtime", "onnxruntime_package", "onnxruntime"),
    webgpu_tool(),
    python_tool("ONNX Runtime, OpenVINO plugin", "runtime", "onnxruntime_plugin", "onnxruntime-openvino"),
    python_tool("ONNX Runtime, QNN plugin", "runtime", "onnxruntime_plugin", "onnxruntime-qnn"),
    python_tool("ONNX Runtime GenAI, Python", "runtime", "genai_generator", "genai"),
    python_tool("ONNX Runtime's optimiser, output beside", "runtime", "onnxruntime_optimiser", "onnxruntime"),
    python_tool("ONNX Runtime's optimiser, output and data elsewhere", "runtime", "onnxruntime_optimiser_elsewhere", "onnxruntime"),
    python_tool("ONNX Runtime's optimiser, output elsewhere", "tool", "onnxruntime_optimiser_bare", "onnxruntime"),
    python_tool("ONNX Runtime's dynamic quantiser", "runtime", "onnxruntime_quantise_dynamic", "onnx", "onnxruntime"),
    python_tool("ONNX Runtime's static quantiser", "runtime", "onnxruntime_quantise_static", "onnx", "onnxruntime"),
    python_tool("ONNX Runtime's preparation for quantising", "runtime", "onnxruntime_preprocess", "onnx", "onnxruntime"),
    python_tool("onnx: load, reference evaluator", "runtime", "onnx_reference", "onnx", archives=True),
    python_tool("onnx: checker", "runtime", "onnx_checker", "onnx"),
    python_tool("onnx: shape inference", "runtime", "onnx_shapes", "onnx"),
    python_tool("onnx: version converter", "runtime", "onnx_version", "onnx"),
    python_tool("onnx: load, save elsewhere", "runtime", "onnx_saved", "onnx"),
    python_tool("onnx_ir: load, save elsewhere", "runtime", "onnx_ir_saved", "onnx", "onnx-ir", nested=False),
    python_tool("onnx_ir: passes", "runtime", "onnx_ir_passes", "onnx", "onnx-ir", archives=True, nested=False),
    python_tool("onnxoptimizer", "tool", "onnxoptimizer_all", "onnxoptimizer", "onnxoptimizer"),
    python_tool("onnxslim", "tool", "onnxslim_path", "onnxslim", "onnxslim"),
    python_tool("onnxsim", "tool", "onnxsim_path", "onnxsim"),
    python_tool("OpenVINO", "runtime", "openvino_cpu", "openvino"),
    python_tool("OpenCV", "runtime", "opencv_dnn", "opencv"),
    python_tool("TVM", "tool", "tvm_relax", "tvm"),
    python_tool("ncnn, with pnnx", "tool", "ncnn_pnnx", "ncnn", "pnnx"),
)


@functools.cache
def npm() -> None:
    """Installs the packages of node/package.json, and beside them the package onnxar, as js/ has it."""
    folder, wanted = BUILD / "node", HERE / "node/package.json"
    done = folder / "installed.json"
    if not done.exists() or done.read_bytes() != wanted.read_bytes():
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(HERE / "node" / name, folder / name)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True)
        shutil.copyfile(wanted, done)
    modules = folder / "node_modules"
    shutil.rmtree(modules / "onnxar", ignore_errors=True)
    subprocess.run(["node", modules / "typescript/bin/tsc", "-p", ROOT / "js", "--outDir", modules / "onnxar/dist"], check=True)
    shutil.copyfile(ROOT / "js/package.json", modules / "onnxar/package.json")


def javascript_tool(name: str, package: str, runtime: str) -> Tool:
    """The runners are copied beside the packages, where Node looks for them."""
    scripts = tuple(HERE / "node" / each for each in ("package.json", "jobs.mjs", "run.mjs" if runtime != "chromium" else "page.mjs"))

    def prepare() -> None:
        npm()
        for script in scripts[1:]:
            shutil.copyfile(script, BUILD / "node" / script.name)

    command = (
        [PYTHON, "-B", "-m", "runners.chromium", str(BUILD / "node/node_modules")]
        if runtime == "chromium"
        else ["node", str(BUILD / "node/run.mjs"), runtime]
    )
    version = json.loads(scripts[0].read_text())["dependencies"][package]
    sources = (*scripts, HERE / "runners/chromium.py") if runtime == "chromium" else scripts
    return Tool(name, f"{package} {version}", "runtime", prepare, lambda: command, sources, reads_archives=True,
                reads_nested=runtime == "node")  # fmt: skip


def netron_tool() -> Tool:
    wanted, scripts = HERE / "requirements/netron.txt", tuple(HERE / "node" / each for each in ("netron.mjs", "jobs.mjs"))
    package, version = wanted.read_text().strip().split("==")

    def command() -> list[str]:
        return ["node", str(scripts[0]), str(next(venv("netron").glob("lib/python*/site-packages/netron")))]

    return Tool("Netron's parser", f"{package} {version}", "tool", lambda: environment("netron"), command, (*scripts, wanted))


def java_tool() -> Tool:
    source, version = HERE / "java/Run.java", "1.29.0"
    maven, classes = BUILD / "maven", BUILD / "java"
    jar = maven / f"com/microsoft/onnxruntime/onnxruntime/{version}/onnxruntime-{version}.jar"

    def prepare() -> None:
        if not jar.exists():
            subprocess.run(["mvn", "-q", f"-Dmaven.repo.local={maven}", "dependency:get",
                            f"-Dartifact=com.microsoft.onnxruntime:onnxruntime:{version}"], check=True)  # fmt: skip
        subprocess.run(["javac", "-cp", jar, "-d", classes, source], check=True)

    command = ["java", "-cp", f"{jar}:{classes}", "Run"]
    return Tool("ONNX Runtime, Java", f"com.microsoft.onnxruntime {version}", "runtime", prepare, lambda: command, (source,))


def cpp_tool() -> Tool:
    source, library, program = HERE / "cpp/run.cc", ROOT / "build/onnxruntime", BUILD / "cpp/run"
    fetch = ROOT / "tests/interop/readers/fetch.py"
    found = re.search(r'^VERSION = "(.*)"$', fetch.read_text(), re.MULTILINE)

    def prepare() -> None:
        environment("onnxruntime")
        subprocess.run([venv("onnxruntime") / "bin/python", "-B", fetch, library], check=True)
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["g++", "-std=c++20", "-O1", "-isystem", library / "include", source, library / "lib/libonnxruntime.so",
                        f"-Wl,-rpath,{library / 'lib'}", "-o", program], check=True)  # fmt: skip

    version = found[1] if found else ""
    return Tool("ONNX Runtime, C++", f"onnxruntime {version}", "runtime", prepare, lambda: [str(program)], (source, fetch))


def patched_tool() -> Tool:
    """In the system in which `./dev upstream onnxruntime` built it, with this project's files at their paths."""
    runner = "onnxruntime_path"
    root = Path(os.environ.get("ONNXRUNTIME_FOLDER", ROOT / "build/upstream/onnxruntime")).absolute() / "root"

    def prepare() -> None:
        if not (root / "trial/after/onnxruntime").exists():
            raise OSError("./dev upstream onnxruntime has not built it")

    script = ('mkdir -p "$1$2"; mount --bind "$2" "$1$2"; mount -t proc proc "$1/proc"; '
              'exec chroot "$1" env -C "$3" PYTHONPATH=/trial/after python3 -B -m runners.worker "$4" "$5"')  # fmt: skip
    command = ["unshare", "--mount", "bash", "-euc", script, "bash", str(root), str(ROOT), str(HERE), runner]
    return Tool("ONNX Runtime 1.21 with the patches, Python", "onnxruntime 1.21.0", "runtime", prepare, lambda: command,
                (HERE / f"runners/{runner}.py",), reads_archives=True)  # fmt: skip


def rust_tool(name: str, crate: str, kind: str) -> Tool:
    folder = HERE / "rust" / name
    sources = (folder / "src/main.rs", folder / "Cargo.toml", folder / "Cargo.lock", HERE / "rust/jobs.rs")
    target = BUILD / "rust" / name

    def prepare() -> None:
        subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", sources[1], "--target-dir", target], check=True)

    found = re.search(rf'^{crate} = .*?"=([^"]*)"', sources[1].read_text(), re.MULTILINE)
    command = [str(target / f"release/interop-{name}")]
    return Tool(name, f"{crate} {found[1] if found else ''}", kind, prepare, lambda: command, sources)


TOOLS = (
    *PYTHON_TOOLS[:4],
    patched_tool(),
    cpp_tool(),
    java_tool(),
    javascript_tool("ONNX Runtime, Node", "onnxruntime-node", "node"),
    javascript_tool("ONNX Runtime Web, in Node", "onnxruntime-web", "web"),
    javascript_tool("ONNX Runtime Web, in Chromium", "onnxruntime-web", "chromium"),
    *PYTHON_TOOLS[4:],
    rust_tool("tract", "tract-onnx", "runtime"),
    rust_tool("rten", "rten", "tool"),
    netron_tool(),
)
