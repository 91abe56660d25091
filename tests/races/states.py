"""The states of the archive that processes race for.

Each state has a serial number, which all of its parts repeat, so that parts of two states are told from one state:
- the model, with the number in front of and after its tensors;
- the weight `w<serial>`, which this state added; weights of earlier states stay beside it;
- the weight `base`, which is always the same;
- the side file `state.txt`, and `extra.txt` if the number is even.
reader.cc knows the same states.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from support import wire_writer as wire

BASE, BASE_DATA = "base", b"base" * 5000
COUNTS = (130, 1000, 26000)  # numbers in a weight; the last is more than a writer's buffer holds
PADDING = (1, 3000, 40000)  # repetitions in the model


def text_of(serial: int) -> bytes:
    return b"serial %d;" % serial


def weight_of(serial: int) -> bytes:
    return serial.to_bytes(8, "little") * COUNTS[serial % 3]


def _tensor(name: str, data: bytes) -> bytes:
    return wire.fields_of(name, wire.UINT8, [len(data)], wire.raw(wire.UINT8, data))


def _linked(name: str, data: bytes) -> bytes:
    return wire.fields_of(name, wire.UINT8, [len(data)], wire.DataFile(name).link(offset=0, length=len(data)))


def _model(serial: int, base: Callable[[str, bytes], bytes]) -> bytes:
    producer, version = 2, 3  # fields of ModelProto before the graph, and one after it
    text = text_of(serial)
    graph = wire.plain(base(BASE, BASE_DATA), _tensor(f"w{serial}", weight_of(serial)))
    return wire.block(producer, text) + wire.block(version, text * PADDING[serial // 3 % 3]) + graph + wire.block(6, text)


def first_model() -> bytes:
    """The model of state 0, with all data in it."""
    return _model(0, _tensor)


def next_model(serial: int) -> bytes:
    """A model for an archive: its base weight is there, the weight of the state is new."""
    return _model(serial, _linked)


def has_extra(serial: int) -> bool:
    return serial % 2 == 0


def write_parts(folder: Path, serial: int) -> tuple[Path, Path]:
    """Writes the model and the side file of a state to the folder."""
    model, side_file = folder / f"{serial}.onnx", folder / f"{serial}.txt"
    model.write_bytes(next_model(serial) if serial else first_model())
    side_file.write_bytes(text_of(serial) * (1 + serial % 50))
    return model, side_file


def serial_in(model: bytes) -> int | None:
    """The serial number that the model repeats; None unless it is always the same."""
    found = {int(number) for number in re.findall(rb"serial (\d+);", model)}
    return found.pop() if len(found) == 1 and model.count(b"serial ") > 1 else None


def fault_of_folder(folder: Path) -> str | int:
    """The serial number of an unpacked state, or what is wrong with it."""
    serial = serial_in((folder / "model.onnx").read_bytes())
    if serial is None:
        return "the model has no serial number, or several"
    if text_of(serial) * (1 + serial % 50) != (folder / "state.txt").read_bytes():
        return f"state.txt is not of state {serial}"
    if has_extra(serial) != (folder / "extra.txt").exists():
        return f"extra.txt is not of state {serial}"
    if any(data not in (folder / "model.onnx").read_bytes() for data in (weight_of(serial), BASE_DATA)):
        return f"a weight is not of state {serial}"
    return serial
