"""Runs the tests of the Java package and of the Rust crate with what only the command and ONNX Runtime give them: links,
large vectors, and sessions, also of an archive in the APK that docs/mobile.md makes. Maven and cargo fetch what they need.

Usage: ONNXAR=onnxar PYTHONPATH=tests languages.py FOLDER ENVIRONMENT, where Maven's packages stay in FOLDER, and
ENVIRONMENT is a virtual environment with the wheel of ONNX Runtime
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from docs.blocks import ROOT, blocks_of
from docs.running import model
from support.archives import Archive, Entry, linked, model_of

MOST_JAVA = 1200  # lines, without comments and blank lines


def run(*command: object, folder: Path = ROOT, **variables: object) -> str:
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, env=environment,
                          check=False, timeout=1800)  # fmt: skip
    if done.returncode:
        sys.exit(f"languages.py: {' '.join(map(str, command))}\n{done.stdout[-8000:]}{done.stderr[-4000:]}")
    return done.stdout


def links(folder: Path) -> Path:
    """Makes the links of the vectors that can be linked, and of their graphs: `m.onnx` and `m@graph.onnx`."""
    folder.mkdir()
    vectors = [Path(shutil.copy(vector, folder)) for vector in sorted((ROOT / "spec/vectors").glob("[uv]*/*.onnxar"))]
    sizes = {"a": 31, "b": 32, "c": 33}  # of FLOATs; K2 draws the line at 32
    entries = [Entry(name, bytes(4 * count)) for name, count in sizes.items()]
    bounds = folder / "bounds.onnxar"
    bounds.write_bytes(Archive([*entries, model_of(*(linked(name, count) for name, count in sizes.items()))]).file)
    for copy in [*vectors, bounds]:
        command = [os.environ["ONNXAR"], "link", copy, "--no-sync", "-q"]
        if subprocess.run([*command, "-o", copy.with_suffix(".onnx")], capture_output=True, check=False).returncode:
            copy.unlink()
            continue
        for entry in json.loads(run(os.environ["ONNXAR"], "ls", "--json", copy))["entries"]:
            graph = entry["name"].removesuffix(".onnx")
            if graph not in ("", entry["name"]) and not graph.endswith("/"):
                run(*command, "--model", entry["name"], "-o", folder / f"{copy.stem}@{graph.replace('/', '%')}.onnx")
    return folder


def family(folder: Path) -> Path:
    """Makes an archive of two graphs, which are the same model."""
    models = folder / "models"
    models.mkdir()
    model(models)
    shutil.copy(models / "model.onnx", models / "other.onnx")
    (models / "tokenizer.json").write_text("{}")
    run(os.environ["ONNXAR"], "pack", models, "-o", folder / "family.onnxar")
    return folder / "family.onnxar"


def apk(folder: Path, archive: Path) -> tuple[Path, int]:
    """Runs the shell block of docs/mobile.md. Returns the signed APK, and the offset of the archive in it."""
    folder.mkdir()
    shutil.copy(archive, folder / "model.onnxar")
    (folder / "AndroidManifest.xml").write_text('<manifest package="org.example"><application/></manifest>')
    key = ["-keystore", "app.jks", "-storepass", "password", "-keypass", "password", "-alias", "app"]
    run("keytool", "-genkeypair", *key, "-keyalg", "RSA", "-validity", "9", "-dname", "CN=app", folder=folder)
    [block] = [block for block in blocks_of(ROOT / "docs/mobile.md") if block.reason == "run by ./dev serve"]
    run("bash", "-euc", block.text, folder=folder)
    run("apksigner", "verify", "--min-sdk-version", "26", "app.apk", folder=folder)
    made = folder / "app.apk"
    header = zipfile.ZipFile(made).getinfo("assets/model.onnxar").header_offset
    name, extra = struct.unpack_from("<2H", made.read_bytes(), header + 26)
    return made, header + 30 + name + extra


def test_java(kept: Path, folder: Path, archive: Path) -> None:
    lines = [line.strip() for file in (ROOT / "reader/java/src/main").rglob("*.java") for line in file.read_text().splitlines()]
    code = sum(1 for line in lines if line and not line.startswith(("//", "/*", "*")))
    if code > MOST_JAVA:
        sys.exit(f"languages.py: {code} lines of Java, at most {MOST_JAVA} are allowed")
    run(sys.executable, "-B", ROOT / "spec/vectors/generate.py", "--large", folder / "large")
    made, offset = apk(folder / "apk", archive)
    places = [f"-Dmaven.repo.local={kept / 'maven'}", f"-Doutput={kept / 'java'}"]
    printed = run("mvn", "-B", *places, "verify", folder=ROOT / "reader/java",
                  ONNXAR_LINKS=links(folder / "links"), ONNXAR_LARGE_VECTORS=folder / "large", ONNXAR_MODEL=archive,
                  ONNXAR_APK=made, ONNXAR_APK_OFFSET=offset)  # fmt: skip
    print(*[line for line in printed.splitlines() if "Tests run:" in line], sep="\n")


def test_java_readme(jar: Path, folder: Path, archive: Path) -> None:
    """Runs the first block of the page, without the classes of ONNX Runtime."""
    shutil.copy(archive, folder / "model.onnxar")
    text = blocks_of(ROOT / "reader/java/README.md")[0].text
    imports = "import io.github.onnxar.*; import java.nio.ByteBuffer; import java.nio.file.Path; import java.util.Arrays;"
    main = f"public static void main(String[] none) throws Exception {{ {text} System.out.println(tokenizer.remaining()); }}"
    (folder / "Readme.java").write_text(f"{imports} class Readme {{ {main} }}")
    printed = run("java", "-cp", jar, "Readme.java", folder=folder)
    if "encoder.weight [64, 256]: 65536 bytes\n" not in printed or not printed.endswith("\n2\n"):
        sys.exit(f"languages.py: the first block of reader/java/README.md printed {printed}")


def test_rust(kept: Path, archive: Path, environment: Path) -> None:
    """Runs the feature `ort` with the library of the wheel."""
    library = next(environment.glob("lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so.*"))
    at = ["--locked", "--manifest-path", ROOT / "reader/rust/Cargo.toml", "--target-dir", kept / "rust"]
    printed = run("cargo", "test", *at, "--features", "load-dynamic", ORT_DYLIB_PATH=library, ONNXAR_MODEL=archive)
    print(*[line for line in printed.splitlines() if line.startswith("test result")], sep="\n")


def main() -> None:
    kept, environment = Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()
    with tempfile.TemporaryDirectory() as scratch:
        archive = family(Path(scratch))
        test_java(kept, Path(scratch), archive)
        test_java_readme(next(kept.glob("java/onnxar-*[0-9].jar")), Path(scratch), archive)
        if shutil.which("cargo"):
            test_rust(kept, archive, environment)
        else:
            print("cargo is not installed: the Rust crate was not tested")


if __name__ == "__main__":
    main()
