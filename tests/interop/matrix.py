"""The interoperability matrix: runs every tool on every form of every model, and writes tests/interop/results.json and
docs/interop.md. Cells whose tool, model and form are what they were are not run again.

Usage: ONNXAR=onnxar PYTHONPATH=tests matrix.py [--small] [--again] [TOOL...]

--small leaves out the model over 2 GiB; --again runs cells that are known; TOOL is a part of a tool's name
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from interop import cells, forms, models, page, upstream
from interop.tools import BUILD, ROOT, TOOLS, Tool

RESULTS = ROOT / "tests/interop/results.json"


def known() -> dict:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {"digests": {}, "tools": {}}


def save(results: dict) -> None:
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    results["commit"] = commit.stdout.strip()
    results["tools"] = {tool.name: results["tools"][tool.name] for tool in TOOLS if tool.name in results["tools"]}
    new = RESULTS.with_suffix(".new")
    new.write_text(json.dumps(results, indent=1, sort_keys=False, ensure_ascii=False) + "\n")
    new.replace(RESULTS)


def is_known(tool: Tool, model: str, row: dict, digest: str) -> bool:
    have = row["models"].get(model, {})
    return have.get("digest") == digest and list(have["forms"]) == tool.forms(model)


def run_models(tool: Tool, made: list[forms.Forms], row: dict, digests: dict[str, str]) -> None:
    """Runs all cells of a tool and these models in one process."""
    begin = time.monotonic()
    jobs = [cells.Job(each, form) for each in made for form in tool.forms(each.model)]
    results = list(zip(jobs, cells.run(tool, jobs), strict=True))
    for each in made:
        found = cells.row(tool.forms(each.model), [result for job, result in results if job.made is each])
        row["models"][each.model] = {"digest": digests[each.model], "forms": found}
        print(f"  {each.model}: " + ", ".join(f"{form} {cell['result']}" for form, cell in found.items()), flush=True)
    print(f"  {time.monotonic() - begin:.1f} s", flush=True)


def make_forms(names: list[str]) -> dict[str, forms.Forms]:
    made = {name: forms.Forms(name, BUILD / "models") for name in names}
    for each in made.values():
        each.make()
        if each.model != models.LARGE:
            each.check_unpacked()
    return made


def main() -> None:
    options = {argument for argument in sys.argv[1:] if argument.startswith("--")}
    words = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if options - {"--small", "--again"}:
        sys.exit(__doc__)
    tools = [tool for tool in TOOLS if not words or any(word in tool.name for word in words)]
    made = make_forms([*models.SMALL, *([] if "--small" in options else [models.LARGE])])
    results = known()
    digests = {name: each.digest() for name, each in made.items()}
    results["digests"].update(digests)
    for tool in tools:
        try:
            tool.prepare()
        except (subprocess.CalledProcessError, OSError) as error:
            print(f"{tool.name}: cannot be installed: {error}", flush=True)
            continue
        row = results["tools"].get(tool.name, {})
        if row.get("state") != tool.state():
            row = {"version": tool.version, "kind": tool.kind, "state": tool.state(), "models": {}}
        results["tools"][tool.name] = row
        unknown = [each for name, each in made.items() if "--again" in options or not is_known(tool, name, row, digests[name])]
        print(f"{tool.name} ({tool.version})" + ("" if unknown else ": known"), flush=True)
        small = [each for each in unknown if each.model != models.LARGE]
        for together in (small, [each for each in unknown if each.model == models.LARGE]):
            if together:
                run_models(tool, together, row, digests)
                save(results)
    save(results)
    page.write(results)
    sys.exit("\n".join([*page.wrong_cells(results), *upstream.faults()]) or None)


if __name__ == "__main__":
    main()
