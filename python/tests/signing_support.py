"""Keys, certificates and bundles for tests of signatures, and signed archives. Bundles are made only with the package
cryptography."""

from __future__ import annotations

import base64
import datetime
import functools
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from guarded import GuardedTest

import onnxar
from onnxar import signing
from onnxar.signing import Signature

PAYLOAD = "application/vnd.in-toto+json"


class Keys:
    """Key pairs and certificates in a folder, made once."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.private, self.public = self.pair("key", ec.generate_private_key(ec.SECP256R1()))
        self.other, self.other_public = self.pair("other", ec.generate_private_key(ec.SECP384R1()))

    def pair(self, name: str, key: Any, password: bytes | None = None) -> tuple[pathlib.Path, pathlib.Path]:
        private, public = self.folder / f"{name}.pem", self.folder / f"{name}.pub"
        encrypted = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        private.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encrypted))
        public.write_bytes(
            key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        )
        return private, public

    def authority(self, name: str) -> tuple[Any, x509.Certificate, pathlib.Path]:
        key = ec.generate_private_key(ec.SECP256R1())
        return key, *self.certificate(name, key, None, key, ca=True)

    def certificate(
        self, name: str, key: Any, issuer: x509.Certificate | None, issuer_key: Any, ca: bool = False, signs: bool = True
    ) -> tuple[x509.Certificate, pathlib.Path]:
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        now = datetime.datetime.now(datetime.timezone.utc)
        usage = x509.KeyUsage(
            digital_signature=signs and not ca, key_cert_sign=ca, crl_sign=ca, content_commitment=False, key_encipherment=False,
            data_encipherment=False, key_agreement=not signs, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer.subject if issuer is not None else subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(usage, critical=True)
        )
        made = builder.sign(issuer_key, hashes.SHA256())
        path = self.folder / f"{name}.crt"
        path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        return made, path


@functools.cache
def keys() -> Keys:
    folder = tempfile.TemporaryDirectory(prefix="onnxar_test_")
    unittest.addModuleCleanup(folder.cleanup)
    return Keys(pathlib.Path(folder.name))


def statement_of(resources: list[tuple[str, str]], **changes: Any) -> dict[str, Any]:
    """Returns a statement of OMS, from its specification. A resource is its name and the SHA-256 in hex."""
    rows = [{"name": name, "digest": digest, "algorithm": "sha256"} for name, digest in resources]
    whole = hashlib.sha256(b"".join(bytes.fromhex(digest) for _, digest in resources)).hexdigest()
    serialization = {"method": "files", "hash_type": "sha256", "allow_symlinks": False}
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "m", "digest": {"sha256": whole}}],
        "predicateType": "https://model_signing/signature/v1.0",
        "predicate": {"serialization": serialization, "resources": rows},
        **changes,
    }


def envelope_of(payload: bytes, kind: str = PAYLOAD) -> dict[str, Any]:
    """The DSSE envelope that the owner of the trusted key would make of any payload."""
    key = serialization.load_pem_private_key(keys().private.read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    encoded = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
    made = key.sign(encoded, ec.ECDSA(hashes.SHA256()))
    return {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": kind,
        "signatures": [{"sig": base64.b64encode(made).decode(), "keyid": ""}],
    }


def bundle_of(payload: bytes | dict[str, Any], kind: str = PAYLOAD, **changes: Any) -> bytes:
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    hint = hashlib.sha256(keys().public.read_bytes()).hexdigest()
    bundle = {
        "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
        "verificationMaterial": {"publicKey": {"hint": hint}, "tlogEntries": []},
        "dsseEnvelope": envelope_of(data, kind),
        **changes,
    }
    return json.dumps(bundle).encode()


class SigningTest(GuardedTest):
    def setUp(self) -> None:
        super().setUp()
        self.beside = pathlib.Path(f"{self.path}.sig")
        self.trusted = Signature(public_key=keys().public)

    def sign(self, **options: Any) -> pathlib.Path:
        return signing.sign(self.path, private_key=keys().private, **options)

    def rows(self, entries: dict[str, bytes] | None = None) -> list[tuple[str, str]]:
        return [(name, hashlib.sha256(data).hexdigest()) for name, data in (entries or self.entries).items()]

    def with_bundle(self, data: bytes) -> Signature:
        return Signature(public_key=keys().public, bundle=data)

    def invalid(self, bundle: bytes, said: str = "", **trusted: Any) -> None:
        signature = Signature(bundle=bundle, **(trusted or {"public_key": keys().public}))
        self.assertIn(said, str(self.refused("signature.invalid", onnxar.open, self.path, verify=signature)))
        self.refused("signature.invalid", signing.verify, self.path, signature)

    def unzipped(self) -> pathlib.Path:
        folder = self.folder / "unzipped"
        with zipfile.ZipFile(self.path) as file:
            file.extractall(folder)
        return folder

    def stock(self, *words: object) -> str:
        """Runs the command of model-signing, and returns its message for a failure."""
        done = subprocess.run([sys.executable, "-m", "model_signing", *map(str, words)], capture_output=True, text=True, check=False)
        self.assertEqual(bool(done.returncode), bool(done.stderr), done)
        return done.stderr
