"""Facts that programs in several languages repeat are the same: rules for requests and models, and options of ONNX Runtime."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
REMOTE = "include/onnxar/remote.h"
PYTHON = "python/onnxar/_options.py"  # passes the time limit to the C++ client
RANGES = "python/onnxar/_ranges.py"  # names the failures of fsspec
PROTO = "python/onnxar/_proto.py"
JS = "js/src/retry.ts"
HTTP_FILE = "src/remote/http_file.cc"

# A rule for requests, or for models -> the pattern of its number for each program that has it.
NUMBERS = {
    "bytes that are read at the end of a file": {
        "src/remote/request.h": r"end_length = ([\dU< ]+);",
        RANGES: r"^END = ([\d< ]+)",
    },
    "unneeded bytes that are read to save a request": {
        "src/remote/pieces.cc": r"most_between = ([\dU< ]+);",
        RANGES: r"^GAP = ([\d< ]+)",
    },
    "bytes of a piece of a large range": {
        "src/remote/pieces.h": r"piece_size = ([\dU< ]+);",
        RANGES: r"^PIECE = ([\d< ]+)",
    },
    "least bytes of data that may leave a model": {
        "src/convert/splitter.cc": r"smallest_worth_it = (\d+)",
        PROTO: r"^LARGE_FROM = (\d+)",
    },
    "nested messages": {
        "src/onnx/wire.h": r"most_nested_messages = (\d+)",
        PROTO: r"^DEEPEST = (\d+)",
    },
    "retries of a request": {
        REMOTE: r"retries = (\d+);",
        JS: r"^const RETRIES = (\d+)",
    },
    "retries of a stalled request": {
        HTTP_FILE: r"most_stalls = (\d+)",
        JS: r"^const STALLS = (\d+)",
    },
    "bytes that count as progress": {
        "src/remote/request.cc": r"enough_progress = ([\dU< ]+);",
        JS: r"^const ENOUGH = ([\d< ]+);",
    },
    "pause before the first retry": {
        REMOTE: r"pause\{(\d+)\}",
        JS: r"^const PAUSE = (\d+)",
    },
    "longest pause that a server may ask for": {
        HTTP_FILE: r"seconds longest\{(\d+)\}",
        JS: r"^const LONGEST_PAUSE = ([\d_]+)",
    },
    "least share of a pause": {
        HTTP_FILE: r"uniform_real_distribution<>\((0\.5), 1\)",
        JS: r"\((0\.5) \+ Math\.random\(\) / 2\)",
    },
    "time until a request is stalled": {
        REMOTE: r"stall_timeout\{(\d+)\}",
        PYTHON: r"^TIMEOUT = ([\d.]+)",
        JS: r"^export const TIMEOUT = ([\d_]+)",
    },
    "least speed in bytes a second": {
        "src/remote/stall_clock.h": r"least_speed = (\d+)",
        JS: r"^export const LEAST_SPEED = (\d+)",
    },
}
# Numbers in seconds; other times are in milliseconds.
SECONDS = {
    ("time until a request is stalled", PYTHON),
    ("longest pause that a server may ask for", HTTP_FILE),
}
SESSIONS_CPP = "include/onnxar/onnxruntime.h"
SESSIONS_C = "include/onnxar/onnxar_c.h"
SESSIONS_PYTHON = "python/onnxar/onnxruntime.py"
# An option of ONNX Runtime -> the pattern of its value, or of its name, for each program that sets or explains it.
OPTIONS = {
    "file for the weights of a stored model": {
        "src/runtime/workshop.h": r'\*data = "(.+?)"',
        SESSIONS_CPP: r'InitializersFileName, "(.+)"',
        SESSIONS_C: r"initializers_file_name = (.+)",
        SESSIONS_PYTHON: r'initializers_file_name": "(.+)"',
    },
    "least size of these weights": {
        SESSIONS_CPP: r'InitializersMinSizeInBytes, "(.+)"',
        SESSIONS_C: r"initializers_min_size_in_bytes = (.+)",
        SESSIONS_PYTHON: r'initializers_min_size_in_bytes": "(.+)"',
    },
    "the weights are prepacked": {
        SESSIONS_CPP: r'SavePrePackedConstantInitializers, "(.+)"',
        SESSIONS_C: r"save_external_prepacked_constant_initializers = (\w+)",
        SESSIONS_PYTHON: r'save_external_prepacked_constant_initializers": "(.+)"',
    },
    "folder of weights": {
        "src/convert/package.h": r'data_folder_option = "(.+)"',
        "include/onnxar/link.h": r"session option `(.+)`",
        SESSIONS_C: r"session option `(.+)`",
        "python/onnxar/_cache.py": r'^FOLDER = "(.+)"',
        "reader/java/src/main/java/io/github/onnxar/Sessions.java": r'FOLDER = "(.+)"',
        "reader/rust/src/onnxruntime.rs": r'key = "(.+)"',
    },
}


def number(text: str) -> float:
    base, _, shift = re.sub("[U_]", "", text).partition("<<")
    return float(base) * 2 ** int(shift or 0)


def found(path: str, pattern: str) -> str:
    (value,) = re.findall(pattern, (ROOT / path).read_text(), re.MULTILINE)
    return value


class Numbers(unittest.TestCase):
    def test_numbers_are_equal(self) -> None:
        for rule, places in NUMBERS.items():
            values = {path: number(found(path, pattern)) * (1000 if (rule, path) in SECONDS else 1) for path, pattern in places.items()}
            with self.subTest(rule=rule, values=values):
                self.assertEqual(len(set(values.values())), 1)

    def test_statuses_are_equal(self) -> None:
        js = set(map(int, found(JS, r"^const STATUSES = \[([\d, ]+)\]").split(",")))
        text = found("src/remote/request.cc", r"(?s)is_status_that_passes\(int status\) \{(.*?)\}")
        ((first, last),) = re.findall(r"status >= (\d+) && status <= (\d+)", text)
        cpp = {*map(int, re.findall(r"status == (\d+)", text)), *range(int(first), int(last) + 1)}
        python = set(map(int, found(RANGES, r"^PASSING = \(([\d, ]+)\)").split(",")))
        self.assertEqual(js, cpp)
        self.assertEqual(python, cpp)


class Options(unittest.TestCase):
    def test_values_are_equal(self) -> None:
        for option, places in OPTIONS.items():
            values = {path: found(path, pattern) for path, pattern in places.items()}
            with self.subTest(option=option, values=values):
                self.assertEqual(len(set(values.values())), 1)


if __name__ == "__main__":
    unittest.main()
