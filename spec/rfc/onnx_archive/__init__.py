"""ONNX archives in plain Python: a loader and a canonical writer.

    save(model, "model.onnxar")            # large tensors become aligned entries
    model = load("model.onnxar")           # an ordinary ModelProto with all its data
    archive = Archive("model.onnxar")      # reads the directory and nothing else
    values = archive.array(tensor)         # a NumPy array over the mapped file, without a copy

A loader checks what keeps a runtime safe and leaves the rest to a checker. The container needs the
standard library alone; models need NumPy and onnx.
"""

from .container import ArchiveError, Container, Entry, Writer
from .model import Archive, load, save

__all__ = ["Archive", "ArchiveError", "Container", "Entry", "Writer", "load", "save"]
