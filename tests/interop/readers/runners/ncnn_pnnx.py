"""pnnx, ncnn's importer, into another folder; then ncnn."""

import os
import subprocess
from pathlib import Path

import ncnn
import numpy as np
import pnnx


def run(model, x, folder):
    made = Path(model).parent  # pnnx writes beside its input, and its ONNX Runtime refuses symbolic links
    for file in made.iterdir():
        if file.is_file():
            os.link(file, Path(folder) / file.name)
    model = Path(folder) / Path(model).name
    program = Path(pnnx.__file__).with_name("pnnx")
    shape = "inputshape=[" + ",".join(map(str, x.shape)) + "]"
    done = subprocess.run([program, model, shape], cwd=folder, capture_output=True, text=True)
    fatal = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("FATAL ERROR")]
    if fatal:  # it goes on with weights of arbitrary bytes, and ends with 0
        raise RuntimeError(fatal[0])
    param, weights = (model.with_name(f"{model.stem}.ncnn.{end}") for end in ("param", "bin"))
    if done.returncode != 0 or not param.exists():
        words = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(words[-1] if words else f"pnnx ends with {done.returncode}")
    net = ncnn.Net()
    net.opt.use_fp16_storage = net.opt.use_fp16_packed = net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = False
    net.load_param(str(param))
    net.load_model(str(weights))
    with net.create_extractor() as extractor:
        extractor.input("in0", ncnn.Mat(np.ascontiguousarray(x.squeeze(0))).clone())
        state, y = extractor.extract("out0")
    if state != 0:
        raise RuntimeError(f"ncnn ends with {state}")
    return np.array(y)
