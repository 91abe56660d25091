"""The core is C++20 for every standard library: libc++ 19 lacks parts that libstdc++ has (std::jthread for one)."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("base", "zip", "wire", "onnx", "archive", "convert")
COMPILERS = ("clang++-19", "clang++-20", "clang++-21", "clang++")


def syntax_check(compiler: str, source: str) -> subprocess.CompletedProcess:
    """Parses `source` with libc++, makes nothing of it."""
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as file:
        file.write(source)
        file.flush()
        command = [compiler, "-std=c++20", "-stdlib=libc++", "-fsyntax-only", f"-I{ROOT}/include", f"-I{ROOT}/src"]
        return subprocess.run([*command, file.name], capture_output=True, text=True, check=False)


def compiler_with_libcxx() -> str | None:
    for name in COMPILERS:
        compiler = shutil.which(name)
        if compiler and syntax_check(compiler, "#include <version>\n#include <span>\n").returncode == 0:
            return compiler
    return None


class Libcxx(unittest.TestCase):
    def setUp(self):
        self.compiler = compiler_with_libcxx()
        if self.compiler is None:
            self.skipTest("there is no clang++ with libc++ (apt-get install clang-19 libc++-19-dev)")

    def test_the_core_compiles_with_it(self):
        # All sources at once: the standard library is parsed once, which is most of the work.
        sources = [path for layer in LAYERS for path in sorted((ROOT / "src" / layer).glob("*.cc"))]
        self.assertGreater(len(sources), 50)
        done = syntax_check(self.compiler, "".join(f'#include "{path}"\n' for path in sources))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_it_lacks_is_told(self):
        done = syntax_check(self.compiler, "#include <thread>\nstd::thread_of_no_library t;\n")
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
