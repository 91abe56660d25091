"""Plays the quick start as a newcomer would: takes the code blocks out of the rendered page, and runs them in order, in a
copy of the project, in a bare Debian 12 that debootstrap makes. Needs root, the network, and a quarter of an hour.

Shell blocks run in one shell. A Python block runs after those before it, a block of C++ or CMake is the file that the
page says.

Usage: play.py QUICKSTART.html FOLDER [--script], which prints what would run
"""

from __future__ import annotations

import html.parser
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
MIRROR = "http://deb.debian.org/debian"
FILES = {"cpp": "list/list.cc", "cmake": "list/CMakeLists.txt"}


class Blocks(html.parser.HTMLParser):
    """The language and the text of each code block of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.language, self.text, self.depth = "", "", 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag != "div":
            return
        names = [name for name in (dict(attributes).get("class") or "").split() if name.startswith("highlight-")]
        if names:
            self.language, self.text, self.depth = names[0].removeprefix("highlight-"), "", 0
        self.depth += 1

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "div":
            self.depth -= 1
            if self.depth == 0 and self.language:
                self.found.append((self.language, self.text.strip("\n") + "\n"))
                self.language = ""


def blocks(page: Path) -> list[tuple[str, str]]:
    parser = Blocks()
    parser.feed(page.read_text())
    return parser.found


def script(found: list[tuple[str, str]]) -> str:
    """All blocks as one script of bash."""
    lines, python = ["set -euo pipefail", "cd /project", "mkdir -p list"], ""
    for language, text in found:
        if language == "sh":
            lines.append(text)
        elif language == "python":
            python += text
            lines.append(f"cat > newcomer.py << 'END_OF_BLOCK'\n{python}END_OF_BLOCK\npython3 newcomer.py")
        elif language in FILES:
            lines.append(f"cat > {FILES[language]} << 'END_OF_BLOCK'\n{text}END_OF_BLOCK")
        else:
            sys.exit(f"play.py: a block in {language!r} cannot be played")
    return "\n".join(lines) + "\n"


def bare_root(folder: Path) -> Path:
    """A new root of a system; what debootstrap fetched is kept beside it."""
    root, packages = folder / "root", folder / "packages"
    shutil.rmtree(root, ignore_errors=True)
    packages.mkdir(parents=True, exist_ok=True)
    command = ["debootstrap", "--variant=minbase", f"--cache-dir={packages}", "bookworm", root, MIRROR]
    subprocess.run([str(each) for each in command], check=True)
    return root


def copy_of_project(target: Path) -> None:
    names = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard", "--", ".", ":!tests/fuzz", ":!spec/vectors"], cwd=ROOT,
                           capture_output=True, check=True).stdout.split(b"\0")  # fmt: skip
    for name in filter(None, map(bytes.decode, names)):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def give_network(root: Path) -> dict[str, str]:
    """How this machine finds and trusts the servers of packages: names, and certificates if it has some of its own. The result
    is the environment that says so. The certificates are no file of the package ca-certificates, which would replace it."""
    for file in ("etc/resolv.conf", "etc/hosts", "etc/pip.conf"):
        if (Path("/") / file).exists():
            shutil.copy(Path("/") / file, root / file)
    if not CERTIFICATES.exists():
        return {}
    shutil.copy(CERTIFICATES, root / "certificates.crt")
    return dict.fromkeys(("PIP_CERT", "SSL_CERT_FILE"), "/certificates.crt")


def played(root: Path, environment: dict[str, str]) -> int:
    """The exit code of /newcomer.sh in the root."""
    words = {"HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", **environment,
             "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}  # fmt: skip
    bare = shlex.join(["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in words.items()), "bash", "-x", "/newcomer.sh"])
    inside = f"mount -t proc proc {shlex.quote(str(root))}/proc && exec chroot {shlex.quote(str(root))} {bare}"
    return subprocess.run(["unshare", "--mount", "--fork", "--pid", "bash", "-c", inside], check=False).returncode


def main() -> None:
    page, folder = Path(sys.argv[1]), Path(sys.argv[2]).absolute()
    found = blocks(page)
    if {language for language, _ in found} != {"sh", "python", *FILES}:
        sys.exit(f"play.py: {page} is not the quick start: it has blocks in {sorted({language for language, _ in found})}")
    text = script(found)
    if "--script" in sys.argv:
        print(text)
        return
    root = bare_root(folder)
    copy_of_project(root / "project")
    (root / "newcomer.sh").write_text(text)
    if code := played(root, give_network(root)):
        sys.exit(f"play.py: the quick start ended with {code}")
    print("the quick start works in a bare system")


if __name__ == "__main__":
    main()
