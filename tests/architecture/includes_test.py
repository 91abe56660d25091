"""Checks the layers of the sources: an arrow (an #include) may only point down."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# room -> the rooms right below it
BELOW = {
    "os": [],
    "base": ["os"],
    "zip": ["base"],
    "onnx": ["base"],
    "archive": ["zip", "onnx"],
    "convert": ["archive"],
    "runtime": ["convert"],
    "c": ["runtime"],
    "remote": ["convert"],
    "model": ["convert"],
    "inspect": ["model"],
}

# Rooms that may use protobuf.
WITH_PROTOBUF = {"model", "inspect"}

# The room that each public header belongs to.
PUBLIC = {
    "archive.h": "archive",
    "archive_writer.h": "archive",
    "bytes.h": "base",
    "convert.h": "convert",
    "error.h": "base",
    "error_codes.inc": "base",
    "error_hints.inc": "base",
    "link.h": "runtime",
    "listing.h": "archive",
    "model/model.h": "model",
    "model_stream.h": "convert",
    "onnx.pb.h": "model",  # generated
    "onnxar_c.h": "c",
    "onnxruntime.h": "runtime",
    "options.h": "archive",
    "remote.h": "remote",
    "resolve.h": "archive",
    "stored_model.h": "runtime",
    "tensor.h": "onnx",
    "tensors.h": "archive",
    "version.h": "base",
}

# What libraries export for the command alone: no program can include it, and no version promises it.
FOR_THE_COMMAND = {"archive/front_end.h", "inspect/inspection.h", "model/front_end.h"}

# Headers of operating systems, and <cerrno>, which has their error codes. Only `os/` folders may include them.
SYSTEM = re.compile(
    r"(sys|linux|asm|net|netinet|arpa)/|c?(errno|signal)(\.h)?$"
    r"|(unistd|fcntl|dirent|dlfcn|fnmatch|ftw|glob|grp|poll|pthread|pwd|sched|semaphore|spawn|strings|syslog|termios"
    r"|utime|windows|winsock2|io|direct|process)\.h$"
)
WITH_SYSTEM = ("src/os/", "tools/onnxar/os/")

# Macros that tell the platform. Headers that choose for all others: handles, and how functions are exported.
PLATFORM = re.compile(r"^[ \t]*#[ \t]*(?:el)?if.*\b_*(WIN32|WIN64|APPLE|linux|unix|ANDROID|MINGW32|MINGW64|FreeBSD)_*\b", re.MULTILINE)
WITH_PLATFORM = {"include/onnxar/version.h", "include/onnxar/onnxar_c.h", "src/c/boundary.h"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)
SUFFIXES = {".h", ".cc", ".inc"}


def reach(layer):
    """The layer and all layers below it."""
    return {layer}.union(*(reach(below) for below in BELOW[layer]))


def layer_of(include):
    """Returns the layer of an included file; None for a system header. KeyError: unknown public header."""
    folder, _, name = include.partition("/")
    if folder == "onnxar":
        return PUBLIC[name]
    return folder if folder in BELOW and name else None


def faults(files):
    """Returns the faults in `files`, a mapping of path (relative to the root) to text."""
    found = []
    for path, text in sorted(files.items()):
        parts = pathlib.PurePosixPath(path).parts
        for include in INCLUDE.findall(text):
            complaint = fault(parts, include, files)
            if complaint:
                found.append(f"{path}: #include {include}: {complaint}")
    return found


def platform_faults(files):
    """Files that choose by the platform outside the folders os/."""
    return [
        path
        for path, text in sorted(files.items())
        if path not in WITH_PLATFORM and not path.startswith((*WITH_SYSTEM, "tests/support/")) and PLATFORM.search(text)
    ]


def is_seam(parts):
    """Whether a header is directly in os/, so that the rooms above may include it."""
    return len(parts) == 3 and parts[2].endswith(".h")


def fault(parts, include, files):
    if parts[0] != "python" and SYSTEM.match(include) and not "/".join(parts).startswith(WITH_SYSTEM):
        return "only the folders os/ include headers of an operating system"
    if parts[:2] == ("src", "os") and is_seam(parts) and SYSTEM.match(include):
        return "the headers of the seam include none of the system's"
    if parts[:2] != ("src", "os") and include.startswith("os/") and include.count("/") > 1:
        return "only os/ includes the headers of one system"
    try:
        target = layer_of(include)
        if parts[0] == "python" and target in WITH_PROTOBUF:
            return "the Python module does not use protobuf"
        if parts[:2] == ("tools", "onnxar") and f"tools/onnxar/{include}" in files:
            return None  # the command has a separate os/
        if parts[0] == "tools" and include in FOR_THE_COMMAND:
            return None
        if parts[0] in ("tools", "python"):
            private = target and not include.startswith("onnxar/")
            return f"{parts[0]} may use public headers only" if private else None
        layer = PUBLIC["/".join(parts[2:])] if parts[0] == "include" else parts[1]
    except KeyError as unknown:
        return f"unknown public header {unknown}; add it to PUBLIC with its layer"
    if layer not in BELOW:
        return f"unknown layer {layer}"
    if target and target not in reach(layer):
        return f"{layer} may not use {target}"
    if parts[0] == "include" and target and not include.startswith("onnxar/"):
        return "a public header may not use a private one"
    if layer not in WITH_PROTOBUF and (include.startswith("google/protobuf") or include.endswith(".pb.h")):
        return "core does not use protobuf"
    if target and not include.startswith("onnxar/") and f"src/{include}" not in files:
        return "no such file"
    return None


def sources(*folders):
    return {
        path.relative_to(ROOT).as_posix(): path.read_text()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in SUFFIXES
    }


class Sources(unittest.TestCase):
    def test_arrows_point_down(self):
        found = faults(sources("src", "include", "tools", "python"))
        self.assertFalse(found, "\n" + "\n".join(found))

    def test_only_os_chooses_by_the_platform(self):
        files = sources("src", "include", "tools", "examples", "tests/support")
        self.assertEqual(platform_faults(files), [], "put what differs into a file of each folder of os/")

    def test_every_public_header_has_a_layer(self):
        folder = ROOT / "include/onnxar"
        headers = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        self.assertEqual(headers - PUBLIC.keys(), set(), "add them to PUBLIC with their layer")

    def test_every_public_header_shows_what_it_declares(self):
        # All code is compiled with hidden visibility: symbols of a plain namespace would be missing from shared libraries.
        for path, text in sources("include").items():
            if "\nnamespace " in text and not path.endswith("/onnxruntime.h"):  # that one is all inline
                self.assertRegex(text, r"(?m)^namespace ONNXAR_API onnxar \{$", path)
                self.assertNotRegex(text, r"(?m)^namespace onnxar", path)

    def test_own_headers_are_included_by_their_whole_name(self):
        # "x.h" for a neighbour would hide an arrow from this test.
        for path, text in sources("src", "include").items():
            for include in re.findall(r'#include "([^"]+)"', text):
                self.assertIn(include.split("/")[0], ["onnxar", *BELOW], f"{path}: {include}")


class Checker(unittest.TestCase):
    """Tests of the checker itself."""

    ROOMS = ("os", "os/posix", "os/windows", "base", "zip", "onnx", "archive", "model")
    FILES = {**{f"src/{room}/a.h": "" for room in ROOMS}, "tools/onnxar/os/b.h": ""}

    def test_finds_macros_of_platforms(self):
        for line in ("#ifdef _WIN32", "#if defined(__APPLE__)", "#  elif defined( __linux__ ) && 1", "#ifndef __unix__"):
            with self.subTest(line=line):
                self.assertEqual(platform_faults({"src/base/x.cc": f"\n{line}\n"}), ["src/base/x.cc"])
                self.assertEqual(platform_faults({"src/os/posix/x.cc": f"{line}\n"}), [])
        self.assertEqual(platform_faults({"src/base/x.cc": "// #ifdef _WIN32\n#ifdef __x86_64__\n"}), [])

    def complains(self, path, include):
        return bool(faults({**self.FILES, path: f"#include {include}\n"}))

    def assert_complaints(self, expected, arrows):
        for path, includes in arrows.items():
            for include in includes:
                with self.subTest(path=path, include=include):
                    self.assertEqual(self.complains(path, include), expected)

    def test_refuses_bad_arrows(self):
        self.assert_complaints(True, {
            "src/base/x.h": ('"zip/a.h"', '"onnxar/surprise.h"'),
            "src/base/x.cc": ("<sys/mman.h>", "<cerrno>", '"os/posix/a.h"', '"os/windows/a.h"'),
            "src/os/x.h": ('"base/a.h"', "<fcntl.h>"),
            "src/os/posix/x.cc": ('"onnxar/error.h"',),
            "src/zip/x.h": ('"onnx/a.h"', '"base/missing.h"'),
            "src/onnx/x.h": ('"archive/a.h"',),
            "src/archive/x.h": ('"onnxar/convert.h"', "<onnxar/convert.h>"),
            "src/convert/x.cc": ("<unistd.h>", '"model/a.h"', '"onnxar/link.h"', '"onnxar/onnxar_c.h"', "<google/protobuf/message.h>",
                                 '"onnxar/onnx.pb.h"'),
            "src/c/x.cc": ('"onnxar/model/model.h"',),
            "src/surprise/x.h": ('"base/a.h"',),
            "include/onnxar/bytes.h": ("<sys/types.h>", '"onnxar/archive.h"'),
            "include/onnxar/archive.h": ('"base/a.h"',),
            "tools/onnxar/main.cc": ("<csignal>",),
            "tools/onnxar/shell/os.cc": ("<unistd.h>",),
            "tools/onnxar/pack.cc": ('"archive/a.h"', '"os/a.h"', '"onnxar/surprise.h"'),
            "python/src/x.cc": ('"archive/a.h"', '"onnxar/model/model.h"'),
        })  # fmt: skip

    def test_accepts_good_arrows(self):
        self.assert_complaints(False, {
            "src/base/x.cc": ("<zlib.h>", '"os/a.h"', "<system_error>"),
            "src/os/posix/x.cc": ("<sys/mman.h>", '"os/posix/a.h"'),
            "src/os/posix/x.h": ("<sys/stat.h>",),
            "src/zip/x.h": ('"base/a.h"',),
            "src/zip/x.cc": ('"os/a.h"',),
            "src/convert/x.cc": ('"onnx/a.h"', '"onnxar/archive.h"'),
            "src/model/x.cc": ('"onnxar/onnx.pb.h"',),
            "src/c/x.cc": ('"onnxar/archive.h"',),
            "include/onnxar/archive.h": ('"onnxar/bytes.h"',),
            "tools/onnxar/os/x.cc": ("<unistd.h>",),
            "tools/onnxar/pack.cc": ('"onnxar/convert.h"', "<CLI/CLI.hpp>", '"verbs.h"', '"os/b.h"'),
            "python/src/x.cc": ('"onnxar/convert.h"',),
        })  # fmt: skip


if __name__ == "__main__":
    unittest.main()
