"""Makes libFuzzer's dictionary of what the format has names for: every field of onnx.proto, and the numbers and words of
the specification. The `*.dict` files beside this one add what these do not name.

Usage: dictionary.py FILE
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WIRE_TYPES = {"float": 5, "double": 1, "string": 2, "bytes": 2}  # numbers and enumerations: 0; messages: 2
NUMBERS = {"int32", "int64", "uint32", "uint64", "bool"}


def varint(value: int) -> bytes:
    head = bytes(value >> shift & 0x7F | 0x80 for shift in range(0, max(value.bit_length() - 1, 0) // 7 * 7, 7))
    return head + bytes([value >> 7 * len(head)])


def proto() -> str:
    return (ROOT / "proto" / "onnxar" / "onnx.proto").read_text()


def fields(schema: str) -> Iterator[tuple[str, int, str]]:
    """Every field as (`TensorProto.raw_data`, number, type). Messages may be nested. A packed run is written as bytes."""
    messages: list[str] = []
    for line in schema.splitlines():
        if opened := re.match(r"\s*(message|enum|oneof) (\w+) \{", line):
            messages.append(opened[2] if opened[1] == "message" else "")
        elif re.match(r"\s*\}", line):
            messages.pop()
        elif field := re.match(r"\s*(?:optional |repeated |required )?([\w.]+) (\w+) = (\d+)(.*)", line):
            inside = [name for name in messages if name]
            if inside and field[1] != "option":
                yield f"{inside[-1]}.{field[2]}", int(field[3]), "bytes" if "packed = true" in field[4] else field[1]


def tag(number: int, kind: str, enums: set[str]) -> bytes:
    wire_type = WIRE_TYPES.get(kind, 0 if kind in NUMBERS or kind.split(".")[-1] in enums else 2)
    return varint(number << 3 | wire_type)


def tags() -> dict[str, bytes]:
    schema = proto()
    enums = set(re.findall(r"enum (\w+)", schema))
    return {name: tag(number, kind, enums) for name, number, kind in fields(schema)}


def spec_numbers() -> set[bytes]:
    """Hexadecimal numbers of the specification, as a zip stores them."""
    text = "".join(path.read_text() for path in sorted((ROOT / "spec").glob("*.md")))
    return {int(digits, 16).to_bytes(len(digits) // 2, "little") for digits in re.findall(r"\b0x((?:[0-9A-Fa-f]{4}){1,2})\b", text)}


def spec_words() -> set[str]:
    """Names that the specification quotes: keys, entries, parts of paths."""
    text = "".join(path.read_text() for path in sorted((ROOT / "spec").glob("*.md")))
    codes = set(re.findall(r'"([\w.]+)"', (ROOT / "include" / "onnxar" / "error_codes.inc").read_text()))
    return {word for word in re.findall(r"`([\w.#:/*-]{2,32})`", text) if not word.startswith("0x")} - codes


def entry(name: str, data: bytes) -> str:
    text = "".join(f"\\x{byte:02x}" for byte in data)
    return re.sub(r"[^A-Za-z0-9_]", "_", name) + f'="{text}"'


def generated() -> str:
    """One line for each sequence of bytes, by the first name that it has."""
    words = {f"word_{word}": word.encode() for word in sorted(spec_words())}
    numbers = {f"number_{data.hex()}": data for data in sorted(spec_numbers())}
    first = {data: name for name, data in reversed({**tags(), **numbers, **words}.items())}
    return "".join(entry(name, data) + "\n" for data, name in reversed(first.items()))


def complete() -> str:
    return "".join(path.read_text() for path in sorted(HERE.glob("*.dict"))) + generated()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Path(sys.argv[1]).write_text(complete())
