"""Does everything of a publication but the upload: builds and checks what the registries get, with their own dry runs, and whether the
commit can get its tag. Prints what is ready, and what a person does with which account.

Usage: python publish.py --dry-run [pypi | npm | crates | maven | tag]...
"""

from __future__ import annotations

import filecmp
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import central
import public
import recipes
import release
import versions
from pins import ROOT, WORK, sha256
from systems import ABIS, TARGETS

VERSION = versions.library_version()
PLACE = ROOT / "build/release/publish"
GROUP = f"io.github.{public.OWNER}"
LARGEST = {"PyPI": 100_000_000, "crates.io": 10_000_000}  # bytes of one file, by default
MOST_LINES, MOST_COLUMNS = 8, 200  # of one fault that are printed
REFUSAL = "publish.py: no program uploads from here: that takes a person's accounts. Add --dry-run, which does the rest and lists what the person does"


class Found(NamedTuple):
    """Names what a registry gets, and says what is wrong with it."""

    what: str
    faults: list[str]


def said(*command: object, cwd: Path = ROOT) -> tuple[bool, str]:
    """Returns whether the command succeeded, and what it printed."""
    done = subprocess.run([*map(str, command)], cwd=cwd, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout


def failure(name: str, text: str) -> str:
    """Returns the lines from the first error on, for what Maven says last is advice; without one, the last lines."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).strip().splitlines()
    first = next((at for at, line in enumerate(lines) if re.search(r"\berror\b", line, re.IGNORECASE)), -MOST_LINES)
    return "\n".join([f"{name} failed:", *lines[first:][:MOST_LINES]])


# --- PyPI ------------------------------------------------------------------------------------------------------------


def is_current(out: Path) -> bool:
    """True if the release in the folder was made from this tree: its source archive has the same bytes as one that is packed now."""
    if not (out / "SHA256SUMS").is_file():
        return False
    with tempfile.TemporaryDirectory() as place:
        made = recipes.make_source(Path(place))
        return (out / made.name).is_file() and filecmp.cmp(made, out / made.name, shallow=False)


def pypi_names() -> set[str]:
    wheels = {f"onnxar-{VERSION}-{abi.tag}-{abi.abi_tag}-{target.wheel}.whl" for target in TARGETS if target.wheel for abi in ABIS}
    return {f"onnxar-{VERSION}.tar.gz", *wheels}


def sdist_faults(sdist: Path) -> list[str]:
    """Returns the links in what PyPI shows that lead nowhere there."""
    with tarfile.open(sdist) as opened:
        text = opened.extractfile(f"onnxar-{VERSION}/PKG-INFO").read().decode()
    return [f"the description for PyPI links to {link}, which PyPI does not have" for link in re.findall(r"\]\((?![a-z]+:|#)([^)]*)\)", text)]


def pypi_faults(out: Path) -> list[str]:
    wanted = pypi_names()
    there = {path.name for path in out.glob("*.whl")} | wanted & {path.name for path in out.iterdir()}
    found = [f"{name} is missing" for name in sorted(wanted - there)]
    found += [f"{name} is of another version or system" for name in sorted(there - wanted)]
    sums = dict(reversed(line.split()) for line in (out / "SHA256SUMS").read_text().splitlines())
    found += [f"{name} differs from SHA256SUMS" for name in sorted(there) if sums.get(name) != sha256(out / name)]
    found += [f"{name} is too large for PyPI" for name in sorted(there) if (out / name).stat().st_size > LARGEST["PyPI"]]
    if (sdist := out / f"onnxar-{VERSION}.tar.gz").is_file():
        found += sdist_faults(sdist)
    good, text = said(sys.executable, "-m", "twine", "check", "--strict", *(out / name for name in sorted(there)))
    return found if good else [*found, failure("twine check", text)]


def pypi() -> Found:
    if not is_current(release.OUT):
        print("the wheels of this tree are not in build/release, so they are built; this takes about an hour", flush=True)
        release.make((release.WHEELS,))
        release.collect(release.OUT)
    return Found(f"{len(pypi_names())} files", pypi_faults(release.OUT))


# --- npm and crates.io -----------------------------------------------------------------------------------------------


def named(made: list[Path], name: str, faults: Callable[[Path], list[str]]) -> Found:
    """Returns what is wrong with the archive that was made, which must have this name."""
    names = {path.name for path in made}
    return Found(name, faults(made[0]) if names == {name} else [f"what was packed is {', '.join(sorted(names)) or 'nothing'}, expected {name}"])


def packed_faults(archive: Path, top: str, wanted: set[str]) -> list[str]:
    """Returns the files that the archive lacks, or has only as links."""
    with tarfile.open(archive) as opened:
        inside = {entry.name for entry in opened if entry.isfile()}
    return [f"{archive.name} lacks {name}" for name in sorted(wanted) if f"{top}/{name}" not in inside]


def npm_faults(archive: Path, text: str) -> list[str]:
    with tarfile.open(archive) as opened:
        package = json.load(opened.extractfile("package/package.json"))
    exported = {place.removeprefix("./") for each in package["exports"].values() for place in ([each] if isinstance(each, str) else each.values())}
    found = packed_faults(archive, "package", {"LICENSE", "README.md", *exported})
    if package.get("repository", {}).get("url") != f"git+{public.HOME}.git":
        found.append(f"package.json does not name the repository git+{public.HOME}.git, which provenance needs")
    if "auto-corrected" in text:
        found.append("npm corrects package.json when it publishes: `npm pkg fix` in js/")
    return found


def npm() -> Found:
    place, name = PLACE / "npm", f"onnxar-{VERSION}.tgz"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    python = ROOT / "build/node_venv/bin/python"
    good, text = said(python, "-B", ROOT / "js/tools/web.py", ROOT / "build/web", "--publish", place)
    return named(list(place.iterdir()), name, lambda made: npm_faults(made, text)) if good else Found(name, [failure("npm publish --dry-run", text)])


def crate_faults(archive: Path, text: str) -> list[str]:
    found = packed_faults(archive, f"onnxar-{VERSION}", {"LICENSE", "README.md", "Cargo.toml", "build.rs", "src/lib.rs", "c/onnxar_reader.c"})
    found += [line for line in text.splitlines() if line.startswith("warning: ") and "aborting upload due to dry run" not in line]
    return [*found, f"{archive.name} is too large"] if archive.stat().st_size > LARGEST["crates.io"] else found


def crates() -> Found:
    target, name = WORK / "cargo", f"onnxar-{VERSION}.crate"
    shutil.rmtree(target / "package", ignore_errors=True)
    good, text = said("cargo", "publish", "--dry-run", "--locked", "--manifest-path", ROOT / "reader/rust/Cargo.toml", "--target-dir", target)
    made = list((target / "package").rglob("onnxar-*.crate"))  # its folder depends on the version of cargo
    return named(made, name, lambda made: crate_faults(made, text)) if good else Found(name, [failure("cargo publish --dry-run", text)])


# --- Maven Central and the tag ---------------------------------------------------------------------------------------


def maven() -> Found:
    pom, built = ROOT / "reader/java/pom.xml", WORK / "java"
    what = f"{GROUP}:onnxar:{VERSION}, not signed"
    shutil.rmtree(PLACE / "central", ignore_errors=True)  # the person uploads all that is in it
    good, text = said("mvn", "-B", "-q", "-DskipTests", f"-Doutput={built}", "clean", "verify", cwd=pom.parent)
    if not good:
        return Found(what, [failure("mvn verify", text)])
    if faults := [*central.pom_faults(pom, GROUP, VERSION), *central.jar_faults(built, VERSION)]:
        return Found(what, faults)
    central.lay_out(pom, built, PLACE / "central" / GROUP.replace(".", "/") / "onnxar" / VERSION, VERSION)
    return Found(what, [])


def tag_faults(tag: str) -> list[str]:
    """Returns why the commit cannot get the tag; nothing if it has the tag."""
    found = [*release.tree_faults(), *public.faults()]
    if not public.PUBLISHED:
        found.append("the pages say that nothing is published: set PUBLISHED in tools/release/public.py to True, run that program, and commit")
    if (commit := release.git("rev-parse", "-q", "--verify", f"{tag}^{{commit}}")) not in ("", release.git("rev-parse", "HEAD")):
        found.append(f"the tag {tag} is there already, at the commit {commit[:12]}")
    return found


def tag() -> Found:
    return Found(f"v{VERSION} at {release.git('rev-parse', '--short=12', 'HEAD')}", tag_faults(f"v{VERSION}"))


# --- what is printed -------------------------------------------------------------------------------------------------

PARTS: dict[str, tuple[str, Callable[[], Found]]] = {
    "pypi": ("PyPI", pypi), "npm": ("npm", npm), "crates": ("crates.io", crates), "maven": ("Maven Central", maven), "tag": ("source tag", tag)}  # fmt: skip
PERSON = (
    f"GitHub: make the organisation `{public.OWNER}` with the repository `onnxar`, and push main. In its settings make the environments `pypi` and `npm`, and allow "
    f"private reports of vulnerabilities (SECURITY.md). If the name is taken: change OWNER in tools/release/public.py, and what its test then names.",
    "GitHub: wait until the workflow `test` is green. It is the first run on macOS, and with MSVC on Windows; neither is possible here.",
    f"PyPI, an account with two factors: under Publishing, add a pending publisher for the project `onnxar`: owner `{public.OWNER}`, repository `onnxar`, workflow "
    "`release.yml`, environment `pypi`. It reserves nothing: the project begins with the first upload.",
    "npm, an account with two factors: Trusted Publishing needs a package that exists. So reserve the name: in build/web, `npm version 0.0.0 --no-git-tag-version` and "
    f"`npm publish --access public`. Then in the package's settings add the publisher: owner `{public.OWNER}`, repository `onnxar`, workflow `release.yml`, environment `npm`.",
    "crates.io, an account of GitHub with a verified address: make a token that may publish new crates, `cargo login`. The name begins with the first upload (step 8).",
    f"Maven Central, an account at central.sonatype.com: add the namespace `{GROUP}`, and prove it by the public repository that the page names. Make a GPG key, and "
    "send it to keys.openpgp.org.",
    "Set PUBLISHED in tools/release/public.py to True, run that program, set the date of CHANGELOG.md to today, commit, and let this command pass once more. Then "
    f"`git tag -s v{VERSION} && git push origin v{VERSION}`. The workflow `release` builds again, tries the wheels for macOS and Windows, which zig makes here but "
    "nothing runs here, and publishes to PyPI, npm and GitHub.",
    "crates.io, from the tag: `cargo publish --locked --manifest-path reader/rust/Cargo.toml`.",
    f"Maven Central: in build/release/publish/central, sign each .pom and .jar (`gpg --armor --detach-sign FILE`), `zip -r ../central.zip {GROUP.split('.')[0]}`, "
    "and upload the zip at central.sonatype.com/publishing.",
    "Documentation: `./dev docs`, and serve the folder build/docs/site. The recipes of packaging/ go to their indexes after the page of the release exists.",
)  # fmt: skip


def shortened(text: str) -> str:
    first, *more = (line[:MOST_COLUMNS] for line in text.splitlines())
    left = len(more) - MOST_LINES
    return "\n    ".join([first, *more[:MOST_LINES], *([f"and {left} more lines"] if left > 0 else [])])


def report(found: dict[str, Found]) -> str:
    """Returns the table, all faults, and the list for a person."""
    rows = [(PARTS[name][0], each.what, "no" if each.faults else "yes") for name, each in found.items()]
    table = [f"{registry:14} {what:44} {ready}" for registry, what, ready in [("registry", "what it gets", "ready"), *rows]]
    faults = [f"{PARTS[name][0]}: {shortened(fault)}" for name, each in found.items() for fault in each.faults]
    steps = [f"{number}. {step}" for number, step in enumerate(PERSON, 1)]
    return "\n".join([*table, "", *faults, *([""] if faults else []), "Nothing was uploaded. A person does this:", *steps])


def main() -> None:
    names = [name for name in sys.argv[1:] if name != "--dry-run"]
    if unknown := set(names) - set(PARTS):
        sys.exit(f"publish.py: no part {' '.join(sorted(unknown))}; there are {' '.join(PARTS)}")
    if "--dry-run" not in sys.argv:
        sys.exit(REFUSAL)
    found = {}
    for name, (registry, find) in PARTS.items():
        if not names or name in names:
            print(f"==> {registry}", flush=True)
            found[name] = find()
    print(report(found))
    sys.exit(any(each.faults for each in found.values()))


if __name__ == "__main__":
    main()
