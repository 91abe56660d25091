"""Makes a release from a clean tag: wheels, sdist, programs, libraries, the reader, a list of the contents of each, notes and sums.

Usage: python release.py [--trial] [--collect]
  --trial    also from a tree that has changes or no tag, to see whether a release would work
  --collect  only collects what the other programs made before
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import versions
from artifact_checks import check_sbom
from pins import ROOT, sha256
from sbom import write_sbom
from sdist import DIST

HERE = Path(__file__).parent
OUT = ROOT / "build/release" / f"onnxar-{versions.library_version()}"
WHEELS = ("wheels.py",)
STEPS = (WHEELS, ("binaries.py", "--twice"), ("library.py",), ("reader.py",), ("recipes.py",), ("trial.py",))


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True).stdout.strip()


def platform_faults() -> str:
    """Returns the lines of docs/platforms.md about an older state or failed tests."""
    check = [sys.executable, "-B", ROOT / "tests/platforms/platforms.py", "--check"]
    return subprocess.run(check, check=False, stderr=subprocess.PIPE, text=True).stderr


def tree_faults() -> list[str]:
    """Returns the reasons why no commit of this tree can get the tag."""
    found = versions.faults()
    if old := platform_faults():
        found.append(f"./dev platforms has to run again:\n{old}")
    if changed := git("status", "--porcelain"):
        found.append(f"files that are changed or unknown to git:\n{changed}")
    return found


def faults(trial: bool) -> list[str]:
    """Returns the reasons why this tree cannot be released."""
    if trial:
        return versions.faults()
    found = tree_faults()
    tag = f"v{versions.library_version()}"
    if tag not in git("tag", "--points-at", "HEAD").split():
        found.append(f"this commit has no tag {tag}")
    return found


def published() -> list[Path]:
    """Returns all files that were built, without the lists of contents."""
    version = versions.library_version()
    found = [path for path in sorted(DIST.iterdir()) if path.suffix != ".json"]
    if foreign := [path.name for path in found if not path.name.startswith(("onnxar-linux-", "onnxar-windows-", f"onnxar-{version}"))]:
        sys.exit(f"release.py: files of another version in {DIST.relative_to(ROOT)}: {foreign}")
    return found


def kind_of(path: Path) -> str:
    return "application" if path.name.startswith(("onnxar-linux-", "onnxar-windows-")) and ".tar" not in path.name else "library"


def collect(out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for path in published():
        shutil.copy2(path, out)
        check_sbom(write_sbom(out / path.name, kind_of(path)))
    (out / "NOTES.md").write_text(f"# onnxar {versions.library_version()}\n\n{versions.notes()}", encoding="utf-8")
    sums = [f"{sha256(path)}  {path.name}\n" for path in sorted(out.iterdir())]
    (out / "SHA256SUMS").write_text("".join(sums))


def make(steps: tuple[tuple[str, ...], ...] = STEPS) -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    for program, *arguments in steps:
        print(f"==> {program}", flush=True)
        if (code := subprocess.run([sys.executable, "-B", HERE / program, *arguments], check=False).returncode) != 0:
            sys.exit(code)


def main() -> None:
    if wrong := faults(trial="--trial" in sys.argv):
        sys.exit("release.py: " + "\n".join(wrong))
    if "--collect" not in sys.argv:
        make()
    collect(OUT)
    subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=OUT, check=True)
    print(f"{OUT.relative_to(ROOT)}: {len(list(OUT.iterdir()))} files")


if __name__ == "__main__":
    main()
