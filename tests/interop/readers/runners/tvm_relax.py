"""TVM's importer of ONNX into Relax, and its virtual machine on the CPU."""

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def run(model, x, folder):
    module = from_onnx(onnx.load(model), keep_params_in_input=False)
    machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())
    result = machine["main"](tvm.runtime.tensor(np.ascontiguousarray(x)))
    return (result if hasattr(result, "numpy") else result[0]).numpy()
