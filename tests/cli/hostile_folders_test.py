"""`pack` of folders that attack it: links, devices, names, data, outputs and manifests. What it refuses leaves no trace, and what
lies outside the folder is neither read nor written."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from support import command_line
from support import wire_writer as wire
from support.command_line import DONE, FORMAT, IO, MIB, USAGE, ToolCase, entries_of, run, start

SECRET = b"TOPSECRET" * 150
PLAIN, OTHER = wire.plain(wire.tensor("w")), wire.plain(wire.tensor("other"))
ASSET = "sha256:" + "a" * 64
ORT = {"executor_info": {"ort": {"model_file": "model.onnx"}}}
OUT = "leads out of the folder by a link"
SLOW = 10  # seconds: no case may come near to this


class Case(NamedTuple):
    """The path in the folder, what is there, and how packing ends: the exit code, and words of the message."""

    name: str
    content: bytes | Callable[[Path], None]
    code: int
    words: str


def to(target: str) -> Callable[[Path], None]:
    """Makes a symbolic link."""
    return lambda path: path.symlink_to(target)


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))


def device(path: Path) -> None:
    os.mknod(path, 0o20666, os.makedev(1, 5))


def at(location: str, count: int = 300) -> bytes:
    """A model whose data is at this location."""
    return wire.plain(wire.fields_of("q", wire.FLOAT, [count], wire.DataFile(location).link(length=4 * count)))


LINKS = [
    *(Case("x.txt", to(target), USAGE, OUT)
      for target in ("../../secret", "../../outside/s.txt", "/etc/passwd", "/dev/zero", "/dev/stdin", "/proc/self/mem",
                     "/proc/self/environ", "../../outside/pipe", "../in/../../secret")),
    *(Case(f"{folder}/x.txt", to("../../../secret"), USAGE, f"--exclude {folder}/x.txt") for folder in ("sub", "a b", "-rf")),
    *(Case("d", to(target), USAGE, "is a link to a folder") for target in (".", "..", "/", "../../outside", "/proc/self/cwd")),
    *(Case(name, to("../../secret"), USAGE, OUT) for name in ("manifest.json", "genai_config.json", "config.json", "a.ONNX")),
    *(Case("manifest.json", to(target), USAGE, "manifest.json: ") for target in ("/dev/zero", "manifest.json", ".")),
    *(Case("m.onnx", to(target), USAGE, f"{OUT}, or in a circle; replace it by a copy; or leave it out with --exclude m.onnx")
      for target in ("../../secret", "../../outside/v.onnx", "/dev/zero", "../../outside/pipe", "/etc/passwd", "m.onnx")),
    Case("a b/m.onnx", to("../../../outside/v.onnx"), USAGE, "--exclude a b/m.onnx"),
    *(Case("x.txt", to(target), IO, "--exclude x.txt") for target in ("nothing", "model.onnx/x", "model.onnx/..", "a" * 300, "a/" * 2000)),
    *(Case("m.onnx", to(target), IO, "--exclude m.onnx") for target in ("nothing", "model.onnx/x")),
    Case("x.txt", to("x.txt"), USAGE, "--exclude x.txt"),
    *(Case(name, to("../../secret"), DONE, "left out: 1 with a name that begins with a dot") for name in (".hidden", ".onnx", "sub/.x")),
    *(Case(name, to("model.onnx"), DONE, "packed") for name in ("x.txt", "m.onnx")),
]  # fmt: skip

SPECIAL = [
    Case(name, make, IO, words)
    for name in ("p.txt", "d/p", "m.onnx", "manifest.json", "genai_config.json")
    for make, words in ((os.mkfifo, "is not a regular file"), (bound, "cannot open"), (device, "is not a regular file"))
]

CHARACTER, DEVICE, END = "error[zip.name.character]", "error[zip.name.device]", "error[zip.name.part_end]"
RESERVED, KEY = "error[archive.name.reserved]", "C identifiers are keys of tensors"
NAMES = [
    *(Case(name, b"1", FORMAT, CHARACTER)
      for name in ("a\nb.txt", "a\rb.txt", "\x1b[31m.txt", "\x1b]0;t\x07.txt", "\x7f.txt", "\x9b31m.txt", "\udcff.txt", "\udc9b.txt", "e\u0301.txt",
                   "é.txt", "\u202egnp.txt", "ﬀ.txt", "İ.txt", "ß.txt", "COM¹.txt", "a:b.txt", "a\\b.txt", "a;1", 'a"b.txt', "a|b",
                   "a*", "a?", "a<b", "C:x.txt", "\n/x.txt", "é/x.txt")),
    *(Case(name, PLAIN, FORMAT, CHARACTER) for name in ("a:b/m.onnx", "é.onnx", "\x1b[31m.onnx")),
    *(Case(name, b"1", FORMAT, DEVICE)
      for name in ("con.txt", "NUL.json", "aux.d/x.txt", "lpt1.a.b", "conin$.txt", "sub/prn.txt", "com1/x.txt")),
    *(Case(name, b"1", FORMAT, END) for name in ("trail ", "trail.txt.", "sub./x.txt", "a b /x.txt", "x. .", "x...")),
    *(Case(name, b"1", FORMAT, RESERVED) for name in ("__model_proto", "__MODEL_PROTO.txt", "__MACOSX/x.txt", "__A", "__Z/x.txt")),
    *(Case(name, b"1", USAGE, KEY) for name in ("w", "CON", "model", "license", "_", "x" * 255)),
    Case("/".join(["d" * 200] * 6) + "/x.txt", b"1", FORMAT, "error[zip.name.too_long]"),
    Case("__MODEL_PROTO", b"1", FORMAT, "__MODEL_PROTO: "),
    Case("__MODEL_PROTO/x.txt", b"1", IO, "__MODEL_PROTO: is a folder"),
    Case("nul.onnx", PLAIN, FORMAT, DEVICE),
    *(Case(name, PLAIN, DONE, "1 graph") for name in ("a.onnx.onnx", "-f.onnx", "$(id).onnx", "x" * 250 + ".onnx", "manifest.json.onnx")),
    *(Case(name, b"1", DONE, "1 side file")
      for name in (" lead.txt", "-rf.txt", "--force", "a=b", "$(id).txt", "%s%n.txt", "a'b", "`id`", "w/x.txt", "W.txt", "model/x.txt", "LICENSE")),
    *(Case(name, b"1", DONE, "left out: 1 with a name that begins with a dot") for name in ("..x", "...", ".. /x", ".git/config", ".ssh/x")),
]  # fmt: skip

PAIRS = [
    (("a.txt", "A.txt"), "zip.name.folded"), (("d/a.txt", "D/a.txt"), "zip.name.folded"), (("m.onnx", "M.onnx"), "zip.name.folded"),
    (("m.onnx", "M.ONNX"), "zip.name.folded"), (("Model.onnx", "x.txt"), "zip.name.folded"), (("d.x", "D.X/a.txt"), "zip.name.prefix"),
    (("M.onnx", "m.ONNX/a.txt"), "zip.name.prefix"), (("model.ONNX/a.txt", "x.txt"), "zip.name.prefix"),
    (("é.txt", "e\u0301.txt"), "zip.name.character"), (("K.txt", "\u212a.txt"), "zip.name.character"),
]  # fmt: skip

LOCATIONS = [
    *(("bad_location", location) for location in ("../secret", "./../secret", "sub/../../secret", "..", "a/..", "/dev/zero", "/etc/passwd", "\0", "a\0b")),
    *(("missing", location)
      for location in ("~/x", ".", "C:\\x", "..\\secret", "file:///etc/passwd", "\n", "\x1b[31m", "é", "model.onnx/", "a" * 5000,
                       "a/" * 3000 + "b", "pipe", "sub")),
    *(("outside", location) for location in ("lnk", "lnk2", "dlnk/s.txt")),
    ("no_location", ""), ("marker", "*/_ORT_MEM_ADDR_/*"),
]  # fmt: skip


class HostileCase(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        self.on_posix("its file systems refuse such folders themselves")
        self.home, self.count = self.folder, 0

    def fresh(self, files: Iterable[tuple[str, bytes]] = (("model.onnx", PLAIN),)) -> Path:
        """The folder to pack, in a new surrounding with things that it must not reach."""
        self.count += 1
        self.folder = self.home / str(self.count)
        self.write("secret", SECRET)
        self.write("outside/s.txt", SECRET)
        self.write("outside/d.data", SECRET)
        self.write("outside/v.onnx", OTHER)
        os.mkfifo(self.folder / "outside/pipe")  # who reads it waits for ever
        for name, data in files:
            self.write(f"top/in/{name}", data)
        self.output = self.folder / "out.onnxar"
        return self.folder / "top/in"

    def ends(self, code: int, words: str, *arguments: object) -> str:
        """Runs the command, which changes nothing unless it succeeds, and then only the output. Returns what it said."""
        before = command_line.snapshot(self.folder)
        done = run(*arguments, cwd=self.folder, timeout=SLOW)
        after = command_line.snapshot(self.folder)
        if done.returncode == DONE:
            after.pop(self.output.name, None)
            before.pop(self.output.name, None)
            self.assertNotIn(SECRET[:18], self.output.read_bytes())
        self.assertEqual(after, before, done.stderr)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertNotIn("TOPSECRET", done.stderr)
        self.assertTrue(done.stderr.replace("\n", "").isprintable() and len(done.stderr) < 12_000, done.stderr)
        if code != DONE:
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def packs(self, code: int, words: str, *options: object) -> str:
        return self.ends(code, words, "pack", "top/in", "-o", self.output, "--no-sync", *options)

    def make(self, root: Path, name: str, content: bytes | Callable[[Path], None]) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            content(path)

    def go(self, cases: Iterable[Case]) -> None:
        for case in cases:
            with self.subTest(name=case.name, code=case.code):
                root = self.fresh()
                try:
                    self.make(root, case.name, case.content)
                except PermissionError:
                    continue  # an ordinary user makes no devices
                self.packs(case.code, case.words)


class Folders(HostileCase):
    def test_links_do_not_lead_out(self) -> None:
        self.go(LINKS)

    def test_special_files_are_not_opened(self) -> None:
        self.go(SPECIAL)

    def test_names_are_refused_or_kept(self) -> None:
        self.go(NAMES)

    def test_names_that_clash_are_refused(self) -> None:
        for names, code in PAIRS:
            with self.subTest(names=names):
                self.fresh([("model.onnx", PLAIN), *((name, PLAIN) for name in names)])
                self.packs(FORMAT, f"error[{code}]")

    def test_two_links_in_a_circle(self) -> None:
        root = self.fresh()
        (root / "x").symlink_to("y")
        (root / "y").symlink_to("x")
        self.packs(USAGE, "top/in/x: leads out of the folder by a link, or in a circle")

    def test_long_chain_of_links(self) -> None:
        root = self.fresh()
        for number in range(60):
            (root / f"l{number}.txt").symlink_to(f"l{number + 1}.txt")
        (root / "l60.txt").write_bytes(b"1")
        self.packs(USAGE, "--exclude l0.txt")

    def test_hard_links_are_files(self) -> None:
        root = self.fresh()
        os.link(root / "model.onnx", root / "m.onnx")
        os.link(root / "model.onnx", root / "x.bin")
        self.packs(DONE, "1 side file, 1 graph")

    def test_path_longer_than_the_system_allows(self) -> None:
        root = self.fresh()
        here = os.open(root, os.O_RDONLY)
        for _ in range(30):
            os.mkdir("d" * 200, dir_fd=here)
            here, last = os.open("d" * 200, os.O_RDONLY, dir_fd=here), here
            os.close(last)
        os.close(here)
        done = run("pack", "top/in", "-o", self.output, cwd=self.folder, timeout=SLOW)
        self.assertEqual(done.returncode, IO, done.stderr)
        self.assertIn("cannot list the folder", done.stderr)
        self.assertLess(len(done.stderr), 5000)
        self.assertEqual(sorted(os.listdir(self.folder)), ["outside", "secret", "top"])
        subprocess.run(["rm", "-rf", root], check=True)  # Python 3.11 cannot remove it
        self.assertFalse(root.exists())


class Data(HostileCase):
    def test_locations_do_not_lead_out(self) -> None:
        for name in ("model.onnx", "sub/m.onnx"):
            for code, location in LOCATIONS:
                with self.subTest(name=name, location=location):
                    root = self.fresh([("model.onnx", PLAIN), (name, at(location))])
                    place = (root / name).parent
                    out = os.path.relpath(self.folder, place)
                    for link, target in (("lnk", f"{out}/secret"), ("lnk2", "lnk"), ("dlnk", f"{out}/outside")):
                        (place / link).symlink_to(target)
                    os.mkfifo(place / "pipe")
                    self.packs(FORMAT, f"error[onnx.external_data.{code}]", "--exclude", "*lnk*", "--exclude", "*pipe")

    def test_data_of_a_model_that_is_a_link(self) -> None:
        """A cache of Hugging Face has such links; the data of other models is not read there."""
        root = self.fresh([("model.onnx", PLAIN)])
        self.write("outside/v.onnx", at("d.data"))
        (root / "m.onnx").symlink_to("../../outside/v.onnx")
        done = run("pack", "top/in", "-o", self.output, cwd=self.folder)
        self.assertNotEqual(done.returncode, DONE)
        self.assertFalse(self.output.exists())


class Outputs(HostileCase):
    def test_outputs_that_cannot_be_written(self) -> None:
        cases = [
            ("top/in", IO, "is a folder"), ("top/in/", IO, "is a folder"), ("outside", IO, "is a folder"), ("missing/x", IO, "error[io.not_found]"),
            ("outside/pipe", IO, "cannot be replaced"), ("/dev/null", IO, "cannot be replaced"), ("/dev/full", IO, "cannot be replaced"),
            ("loop", IO, "Too many levels"), ("folder", IO, "is a folder"), ("-", USAGE, "error[usage.argument]"), ("", USAGE, "empty value"),
            ("secret/x", IO, "secret"), ("top/in/model.onnx/x", IO, "model.onnx"), ("x" * 300, IO, "too long"),
        ]  # fmt: skip
        for output, code, words in cases:
            for options in ((), ("-f",)):
                with self.subTest(output=output, options=options):
                    self.fresh()
                    (self.folder / "loop").symlink_to("loop")
                    (self.folder / "folder").symlink_to("outside")
                    self.ends(code, words, "pack", "top/in", "-o", output, *options)

    def test_existing_output_stays_without_force(self) -> None:
        for name in ("secret", "top/in/model.onnx", "hard", "soft"):
            with self.subTest(name=name):
                self.fresh()
                os.link(self.folder / "secret", self.folder / "hard")
                (self.folder / "soft").symlink_to("secret")
                self.ends(USAGE, "error[output.exists]", "pack", "top/in", "-o", name)

    def test_hard_link_of_the_output_keeps_its_bytes(self) -> None:
        self.fresh()
        os.link(self.folder / "secret", self.output)
        self.packs(DONE, "packed", "-f")
        self.assertEqual((self.folder / "secret").read_bytes(), SECRET)

    def test_options_cannot_name_what_is_outside(self) -> None:
        cases = [
            (("--add", "../x=secret"), FORMAT, "zip.name.part"), (("--add", "/x=secret"), FORMAT, "zip.name.absolute"),
            (("--rename", "x.txt=../x"), FORMAT, "zip.name.part"), (("--rename", "x.txt=/x"), FORMAT, "zip.name.absolute"),
            (("--rename", "x.txt=\x1b[31m"), FORMAT, "zip.name.character"), (("--rename", "x.txt=__MODEL_PROTO"), FORMAT, "archive.name.reserved"),
            (("--rename", "x.txt=a.b", "--rename", "x.txt=c.d"), USAGE, "two new names"), (("--rename", "none=a.txt"), USAGE, 'cannot rename "none"'),
            (("--rename", "x.txt="), USAGE, "--rename wants OLD=NEW"), (("--exclude", ""), USAGE, "empty value"),
            (("--first", "../in/model"), USAGE, "has no model"), (("--first", "\x1b[31m"), USAGE, "has no model"),
            (("--model", "model"), USAGE, "error[usage.argument]"), (("--exclude", "*"), IO, "error[io.not_a_file]"),
        ]  # fmt: skip
        for options, code, words in cases:
            with self.subTest(options=options):
                self.fresh([("model.onnx", PLAIN), ("x.txt", b"1")])
                self.packs(code, words, *options)


def manifest(folder: object, **more: object) -> bytes:
    ort = {"model_file": "model.onnx", "session_options": {"session.model_external_initializers_file_folder_path": folder}}
    variants = {"cpu": {"executor_info": {"ort": ort}}}
    return json.dumps({"schema_version": "1.0", "components": {"m": {"variants": variants}}, **more}).encode()


class Manifests(HostileCase):
    def test_folder_of_data_stays_in_the_package(self) -> None:
        absolute = str(self.home / "1/outside")
        folders = ["../store", "../../../outside", absolute, "../dl", "dl", "../store/../dl", "..", "../..", "", "~", "\0", "//store", "..\\store",
                   f"{ASSET}/x", "sha256:../outside", ASSET, None, 5, [], {}]  # fmt: skip
        assets: list[object] = [{ASSET: each} for each in ("../outside", "../../outside", absolute, "dl", "../in/store", {"path": "dl"}, ["store"], None, 5, "~")]
        cases = [(each, {}) for each in folders] + [(ASSET, {"shared_assets": each}) for each in [*assets, [ASSET], "dl", {"sha256:..": "dl"}]]
        for folder, more in cases:
            with self.subTest(folder=folder, more=more):
                root = self.fresh([("cpu/model.onnx", at("d.data")), ("manifest.json", manifest(folder, **more)), ("store/d.data", b"z" * 1200)])
                (root / "dl").symlink_to("../../outside")
                (root / "cpu/dl").symlink_to("../../../outside")
                self.packs(FORMAT, "error[onnx.external_data.", "--exclude", "*dl")

    def test_data_in_the_folder_that_is_named(self) -> None:
        for folder, where, more in (("store", "cpu/store", {}), (ASSET, "store", {"shared_assets": {ASSET: "store"}})):
            self.fresh([("cpu/model.onnx", at("d.data")), ("manifest.json", manifest(folder, **more)), (f"{where}/d.data", b"z" * 1200)])
            self.packs(DONE, "packed without the folders of data")
            self.assertNotIn(b"session.model", entries_of(self.output)["manifest.json"])

    def test_text_that_is_not_a_manifest_is_kept(self) -> None:
        good = json.dumps({"schema_version": "1.0", "components": {"m": {"variants": {"cpu": ORT}}}})
        deep = good[:-1] + ', "x": '
        texts: list[bytes] = [
            b"\xef\xbb\xbf" + good.encode(), good.encode("utf-16"), good.encode() + b" x", good.encode() + b"\0", b"// c\n" + good.encode(),
            good.replace('"', "'").encode(), good.replace('"1.0"', '"1.0", "x": NaN').encode(), good.replace('"1.0"', "1e999").encode(),
            (good[:-1] + ', "components": {}}').encode(), good.replace('"1.0"', '"2.0"').encode(), good.replace('"1.0"', "null").encode(),
            good.replace('"1.0"', '"\\u001b[31m"').encode(), good.replace('"1.0"', '"' + "x" * 100_000 + '"').encode(),
            good.replace("1.0", "1.0\udcff").encode("utf-8", "surrogateescape"), good.replace('"m"', '"\\ud800"').encode(),
            (deep + "[" * 10_000 + "]" * 10_000 + "}").encode(), (deep + "[" * 1_000_000).encode(), (deep + '{"a":' * 100_000).encode(),
            (deep + "9" * 100_000 + "}").encode(), b"", b"\0" * 100, good.encode() + b" " * (17 * MIB),
        ]  # fmt: skip
        for text in texts:
            with self.subTest(text=text[:200], size=len(text)):
                self.fresh([("cpu/model.onnx", PLAIN), ("manifest.json", text)])
                self.packs(DONE, "packed")
                self.assertEqual(entries_of(self.output)["manifest.json"], text)


class Changes(HostileCase):
    """A folder that changes while it is packed gives an error, or the archive of one state."""

    SIZE = 150 * MIB

    def test_large_file_that_is_cut_or_written(self) -> None:
        def write(path: Path) -> None:
            with open(path, "r+b") as file:
                file.seek(self.SIZE - 100)
                file.write(b"changed")

        for name, model in (("big.bin", PLAIN), ("d.data", wire.plain(wire.fields_of("q", wire.UINT8, [self.SIZE], wire.DataFile("d.data").link(length=self.SIZE))))):
            for change in (write, lambda path: os.truncate(path, self.SIZE // 2)):
                path = self.fresh([("model.onnx", model), (name, b"")]) / name
                os.truncate(path, self.SIZE)
                process = start("pack", self.folder / "top/in", "-o", self.output, "--no-sync", "-q", stderr=-1)
                time.sleep(0.04)
                change(path)
                said = process.communicate(timeout=SLOW)[1].decode()
                if process.returncode == DONE:  # it was faster, or slower
                    self.succeeds("check", "-q", self.output)
                else:
                    self.assertIn(process.returncode, (IO, FORMAT), said)
                    self.assertIn("error[io.changed]" if process.returncode == IO else "out_of_range", said)
                    self.assertFalse(self.output.exists())
                self.assertEqual(sorted(set(os.listdir(self.folder)) - {"out.onnxar"}), ["outside", "secret", "top"])
                shutil.rmtree(self.folder)


if __name__ == "__main__":
    command_line.main()
