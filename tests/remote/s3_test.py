"""Archives in object stores that speak S3: signed requests to a server that verifies them, and a real store.

The real one is versitygw, which ONNXAR_S3_SERVER names; `./dev remote` builds it.
"""

import os
import shutil
import subprocess
import unittest

from support.command_line import IO, main
from support.ports import free_port, wait_for
from support.remote_case import RemoteCase
from support.s3_signature import is_signed

KEY, SECRET, REGION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "eu-west-3"
STORE = os.environ.get("ONNXAR_S3_SERVER") or shutil.which("versitygw")


class Signed(RemoteCase):
    def setUp(self) -> None:
        super().setUp()
        self.server.serve("/bucket/a b+c/m.onnxar", self.data)
        self.server.accepts = lambda request: is_signed(request.method, request.path, request.headers, KEY, SECRET, REGION)

    def environment(self, **others: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return {**kept, "AWS_ENDPOINT_URL": self.server.address(""), "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET,
                "AWS_REGION": REGION, **others}  # fmt: skip

    def test_requests_are_signed(self) -> None:
        found = self.succeeds("cat", "s3://bucket/a b+c/m.onnxar", "w3", env=self.environment()).stdout
        self.assertEqual(found, self.succeeds("cat", self.local, "w3").stdout)

    def test_the_token_of_a_session_is_sent_and_signed(self) -> None:
        self.succeeds("ls", "s3://bucket/a b+c/m.onnxar", env=self.environment(AWS_SESSION_TOKEN="session/token=="))
        sent = {each.headers.get("x-amz-security-token") for each in self.server.requests}
        self.assertEqual(sent, {"session/token=="})

    def test_another_key_is_refused(self) -> None:
        for name in ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_REGION"):
            with self.subTest(name=name):
                said = self.refused("io.permission", IO, "ls", "s3://bucket/a b+c/m.onnxar", env=self.environment(**{name: "other"}))
                self.assertNotIn(SECRET, said)

    def test_without_a_key_requests_are_not_signed(self) -> None:
        self.server.accepts = lambda request: "Authorization" not in request.headers
        environment = {name: value for name, value in self.environment().items() if "KEY" not in name}
        self.succeeds("ls", "s3://bucket/a b+c/m.onnxar", env=environment)

    def test_a_redirect_to_another_host_gets_no_signature(self) -> None:
        target = self.server.serve("/far", self.data).replace("127.0.0.1", "localhost")
        self.server.serve("/bucket/hub", b"", redirect=target)
        self.server.accepts = lambda request: request.path != "/far" or "Authorization" not in request.headers
        self.succeeds("ls", "s3://bucket/hub", env=self.environment())


@unittest.skipUnless(STORE, "versitygw is not installed; ./dev remote builds it")
class Store(RemoteCase):
    def setUp(self) -> None:
        super().setUp()
        bucket = self.folder / "store" / "models"
        bucket.mkdir(parents=True)
        (bucket / "m.onnxar").write_bytes(self.data)
        port = free_port()
        account = {"ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET}
        command = [STORE, "--port", f"127.0.0.1:{port}", "--region", REGION, "posix", "--nometa", str(bucket.parent)]
        process = subprocess.Popen(command, env={**os.environ, **account}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        wait_for(port, process)
        self.keys = {**os.environ, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": KEY,
                     "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": REGION}  # fmt: skip

    def test_verbs_read_the_object(self) -> None:
        for words in (["cat", "%", "w3"], ["check", "--data", "%"]):
            remote = self.succeeds(*["s3://models/m.onnxar" if word == "%" else word for word in words], env=self.keys)
            local = self.succeeds(*[self.local if word == "%" else word for word in words])
            self.assertEqual(remote.stdout, local.stdout)

    def test_get_downloads_it(self) -> None:
        self.succeeds("get", "s3://models/m.onnxar", "-o", self.output, env=self.keys)
        self.assertEqual(self.output.read_bytes(), self.data)

    def test_another_key_is_refused(self) -> None:
        other = {**self.keys, "AWS_SECRET_ACCESS_KEY": "other"}
        self.refused("io.permission", IO, "ls", "s3://models/m.onnxar", env=other)

    def test_an_object_that_is_not_there_is_reported(self) -> None:
        self.refused("io.not_found", IO, "ls", "s3://models/none", env=self.keys)


if __name__ == "__main__":
    main()
