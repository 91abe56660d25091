"""Fills build/platforms/NAME/sysroot with the libraries that a build with cmake/toolchains/NAME.cmake needs.

Where Debian has the architecture, its packages are downloaded and unpacked; apt has lists of its own for that, so the host
stays as it is. Elsewhere zlib and GoogleTest are compiled from Debian's sources with the toolchain, and there is no protobuf:
build with -DONNXAR_BUILD_MODEL=AUTO. Does nothing if the sysroot is complete.
"""

import argparse
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBIAN = {"linux-aarch64": "arm64", "linux-i386": "i386", "linux-s390x": "s390x"}
HEADERS = ("libcli11-dev", "nlohmann-json3-dev")  # of no architecture
LIBRARIES = ("zlib1g-dev", "libgtest-dev", "libgmock-dev", "libprotobuf-dev")
MIRROR = "http://deb.debian.org/debian bookworm main"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def run(*command: object, cwd: pathlib.Path | None = None) -> None:
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)


class Apt:
    """apt for one architecture, with its state in a folder of its own."""

    def __init__(self, folder: pathlib.Path, architecture: str) -> None:
        self.downloads = folder / "downloads"
        for name in ("lists/partial", "cache/archives/partial", "downloads"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        sources, status = folder / "sources.list", folder / "status"
        sources.write_text("".join(f"{kind} [signed-by={KEYRING}] {MIRROR}\n" for kind in ("deb", "deb-src")))
        status.touch()
        settings = {
            "APT::Architecture": architecture,
            "APT::Architectures": f"{{{architecture};}}",
            "APT::Sandbox::User": "root",
            "Dir::Cache": folder / "cache",
            "Dir::State::Lists": folder / "lists",
            "Dir::State::status": status,
            "Dir::Etc::sourcelist": sources,
            "Dir::Etc::sourceparts": "-",
        }
        config = folder / "apt.conf"
        lines = (f"{key} {value};" if str(value).startswith("{") else f'{key} "{value}";' for key, value in settings.items())
        config.write_text("#clear APT::Architectures;\n" + "\n".join(lines) + "\n")
        self.command = ("env", f"APT_CONFIG={config}", "apt-get", "-qq")
        run(*self.command, "update")

    def unpack(self, packages: tuple[str, ...], sysroot: pathlib.Path) -> None:
        run(*self.command, "download", *packages, cwd=self.downloads)
        for package in packages:
            (archive,) = self.downloads.glob(f"{package}_*.deb")
            run("dpkg-deb", "-x", archive, sysroot)

    def source(self, package: str) -> pathlib.Path:
        run(*self.command, "source", package, cwd=self.downloads)
        (folder,) = (found for found in self.downloads.glob(f"{package}-*") if found.is_dir())
        return folder


class Compiler:
    """Compiles libraries with CMake and a toolchain of this project, and installs them in the sysroot."""

    def __init__(self, name: str, work: pathlib.Path, prefix: pathlib.Path) -> None:
        self.toolchain = ROOT / f"cmake/toolchains/{name}.cmake"
        self.work, self.prefix = work, prefix

    def build(self, source: pathlib.Path, *targets: str, flags: str = "") -> pathlib.Path:
        folder = self.work / source.name
        run("cmake", "-G", "Ninja", "-S", source, "-B", folder, f"-DCMAKE_TOOLCHAIN_FILE={self.toolchain}",
            "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_INSTALL_PREFIX={self.prefix}", "-DCMAKE_INSTALL_LIBDIR=lib", *([f"-DCMAKE_C_FLAGS={flags}"] if flags else []))
        run("cmake", "--build", folder, *(("--target", *targets) if targets else ()))
        return folder

    def zlib(self, source: pathlib.Path) -> None:
        # Its `install` would also build a shared library, which not every toolchain can, from a file that Debian leaves out.
        (source / "win32").mkdir(exist_ok=True)
        (source / "win32/zlib1.rc").touch()
        built = self.build(source, "zlibstatic", flags="-w -Dfdopen=fdopen")  # zlib 1.2 takes macOS for its old namesake, without fdopen
        (library,) = built.glob("libz*.a")  # libz.a or libzlibstatic.a
        for file, target in ((source / "zlib.h", "include/zlib.h"), (built / "zconf.h", "include/zconf.h"), (library, "lib/libz.a")):
            (self.prefix / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, self.prefix / target)

    def googletest(self) -> None:
        run("cmake", "--install", self.build(pathlib.Path("/usr/src/googletest")))


def fill(name: str) -> None:
    work = ROOT / "build/platforms" / name
    sysroot, complete = work / "sysroot", work / "sysroot.complete"
    if complete.exists() and complete.stat().st_mtime > pathlib.Path(__file__).stat().st_mtime:
        return
    for old in (sysroot, work / "apt", work / "compiled"):
        shutil.rmtree(old, ignore_errors=True)
    sysroot.mkdir(parents=True)
    complete.unlink(missing_ok=True)
    apt = Apt(work / "apt", DEBIAN.get(name, "amd64"))
    if name in DEBIAN:
        apt.unpack(HEADERS + LIBRARIES, sysroot)
    else:
        apt.unpack(HEADERS, sysroot)
        compiler = Compiler(name, work / "compiled", sysroot / "usr")
        compiler.zlib(apt.source("zlib"))
        compiler.googletest()
    complete.touch()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="a file of cmake/toolchains without its ending, such as linux-s390x")
    fill(parser.parse_args().name)
