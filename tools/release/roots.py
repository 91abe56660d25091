"""Makes minimal roots of distributions with debootstrap, and runs commands in them. Needs root."""

from __future__ import annotations

import dataclasses
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO

from pins import ROOT, WORK, Pin, fetched

sys.path.insert(0, str(ROOT / "tests"))
from newcomer.play import give_network

DEBIAN, UBUNTU = "http://deb.debian.org/debian", "http://archive.ubuntu.com/ubuntu"
# Ubuntu's keys, for which Debian has no package.
UBUNTU_KEYS = Pin("ubuntu-keyring", "2021.03.26", "GPL", "0d0e7ed6b112f5d03eabf3c7eb01ebdacf9c57714b279e90495cfc58c8c4520f",
                  f"{UBUNTU}/pool/main/u/ubuntu-keyring/ubuntu-keyring_2021.03.26_all.deb")  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Distribution:
    name: str
    suite: str
    mirror: str = DEBIAN
    packages: tuple[str, ...] = ("python3", "python3-venv", "ca-certificates")
    python: str = "/usr/bin/python3"

    @property
    def folder(self) -> Path:
        return WORK / "roots" / self.name


# Debian 11 has Python 3.9, for which there is no wheel, so Python 3.11 is compiled there.
COMPILER = ("ca-certificates", "gcc", "make", "libc6-dev", "zlib1g-dev", "libffi-dev", "libssl-dev")
DISTRIBUTIONS = (
    Distribution("debian-11", "bullseye", packages=COMPILER, python="/usr/local/bin/python3.11"),
    Distribution("ubuntu-22.04", "jammy", UBUNTU),
    Distribution("debian-12", "bookworm"),
    Distribution("ubuntu-24.04", "noble", UBUNTU),
    Distribution("debian-13", "trixie"),
)


def ubuntu_keyring() -> Path:
    folder = WORK / "ubuntu-keyring"
    if not folder.exists():
        subprocess.run(["dpkg-deb", "-x", fetched(UBUNTU_KEYS), folder], check=True)
    return folder / "usr/share/keyrings/ubuntu-archive-keyring.gpg"


def bare_root(distribution: Distribution) -> Path:
    """Makes the root of a new system; what debootstrap downloaded is kept beside it for the next one."""
    root, packages = distribution.folder / "root", distribution.folder / "packages"
    shutil.rmtree(root, ignore_errors=True)
    packages.mkdir(parents=True, exist_ok=True)
    command: list[object] = ["debootstrap", "--variant=minbase", f"--cache-dir={packages}", f"--include={','.join(distribution.packages)}"]
    script: list[object] = []
    if distribution.mirror == UBUNTU:
        command += [f"--keyring={ubuntu_keyring()}", "--components=main,universe"]
        script = ["/usr/share/debootstrap/scripts/jammy"]  # this debootstrap may be older than the suite
    command += [distribution.suite, root, distribution.mirror, *script]
    with (distribution.folder / "debootstrap.log").open("wb") as log:
        subprocess.run([str(word) for word in command], check=True, stdout=log, stderr=subprocess.STDOUT)
    return root


def run_in(root: Path, script: str, log: IO[str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a bash script in the root, with /proc and the network of this machine. Writes the output to `log`, if given."""
    words = {"HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
             **give_network(root), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}  # fmt: skip
    (root / "script.sh").write_text("set -euo pipefail\n" + script)
    bare = shlex.join(["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in words.items()), "bash", "/script.sh"])
    place = shlex.quote(str(root))
    inside = f"mount -t proc proc {place}/proc && exec chroot {place} {bare}"
    return subprocess.run(["unshare", "--mount", "--fork", "--pid", "bash", "-c", inside], check=False, stderr=subprocess.STDOUT,
                          stdout=subprocess.PIPE if log is None else log, text=True)  # fmt: skip
