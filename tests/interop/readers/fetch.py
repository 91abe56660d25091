"""Fetches ONNX Runtime for C++ into a folder: `include/` and `lib/libonnxruntime.so`, of one version.

The library is the one in the wheel on PyPI. The headers are those that Debian packages for its next release: wheels
and npm packages have none, and NuGet's and Maven's, which do, are not to be had everywhere. Both are held against their
SHA-256. A folder that is complete already is left alone.

Usage: python fetch.py FOLDER [HEADERS.deb], with a python that has pip; the package of the headers is fetched unless it is given
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

VERSION = "1.23.2"
WHEEL_SHA256 = "da44b99206e77734c5819aa2142c69e64f3b46edc3bd314f6a45a932defc0b3e"
HEADERS = f"libonnxruntime-dev_{VERSION}+dfsg-6.1_amd64.deb"
HEADERS_SHA256 = "4630a94adb36dc056feb124e51c6e952e2cab5188bc093a25bee8a7e1ac5196d"
HEADERS_URLS = (
    f"https://deb.debian.org/debian/pool/main/o/onnxruntime/{HEADERS}",
    # Where it stays once the pool has a newer one: Debian's archive of all files, by SHA-1.
    "https://snapshot.debian.org/file/5c8210842c57b42522262c9022f35b359c81f5b0",
)


def wheel(folder: Path) -> Path:
    """The wheel for Debian 12's Python; what matters here is the library in it."""
    wanted = folder / "requirements.txt"
    wanted.write_text(f"onnxruntime=={VERSION} --hash=sha256:{WHEEL_SHA256}\n")
    platform = ["--only-binary=:all:", "--platform=manylinux_2_28_x86_64", "--python-version=3.11"]
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, *platform, "--require-hashes", "-r", wanted, "-d", folder], check=True)
    return next(folder.glob("*.whl"))


def headers(folder: Path, given: Path | None) -> Path:
    path = given or folder / HEADERS
    faults = []
    for url in (str(given),) if given else HEADERS_URLS:
        try:
            if not given:
                with urllib.request.urlopen(url, timeout=60) as response:
                    path.write_bytes(response.read())
        except (urllib.error.URLError, TimeoutError) as error:
            faults.append(f"{url}: {error}")
            continue
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found == HEADERS_SHA256:
            return path
        faults.append(f"{url}: SHA-256 is {found}, not {HEADERS_SHA256}")
    sys.exit(f"fetch.py: no headers of ONNX Runtime; get {HEADERS} elsewhere and name it as the second argument:\n" + "\n".join(faults))


def fetch(target: Path, given: Path | None) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = folder / "made"
        (made / "lib").mkdir(parents=True)
        with zipfile.ZipFile(wheel(folder)) as file:
            library = file.read(f"onnxruntime/capi/libonnxruntime.so.{VERSION}")
        (made / "lib/libonnxruntime.so.1").write_bytes(library)  # its SONAME
        (made / "lib/libonnxruntime.so").symlink_to("libonnxruntime.so.1")
        subprocess.run(["dpkg-deb", "-x", headers(folder, given), folder / "deb"], check=True)
        shutil.move(folder / "deb/usr/include/onnxruntime", made / "include")
        (made / "version").write_text(VERSION)
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, target)


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    target, *given = map(Path, sys.argv[1:])
    version = target / "version"
    if not version.exists() or version.read_text() != VERSION:
        fetch(target, given[0] if given else None)


if __name__ == "__main__":
    main()
