"""Plays what the README promises of a release: in a bare Debian 12 the wheel is installed by one command, and the README's first Python example
runs; on a bare Debian 11 both programs for Linux run as they are. Counts the commands that a newcomer has to type, and fails on more than one each.

What the distribution itself brings (Python and pip, from `apt-get install python3-venv`) is there before the count begins. Needs root.

Usage: install.py FOLDER_OF_THE_RELEASE
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/release"))
from roots import DISTRIBUTIONS, Distribution, bare_root, run_in

MAKE_MODEL = """
import numpy, onnx
weight = onnx.numpy_helper.from_array(numpy.ones((64, 64), numpy.float32), "encoder.weight")
graph = onnx.helper.make_graph(
    [onnx.helper.make_node("MatMul", ["x", "encoder.weight"], ["y"])], "g",
    [onnx.helper.make_tensor_value_info("x", 1, [1, 64])], [onnx.helper.make_tensor_value_info("y", 1, [1, 64])], [weight])
onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10), "model.onnx")
"""


def example() -> str:
    """The first Python block of the README."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]


def expect(what: str, root: Path, script: str) -> str:
    done = run_in(root, script)
    if done.returncode != 0:
        sys.exit(f"install.py: {what} failed:\n{done.stdout[-4000:]}")
    return done.stdout


def steps(what: str, commands: list[str]) -> str:
    """The commands that a newcomer types, as a script. More than one is a failure of the release, not of the newcomer."""
    print(f"{what}: {len(commands)} step{'s' if len(commands) != 1 else ''}: {'; '.join(commands)}")
    if len(commands) > 1:
        sys.exit(f"install.py: {what} takes {len(commands)} steps, and one is promised")
    return "\n".join(commands)


def play_wheel(release: Path) -> None:
    (debian,) = (each for each in DISTRIBUTIONS if each.name == "debian-12")
    root = bare_root(debian)
    for file in release.iterdir():
        shutil.copy(file, root)
    (root / "model.py").write_text(MAKE_MODEL)
    (root / "example.py").write_text(example())
    (wheel,) = (file.name for file in release.glob("*-cp311-cp311-manylinux*_x86_64.whl"))
    install = steps("the wheel", [f"pip install ./{wheel}"])
    # What the example imports besides is not part of onnxar, nor is the model that it opens.
    peers = "pip install -q onnx onnxruntime; python model.py; onnxar pack model.onnx -o model.onnxar"
    expect("the README's first Python example", root, f"{debian.python} -m venv /venv; . /venv/bin/activate; cd /\n{install}\n{peers}\npython example.py")
    expect("the verbs that need protobuf", root, ". /venv/bin/activate; cd /; onnxar show model.onnxar; onnxar diff model.onnxar model.onnx || [ $? = 1 ]")


def play_program(release: Path) -> None:
    root = bare_root(Distribution("debian-11-bare", "bullseye", packages=("ca-certificates",)))
    for name in ("onnxar-linux-x86_64", "onnxar-linux-x86_64-static"):
        shutil.copy(release / name, root)
        expect("the program", root, "cd /\n" + steps("the program", [f"./{name} --version"]) + f"\n./{name} help show > /dev/null")
        expect("an address without libcurl", root, f"cd /\n! ./{name} ls http://localhost/m.onnxar 2> said\ngrep -q 'apt-get install libcurl4' said")


def main() -> None:
    release = Path(sys.argv[1]).absolute()
    play_wheel(release)
    play_program(release)
    print("one step each")


if __name__ == "__main__":
    main()
