"""The HTTP client compiles with libc++; subproject_slow_test.py builds the rest with it."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPILERS = ("clang++-19", "clang++-20", "clang++-21", "clang++")


def syntax_check(compiler: str, source: str) -> subprocess.CompletedProcess:
    """Compiles `source` with libc++ and discards the result."""
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

    def test_the_client_compiles_with_it(self):
        sources = sorted((ROOT / "src/remote").glob("*.cc"))
        self.assertGreater(len(sources), 0)
        done = syntax_check(self.compiler, "".join(f'#include "{path}"\n' for path in sources))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_name_that_it_lacks_is_an_error(self):
        done = syntax_check(self.compiler, "#include <thread>\nstd::thread_of_no_library t;\n")
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
