"""Archives from nginx, with HTTP/1.1 and HTTP/2, TLS, and without ranges."""

import os
import shutil
import subprocess
from pathlib import Path

from support.command_line import IO, main, run
from support.ports import free_port, wait_for
from support.remote_case import RemoteCase

CONFIGURATION = """
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ }}
http {{
  access_log {folder}/access.log;
  client_body_temp_path {folder}/a;
  proxy_temp_path {folder}/b;
  fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d;
  scgi_temp_path {folder}/e;
  server {{
    listen 127.0.0.1:{plain};
    root {root};
    location /whole/ {{ max_ranges 0; alias {root}/; }}
    location /squeezed/ {{ gzip on; gzip_types *; gzip_min_length 0; alias {root}/; }}
  }}
  server {{
    listen 127.0.0.1:{tls} ssl http2;
    ssl_certificate {folder}/certificate.pem;
    ssl_certificate_key {folder}/key.pem;
    root {root};
  }}
}}
"""


class Nginx(RemoteCase):
    def setUp(self) -> None:
        super().setUp()
        for program in ("nginx", "openssl"):
            if shutil.which(program) is None:
                self.skipTest(f"{program} is not installed")
        home = self.folder / "nginx"
        home.mkdir()
        os.chmod(self.folder, 0o755)
        self.certificate = home / "certificate.pem"
        request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
        names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
        files = ["-keyout", home / "key.pem", "-out", self.certificate]
        subprocess.run([*request, *names, *files], check=True, capture_output=True)
        self.plain, self.tls = free_port(), free_port()
        text = CONFIGURATION.format(folder=home, root=self.folder, plain=self.plain, tls=self.tls)
        (home / "nginx.conf").write_text(text)
        command = ["nginx", "-p", home, "-c", home / "nginx.conf", "-g", f"user {self.user()};"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        wait_for(self.plain, process)
        self.log = home / "access.log"

    def user(self) -> str:
        return "root" if os.geteuid() == 0 else Path.home().owner()

    def test_verbs_read_ranges(self) -> None:
        address = f"http://127.0.0.1:{self.plain}/local.onnxar"
        self.assertEqual(self.succeeds("cat", address, "w3").stdout, self.succeeds("cat", self.local, "w3").stdout)
        self.succeeds("check", "--data", address)
        self.assertNotIn('" 200 ', self.log.read_text())

    def test_get_over_http2_and_tls(self) -> None:
        address = f"https://localhost:{self.tls}/local.onnxar"
        trusted = {**os.environ, "CURL_CA_BUNDLE": str(self.certificate)}
        self.succeeds("get", address, "-o", self.output, env=trusted)
        self.assertEqual(self.output.read_bytes(), self.data)
        self.assertIn("HTTP/2.0", self.log.read_text())

    def test_untrusted_certificate_is_refused(self) -> None:
        self.refused("remote.unreachable", IO, "ls", f"https://localhost:{self.tls}/local.onnxar")

    def test_a_certificate_of_another_host_is_refused(self) -> None:
        trusted = {**os.environ, "CURL_CA_BUNDLE": str(self.certificate)}
        done = run("ls", f"https://127.0.0.2:{self.tls}/local.onnxar", env=trusted)
        self.assertEqual(done.returncode, IO)

    def test_without_ranges_only_get_works(self) -> None:
        address = f"http://127.0.0.1:{self.plain}/whole/local.onnxar"
        self.refused("remote.no_ranges", IO, "ls", address)
        self.succeeds("get", address, "-o", self.output)
        self.assertEqual(self.output.read_bytes(), self.data)

    def test_nothing_arrives_compressed(self) -> None:
        address = f"http://127.0.0.1:{self.plain}/squeezed/local.onnxar"
        self.assertEqual(self.succeeds("cat", address, "w3").stdout, self.succeeds("cat", self.local, "w3").stdout)


if __name__ == "__main__":
    main()
