"""Eight processes edit, undo, repack and read one archive: every read is of one state that existed.

Usage: ONNXAR=path/to/onnxar ONNXAR_RACE_READER=path/to/onnxar_race_reader PYTHONPATH=tests races_test.py [SECONDS]

Three processes replace the model and add or remove side files; one of these is interrupted or killed now and then. One
undoes edits, and recovers the archive after a kill. One repacks the archive onto itself. Three read: the command line,
and reader.cc with a mapping and with a copy. Runs for 5 seconds, or for longer until each of them succeeded a few times.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import states

from support import command_line
from support.command_line import DONE, FolderCase, run, start

SECONDS = int(sys.argv.pop()) if sys.argv[-1].isdigit() else 5
PATIENCE = 120  # seconds that the run may take longer until each kind of work succeeded
ENOUGH = 3  # successes of each kind

MEANWHILE = {"archive.busy", "archive.torn", "io.changed"}  # an edit is at work, was interrupted, came between
EXPECTED = {
    "replace": MEANWHILE | {"usage.no_such_entry", "killed"},  # extra.txt may be absent when it is to be removed
    "undo": MEANWHILE | {"usage.nothing_to_undo"},
    "recover": {"archive.busy"},
    "repack": MEANWHILE,
    "check": MEANWHILE,
    "ls": MEANWHILE,
    "cat": MEANWHILE,
    "unpack": MEANWHILE,
    "mapped": MEANWHILE | {"shortened"},  # of a mapped file `undo` cuts the end off
    "copied": MEANWHILE,
}


@dataclass
class Try:
    """One run of a verb or one try of a reader."""

    verb: str
    began: int  # nanoseconds of the monotonic clock
    ended: int
    fault: str = ""  # the code of an error; empty if it succeeded
    serial: int | None = None  # of the state that was written or read, if it tells
    weights: list[str] | None = None  # of the state that was read
    said: str = ""


def code_in(said: str) -> str:
    found = re.search(r"error\[([a-z0-9_.]+)\]", said)
    return found[1] if found else f"an error without a code: {said}"


class Race:
    """The archive, the processes, and what each of them saw."""

    def __init__(self, home: Path) -> None:
        self.raced, self.parts = home / "raced", home / "parts"
        self.raced.mkdir()
        self.parts.mkdir()
        self.archive = self.raced / "model.onnxar"
        self.tries: list[Try] = []  # appended by several threads
        self.serials = itertools.count(1)
        self.stop = threading.Event()
        self.random = random.Random()

    # --- writers ---

    def make(self) -> None:
        model, side_file = states.write_parts(self.parts, 0)
        added = ["--add", f"state.txt={side_file}", "--add", f"extra.txt={side_file}"]
        made = run("pack", model, "-o", self.archive, "--no-sync", *added)
        assert made.returncode == DONE, made.stderr

    def run(self, verb: str, *arguments: object, serial: int | None = None, kill: bool = False) -> tuple[Try, bytes]:
        """Runs a verb on the archive, and records how it ended."""
        began = time.monotonic_ns()
        process = start(verb, self.archive, *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if kill:
            time.sleep(self.random.uniform(0, self.usual_time(verb)))
            process.send_signal(self.random.choice((signal.SIGKILL, signal.SIGINT, signal.SIGTERM)))
        output, said = process.communicate()
        done = Try(verb, began, time.monotonic_ns(), serial=serial, said=said.decode(errors="replace"))
        if process.returncode != DONE:
            told = done.said + output.decode(errors="replace")
            done.fault = "killed" if kill and "error[" not in told else code_in(told)
        self.tries.append(done)
        return done, output

    def usual_time(self, verb: str) -> float:
        """The seconds that the last success of this verb took."""
        times = (each.ended - each.began for each in reversed(self.tries) if each.verb == verb and not each.fault)
        return next(times, 0) / 1e9

    def replace(self, kill: bool = False) -> None:
        serial = next(self.serials)
        model, side_file = states.write_parts(self.parts, serial)
        extra = ["--add", f"extra.txt={side_file}"] if states.has_extra(serial) else ["--remove", "extra.txt"]
        sync = [] if kill or serial % 8 == 0 else ["--no-sync"]  # a sync leaves time for a kill
        self.run("replace", model, "-q", *sync, "--add", f"state.txt={side_file}", *extra, serial=serial, kill=kill)
        model.unlink()
        side_file.unlink()

    def replace_and_die(self) -> None:
        self.replace(kill=self.random.random() < 0.3)

    def undo(self) -> None:
        done, _ = self.run("undo", "-q", "-f", "--no-sync")
        if done.fault == "archive.torn":
            self.run("recover", "-q", "--no-sync")
        time.sleep(self.random.uniform(0, 0.05))  # else no archive ever has more than one edit

    def repack(self) -> None:
        self.run("repack", "-o", self.archive, "-q", "-f", "--no-sync")
        time.sleep(self.random.uniform(0, 0.3))  # else there is hardly ever an edit to undo

    # --- readers ---

    def look(self) -> None:
        self.random.choice((self.check, self.list, self.cat, self.unpack))()

    def check(self) -> None:
        self.run("check", "--data")

    def list(self) -> None:
        done, output = self.run("ls", "--json")
        if not done.fault:
            names = [entry["name"] for entry in json.loads(output)["entries"]]
            done.weights = [name for name in names if name.startswith("w")]
            done.serial = int(done.weights[-1][1:])

    def cat(self) -> None:
        done, output = self.run("cat", "--model")
        if not done.fault:
            done.serial = states.serial_in(output)
            done.fault = "" if done.serial is not None else "the model has no serial number, or several"

    def unpack(self) -> None:
        with tempfile.TemporaryDirectory(dir=self.parts) as folder:
            done, _ = self.run("unpack", "-q", "--no-sync", "-o", f"{folder}/")
            if not done.fault:
                found = states.fault_of_folder(Path(folder))
                done.serial, done.fault = (found, "") if isinstance(found, int) else (None, found)

    def read(self, how: str) -> None:
        """Takes the lines of reader.cc."""
        command = [os.environ["ONNXAR_RACE_READER"], self.archive, "1", how]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                self.tries.append(self.try_of(how, json.loads(line)))
        assert process.returncode == 0

    def try_of(self, how: str, line: dict[str, Any]) -> Try:
        done = Try(how, line["began"], line["ended"], serial=line.get("serial"), weights=line.get("weights"))
        died = line.get("signal")
        done.fault = line.get("code") or line.get("wrong") or ""
        if died is not None:
            done.fault = "shortened" if died == signal.SIGBUS else f"signal {died}"
        return done

    # --- all ---

    def succeeded_enough(self) -> bool:
        counts = Counter(each.verb for each in list(self.tries) if not each.fault)
        return all(counts[verb] >= ENOUGH for verb in EXPECTED if verb != "recover")

    def go(self, seconds: float) -> None:
        works = [self.replace, self.replace, self.replace_and_die, self.undo, self.repack, self.look]
        works += [lambda: self.read("mapped"), lambda: self.read("copied")]
        threads = [threading.Thread(target=self.repeat, args=[work]) for work in works]
        for thread in threads:
            thread.start()
        begin = time.monotonic()
        while (passed := time.monotonic() - begin) < seconds or (passed < PATIENCE and not self.succeeded_enough()):
            if self.stop.wait(0.2):
                break
        self.stop.set()
        for thread in threads:
            thread.join()

    def repeat(self, work: Callable[[], None]) -> None:
        while not self.stop.is_set():
            try:
                work()
            except BaseException:
                self.stop.set()
                raise


class Races(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.race = Race(self.folder)
        self.race.make()
        self.race.go(SECONDS)
        self.tries = sorted(self.race.tries, key=lambda each: each.ended)
        self.race.run("recover", "-q")  # a kill may have left an edit

    def test_every_read_is_of_a_state_that_existed(self) -> None:
        self.failures_are_documented()
        self.only_cuts_shorten()
        self.states_were_written()
        self.one_serial_number_is_one_state()
        self.no_edit_is_lost()
        self.the_archive_is_good_in_the_end()
        self.all_kinds_of_work_succeeded()

    def failures_are_documented(self) -> None:
        for each in self.tries:
            if each.fault:
                self.assertIn(each.fault, EXPECTED[each.verb], each)

    def only_cuts_shorten(self) -> None:
        """Undo and recover cut, and so does an edit that fails or is interrupted."""
        cuts = [each for each in self.tries if each.verb in ("undo", "recover") or (each.verb == "replace" and each.fault)]
        for each in self.tries:
            if each.fault == "shortened":
                overlap = any(cut.began <= each.ended and each.began <= cut.ended for cut in cuts)
                self.assertTrue(overlap, f"nothing was cut meanwhile: {each}")

    def edits(self, *faults: str) -> dict[int, Try]:
        """Edits that ended so, by the serial number of their state."""
        return {each.serial: each for each in self.tries if each.verb == "replace" and each.fault in faults}

    def states_were_written(self) -> None:
        written = self.edits("", "killed")
        for each in self.tries:
            if each.verb != "replace" and each.serial:
                if each.serial not in written or written[each.serial].began >= each.ended:
                    self.fail(f"this state was not written, or not yet: {each}")

    def one_serial_number_is_one_state(self) -> None:
        """What an edit began with had existed, too: so the weights of a state tell all states before it."""
        seen: dict[int, list[str]] = {0: ["w0"]}
        for each in self.tries:
            if each.weights and seen.setdefault(each.serial, each.weights) != each.weights:
                self.fail(f"state {each.serial} had also the weights {seen[each.serial]}: {each}")
        written = self.edits("", "killed").keys() | {0}
        for weights in list(seen.values()):
            self.assertLessEqual({int(name[1:]) for name in weights}, written)
            if len(weights) > 1:
                before = weights[:-1]
                self.assertEqual(seen.get(int(before[-1][1:]), before), before)

    def no_edit_is_lost(self) -> None:
        """Every edit adds a weight, which only `undo` takes away."""
        done, output = self.race.run("ls", "--json")
        self.assertEqual(done.fault, "")
        left = {int(entry["name"][1:]) for entry in json.loads(output)["entries"] if entry["name"].startswith("w")}
        lost = self.edits("").keys() - left
        undone = sum(each.verb == "undo" and not each.fault for each in self.tries)
        maybe = self.edits("killed").keys() - left  # whether these had come to an end is not known
        self.assertLessEqual(len(lost), undone)
        self.assertGreaterEqual(len(lost) + len(maybe), undone)

    def the_archive_is_good_in_the_end(self) -> None:
        self.assertEqual([path.name for path in self.race.raced.iterdir()], ["model.onnxar"])
        self.assertEqual(self.race.run("check", "--data")[0].fault, "")

    def all_kinds_of_work_succeeded(self) -> None:
        counts = Counter((each.verb, each.fault) for each in self.tries)
        if SECONDS > 5:
            for (verb, fault), count in sorted(counts.items()):
                print(f"{count:7d} {verb} {fault}".rstrip())
        self.assertTrue(self.race.succeeded_enough(), counts)


if __name__ == "__main__":
    command_line.main(__doc__)
