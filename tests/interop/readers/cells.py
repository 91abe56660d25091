"""Runs cells of the interoperability matrix: one tool on one form of one model, compared with the plain model."""

from __future__ import annotations

import re
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interop.readers import forms
from interop.readers.tools import HERE, Tool

TIMEOUT = 900  # seconds, for one job; those of a process share them
LONGEST_MESSAGE = 300
REFUSED = "refused: "  # a cell that begins with it ends with the tool's message


class Job(NamedTuple):
    made: forms.Forms
    form: str


class Result(NamedTuple):
    ran: bool
    output: Any = None  # an array, or what the tool says
    message: str = ""


def tidy(message: str, folder: Path) -> str:
    """The message in one line, without the paths of this machine."""
    message = re.sub(r"\x1b\[[0-9;]*m", "", message)
    message = re.sub(rf"{re.escape(str(folder.resolve().parent))}/\w+(/outputs/\w+(/tmp\w+)?)?", "FOLDER", message)
    message = " ".join(re.sub(r"0x[0-9a-f]{8,}", "...", message.replace(str(HERE.parents[2]), "...")).split())
    return message if len(message) <= LONGEST_MESSAGE else message[: LONGEST_MESSAGE - 3] + "..."


def last_words(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode < 0:
        return f"the process ends by signal {signal.Signals(-done.returncode).name}"
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"the process ends with {done.returncode}, without a word"


def output_of(path: Path) -> Any:
    text = path.read_text()
    return forms.read_array(path) if re.match(r"[\d ]*\n[-\d]", text) else text


def run_together(tool: Tool, jobs: list[Job]) -> list[Result | None]:
    """Runs the jobs in one process. None: the process ended before it was done with this job."""
    home = jobs[0].made.outputs
    home.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home) as name:
        outputs = [Path(name).resolve() / f"{number}.txt" for number in range(len(jobs))]
        lines = [f"{job.made.path(job.form).resolve()}\t{job.made.input.resolve()}\t{output}\n" for job, output in zip(jobs, outputs, strict=True)]
        listed = Path(name).resolve() / "jobs"
        listed.write_text("".join(lines))
        try:
            done = subprocess.run([*tool.command(), str(listed)], cwd=HERE, capture_output=True, text=True, errors="replace",
                                  timeout=TIMEOUT * len(jobs), check=False)  # fmt: skip
            words = last_words(done)
        except subprocess.TimeoutExpired:
            words = f"does not end in {TIMEOUT * len(jobs)} seconds"
        results: list[Result | None] = []
        for job, output in zip(jobs, outputs, strict=True):
            refused = output.with_name(output.name + ".refused")
            if refused.exists():
                results.append(Result(False, message=tidy(refused.read_text(), job.made.folder)))
            elif output.exists():
                results.append(Result(True, output_of(output)))
            else:
                results.append(Result(False, message=tidy(words, job.made.folder)) if len(jobs) == 1 else None)
        return results


def run(tool: Tool, jobs: list[Job]) -> list[Result]:
    """Runs all jobs in one process; those that a crash left over, each in a process of its own."""
    return [result or run_together(tool, [job])[0] or Result(False) for job, result in zip(jobs, run_together(tool, jobs), strict=True)]


def is_same(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one == other
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-5, atol=1e-6))


def judged(plain: Result, result: Result) -> str:
    """A form may run where the plain model does not: data in the message may be too large, for example."""
    if not plain.ran:
        return "ran alone" if result.ran else "plain refused"
    if not result.ran:
        return REFUSED + result.message
    return "same" if is_same(plain.output, result.output) else "wrong"


def rows(tool: Tool, made: list[forms.Forms]) -> dict[str, dict[str, str]]:
    """The cells of a tool by model and form, run together; the first form is the plain model."""
    jobs = [Job(each, form) for each in made for form in tool.forms(each.model)]
    results = iter(run(tool, jobs))
    found = {}
    for each in made:
        plain = next(results)
        found[each.model] = {"plain": "ran" if plain.ran else REFUSED + plain.message}
        found[each.model] |= {form: judged(plain, next(results)) for form in tool.forms(each.model)[1:]}
    return found
