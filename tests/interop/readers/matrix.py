"""The interoperability matrix: runs every tool on every form of every model, and writes tests/interop/readers/results.json and
docs/interop.md. Cells whose tool, model and form are what they were are not run again.

Usage: ONNXAR=onnxar PYTHONPATH=tests matrix.py [--small] [--again] [TOOL...]

--small leaves out the model over 2 GiB; --again runs cells that are known; TOOL is a part of a tool's name
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from interop.readers import cells, forms, models, page, upstream
from interop.readers.tools import BUILD, ROOT, TOOLS, Tool

RESULTS = ROOT / "tests/interop/readers/results.json"
WIDTH = 160  # of its lines; messages take more


def known() -> dict:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {"digests": {}, "tools": {}}


def save(results: dict) -> None:
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    results["commit"] = commit.stdout.strip()
    results["tools"] = {tool.name: results["tools"][tool.name] for tool in TOOLS if tool.name in results["tools"]}
    new = RESULTS.with_suffix(".new")
    new.write_text(printed(results) + "\n")
    new.replace(RESULTS)


def printed(value: object, indent: str = "") -> str:
    """As JSON: what does not fit in one line has a line for each of its values."""
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict) or len(text) <= WIDTH:
        return text
    inner = indent + " "
    lines = (f"{inner}{json.dumps(key, ensure_ascii=False)}: {printed(each, inner)}" for key, each in value.items())
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def is_known(tool: Tool, model: str, row: dict, digest: str) -> bool:
    have = row["models"].get(model, {})
    return have.get("digest") == digest and list(have["forms"]) == tool.forms(model)


def run_models(tool: Tool, made: list[forms.Forms], row: dict, digests: dict[str, str]) -> None:
    """Runs all cells of a tool and these models in one process."""
    begin = time.monotonic()
    for model, found in cells.rows(tool, made).items():
        row["models"][model] = {"digest": digests[model], "forms": found}
        print(f"  {model}: " + ", ".join(f"{form} {cell}" for form, cell in found.items()), flush=True)
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
