"""Which libcurl the command loads, and what it says where there is none."""

import json
import os
import subprocess
from pathlib import Path

from support.command_line import DONE, IO, Done, main, run
from support.remote_case import RemoteCase

NAMES = ("libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-x64.so.4")
OLD = """
static struct { int age; const char *version; unsigned number; } info = {0, "7.61.1", 0x073d01};
void *curl_version_info(int age) { (void)age; return &info; }
"""


class Loading(RemoteCase):
    def library_folder(self, content: bytes) -> Path:
        for name in NAMES:
            self.write(f"libraries/{name}", content)
        return self.folder / "libraries"

    def with_libraries(self, folder: Path, *arguments: object) -> Done:
        return run(*arguments, env={**os.environ, "LD_LIBRARY_PATH": str(folder)})

    # The error names the package to install.
    def test_missing_libcurl_affects_only_addresses(self) -> None:
        folder = self.library_folder(b"not a library")
        self.assertEqual(self.with_libraries(folder, "ls", self.local).returncode, DONE)
        for words in (["ls"], ["check", "--data"], ["get", "-o", self.folder / "out.onnxar"]):
            done = self.with_libraries(folder, "--json-errors", *words, self.serve())
            self.assertEqual((done.returncode, done.stdout), (IO, b""))
            error = json.loads(done.stderr)["error"]
            self.assertEqual((error["code"], error["hint"]["id"]), ("remote.no_libcurl", "remote.install_libcurl"))
            self.assertIn("libcurl.so.4", error["message"])
            self.assertIn("apt-get install libcurl4", error["hint"]["text"])
        self.assertEqual(self.server.requests, [])

    def test_version_of_an_old_libcurl_is_reported(self) -> None:
        source, library = self.write("old.c", OLD.encode()), self.folder / "old.so"
        subprocess.run([os.environ.get("CC") or "cc", "-shared", "-fPIC", source, "-o", library], check=True)
        said = self.with_libraries(self.library_folder(library.read_bytes()), "ls", self.serve()).stderr
        self.assertIn("error[remote.no_libcurl]", said)
        self.assertIn("its version is 7.61.1", said)

    def test_a_library_of_the_current_folder_is_not_loaded(self) -> None:
        done = run("ls", self.serve(), cwd=self.library_folder(b"not a library"))
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_the_command_does_not_link_it(self) -> None:
        needed = subprocess.run(["readelf", "-d", os.environ["ONNXAR"]], check=True, capture_output=True, text=True).stdout
        self.assertIn("libc.so", needed)
        self.assertNotIn("curl", needed)


if __name__ == "__main__":
    main()
