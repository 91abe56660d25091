"""Says where the project is, and whether its packages are published; and writes the texts that depend on it: badges and install lines.

Usage: python public.py, which writes the texts of the state PUBLISHED
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from versions import ROOT, library_version

PUBLISHED = False  # True from the first public day on; then run this program
OWNER = "onnxar"  # of the repository; Maven's group io.github.onnxar needs the same name
HOME = f"https://github.com/{OWNER}/onnxar"
# Files that name the project's address or its owner, and how.
ADDRESSED = {**dict.fromkeys(("pyproject.toml", "js/package.json", "reader/rust/Cargo.toml", "reader/java/pom.xml"), HOME),
             "docs/install.md": f"brew install {OWNER}/tap/onnxar"}  # fmt: skip


class Text(NamedTuple):
    """A text in a file before and after the packages are published. In both, {version} is the library's."""

    file: str
    before: str
    after: str


def badge(name: str, picture: str, page: str) -> str:
    return f"[![{name}](https://img.shields.io/{picture})]({page})"


BADGES = " ".join((
    f"[![tests]({HOME}/actions/workflows/test.yml/badge.svg)]({HOME}/actions/workflows/test.yml)",
    badge("PyPI", "pypi/v/onnxar", "https://pypi.org/project/onnxar/"),
    badge("npm", "npm/v/onnxar", "https://www.npmjs.com/package/onnxar"),
    badge("crates.io", "crates/v/onnxar", "https://crates.io/crates/onnxar"),
    badge("Maven Central", f"maven-central/v/io.github.{OWNER}/onnxar", f"https://central.sonatype.com/artifact/io.github.{OWNER}/onnxar"),
))  # fmt: skip
WHEEL = "pip install ./onnxar-{version}-cp312-abi3-manylinux_2_28_x86_64.whl"
COORDINATES = f"`io.github.{OWNER}:onnxar:{{version}}`"
TEXTS = (
    Text("README.md", "# onnxar\n\nOne file", f"# onnxar\n{BADGES}\n\nOne file"),
    Text("README.md", "(`pip install` a wheel [of a release](docs/install.md), or `.`; needs only NumPy)", "(`pip install onnxar`; needs only NumPy)"),
    Text("docs/install.md", "The wheels (Python 3.10 and later) and the command",
         f"`npm install onnxar`, `cargo add onnxar` and Maven's {COORDINATES} bring the packages for JavaScript, Rust and Java.\n"
         "The wheels (Python 3.10 and later) and the command"),
    Text("docs/install.md", f"{WHEEL}      # the wheel for your Python and system; NumPy comes with it\n",
         "pip install onnxar                                                   # NumPy comes with it\n"),
    Text("docs/install.md", "The wheels for Windows and macOS were not run.", "Those for Windows and macOS are run on GitHub's runners before they are published."),
    Text("docs/install.md", "publishes releases; it has not run yet.", "publishes releases."),
    Text("docs/roadmap.md", "4. The C++, Python, npm and Rust packages are published under one version.",
         "4. Debian, conda-forge, Conan Center, vcpkg and Homebrew take the [recipes](../packaging/README.md)."),
    Text("docs/roadmap.md", "runs on Android devices, and Maven Central serves it.", "runs on Android devices."),
    Text("python/README.md", f"{WHEEL}   # from a release: needs no compiler\npip install -v .                                                   #",
         "pip install onnxar   # needs no compiler\npip install -v .     #"),
    Text("js/README.md", "It is not on npm yet: after `npm ci && npm run build` in this folder, install the folder.", "Install it with `npm install onnxar`."),
    Text("reader/rust/README.md", "It is not on crates.io yet: `cargo add --path reader/rust`.", "`cargo add onnxar` adds it to a project."),
    Text("reader/java/README.md", f"`mvn install` in this folder puts {COORDINATES} into the local repository.",
         f"Maven Central has it as {COORDINATES}."),
)  # fmt: skip


def texts(root: Path) -> list[Text]:
    return [Text(file, *(part.replace("{version}", library_version(root)) for part in parts)) for file, *parts in TEXTS]


def switched(text: str, before: str, after: str, is_published: bool) -> str:
    """Returns the text of a file in the state, whatever its state was. `after` may contain `before`."""
    text = text.replace(after, before)
    return text.replace(before, after) if is_published else text


def faults(root: Path = ROOT, is_published: bool = PUBLISHED) -> list[str]:
    """Returns the files that do not have the texts of the state, and those that do not name the project's address."""
    found = []
    for file, before, after in texts(root):
        wanted, text = after if is_published else before, (root / file).read_text(encoding="utf-8")
        if text.count(wanted) != 1 or switched(text, before, after, is_published) != text:
            found.append(f"{file} does not say once: {wanted.strip()[:90]} (run tools/release/public.py)")
    return found + [f"{file} does not name {name}" for file, name in ADDRESSED.items() if name not in (root / file).read_text(encoding="utf-8")]


def write(root: Path = ROOT, is_published: bool = PUBLISHED) -> None:
    for file, before, after in texts(root):
        text = (root / file).read_text(encoding="utf-8")
        (root / file).write_text(switched(text, before, after, is_published), encoding="utf-8")


if __name__ == "__main__":
    write()
    print("\n".join(faults()) or f"every text says that the packages are {'' if PUBLISHED else 'not '}published")
