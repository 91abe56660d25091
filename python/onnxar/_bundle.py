"""Makes and verifies OpenSSF Model Signing bundles with the package model-signing. Nothing here computes a signature."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import pathlib
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any

from onnxar._errors import Error, code_of, fault, unreadable, usage
from onnxar._options import Path

PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://model_signing/signature/v1.0"
ALGORITHM = "sha256"


def _package() -> Any:
    try:
        import model_signing
    except ImportError as error:
        raise usage(f"signatures need packages that are missing ({error}): pip install onnxar[sign]") from error
    return model_signing


def _made(make: Any, **arguments: Any) -> Any:
    """Calls a method of model-signing that reads keys or certificates. Raises usage.argument, io.*."""
    try:
        return make(**arguments)
    except OSError as error:
        raise unreadable(error, str(error.filename or "")) from error
    except Exception as error:
        raise usage(f"model-signing refuses the keys or certificates: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _expect_one(what: str, **given: object) -> None:
    if sum(1 for value in given.values() if value is not None) != 1:
        raise usage(f"pass one of {', '.join(given)}, which says {what}")


def _paths(chain: Any) -> list[Path]:
    """Returns the certificates as a list. Callers must notice an empty list, for which model-signing would use the certificates of
    websites."""
    if isinstance(chain, str | bytes | os.PathLike) or not isinstance(chain, Iterable):
        raise usage("certificate_chain is a list of paths")
    return list(chain)


# --- signing ---


def signer(
    private_key: Path | None, password: str | None, certificate: Path | None, chain: Iterable[Path], config: Any
) -> Any:  # fmt: skip
    """Returns a model_signing.signing.Config. Raises usage.argument, io.*."""
    paths = _paths(chain)
    _expect_one("who signs", private_key=private_key, config=config)
    if config is not None:
        if password is not None or certificate is not None or paths:
            raise usage("password, signing_certificate and certificate_chain belong to private_key")
        return config
    if (certificate is None) != (not paths):
        raise usage("signing_certificate and certificate_chain belong together: the chain leads from the certificate to the authority")
    made = _package().signing.Config()
    if certificate is None:
        # model-signing passes the password to a function of cryptography, which takes bytes.
        return _made(made.use_elliptic_key_signer, private_key=private_key, password=password.encode() if password else None)
    if password:
        raise usage("model-signing takes no password for the key of a certificate")
    return _made(
        made.use_certificate_signer, private_key=private_key, signing_certificate=certificate, certificate_chain=paths
    )  # fmt: skip


def sigstore_signer(**arguments: Any) -> Any:
    """Returns a model_signing.signing.Config. Needs the network. Raises usage.argument, io.*."""
    return _made(_package().signing.Config().use_sigstore_signer, **arguments)


class _Known:
    """Replaces model_signing.hashing.Config: the manifest is known, and no file is read."""

    def __init__(self, manifest: Any) -> None:
        self._manifest = manifest

    def hash(self, model_path: Any) -> Any:
        return self._manifest


def signed(config: Any, name: str, digests: Mapping[str, bytes]) -> bytes:
    """Returns the bundle of an archive named `name`. Raises io.failed (model-signing cannot sign)."""
    manifest = _package().manifest
    items: list[Any] = []
    for entry, digest in digests.items():
        path = pathlib.PurePosixPath(entry)
        if str(path) != entry:
            raise usage("model-signing would change this name, so it cannot be signed", entry)
        items.append(manifest.FileManifestItem(path=path, digest=manifest.hashing.Digest(ALGORITHM, digest)))
    files = manifest.SerializationType.from_args({"method": "files", "hash_type": ALGORITHM, "allow_symlinks": False})
    try:
        with tempfile.TemporaryDirectory(prefix="onnxar_") as folder:
            bundle = pathlib.Path(folder, "bundle")
            copy.copy(config).set_hashing_config(_Known(manifest.Manifest(name, items, files))).sign(name, bundle)
            return bundle.read_bytes()
    except Error:
        raise
    except Exception as error:  # of several packages: the disk, the network, a device, an identity
        code = code_of(error) if isinstance(error, OSError) else "io.failed"
        raise fault(code, f"model-signing cannot sign: {_reason(error)}") from error


# --- verification ---


def verifier(
    public_key: Path | None, chain: Iterable[Path], identity: str | None, oidc_issuer: str | None, config: Any
) -> Any:  # fmt: skip
    """Returns a model_signing.verifying.Config. Raises usage.argument, io.*."""
    paths = _paths(chain)
    _expect_one("whom to trust", public_key=public_key, certificate_chain=paths or None, identity=identity, config=config)
    if identity is not None or oidc_issuer is not None:
        if not all(isinstance(each, str) and each.strip() for each in (identity, oidc_issuer)):
            raise usage("identity and oidc_issuer belong together, and neither may be blank: an identity is valid only with its issuer")
    if config is None:
        made = _package().verifying.Config()
        if public_key is not None:
            config = _made(made.use_elliptic_key_verifier, public_key=public_key)
        elif identity is not None:
            config = _made(made.use_sigstore_verifier, identity=identity, oidc_issuer=oidc_issuer)
        else:
            config = _made(made.use_certificate_verifier, certificate_chain=paths)
    if not hasattr(getattr(config, "_verifier", None), "_verify_signed_content"):
        raise usage(f"{type(config).__name__} is not a model_signing.verifying.Config of version 1.1 with a verifier")
    return config


def most_bytes(names: Iterable[str]) -> int:
    """Returns the largest size of a bundle: a list of these names, which are ASCII, in JSON and Base64, and certificates."""
    return (1 << 20) + sum(1024 + 8 * len(name) for name in names)


def bounded(data: Any, most: int, path: str) -> bytes:
    if len(data) > most:
        raise fault("signature.invalid", f"the bundle has {len(data)} bytes, and the archive's entries need at most {most}", path=path)
    return bytes(data)


def read(path: Path, most: int) -> bytes:
    name = os.path.abspath(path)
    try:
        with open(name, "rb") as file:
            return bounded(file.read(most + 1), most, name)
    except OSError as error:
        raise unreadable(error, name) from error


def digests(config: Any, bundle: bytes, path: str) -> dict[str, bytes]:
    """Returns the SHA-256 of each entry that the bundle covers. Raises signature.invalid."""
    payload = _authentic(config, bundle, path)
    try:
        return _resources(json.loads(payload, object_pairs_hook=_unique))
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise fault("signature.invalid", f"what was signed is not a list of entries: {_reason(error)}", path=path) from error


def _authentic(config: Any, bundle: bytes, path: str) -> bytes:
    """Returns the signed bytes that model-signing has verified. They are not read from the bundle, which may have fields that two
    parsers read differently."""
    from model_signing._signing import sign_sigstore, sign_sigstore_pb  # type: ignore[import-not-found,unused-ignore]

    kind: Any = sign_sigstore if config._uses_sigstore else sign_sigstore_pb
    try:
        with tempfile.TemporaryDirectory(prefix="onnxar_") as folder:
            file = pathlib.Path(folder, "bundle")
            file.write_bytes(bundle)
            payload_type, payload = _accepted(config, kind.Signature, file, path)
    except OSError as error:
        raise unreadable(error, str(error.filename or "")) from error
    if payload_type != PAYLOAD or not isinstance(payload, bytes):
        raise fault("signature.invalid", f"the payload is {payload_type!r}, not {PAYLOAD!r}", path=path)
    return payload


def _accepted(config: Any, kind: Any, file: pathlib.Path, path: str) -> tuple[Any, Any]:
    """Returns the type of the payload and its bytes. Raises signature.invalid."""
    try:
        signature = kind.read(file)
        if not config._uses_sigstore and (key := signature.bundle.verification_material.public_key) is not None and not key.hint:
            raise ValueError("it does not name its key, like bundles of old versions")  # for which model-signing prints a warning
        found: tuple[Any, Any] = config._verifier._verify_signed_content(signature)
        return found
    except Exception as error:  # of several packages, which do not document them
        raise fault("signature.invalid", f"model-signing does not accept the bundle: {_reason(error)}", path=path) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found


def _expect(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def _resources(statement: dict[str, Any]) -> dict[str, bytes]:
    """Reads an authentic statement. Files that the signer ignored are not in it, so they are not covered."""
    (subject,), predicate = statement["subject"], statement["predicate"]
    _expect(statement["_type"] == STATEMENT and statement["predicateType"] == PREDICATE, f"it is not {PREDICATE}")
    method, algorithm = predicate["serialization"]["method"], predicate["serialization"]["hash_type"]
    _expect(method == "files", f"it covers {method}, not whole files")
    _expect(algorithm == ALGORITHM, f"its digests are {algorithm}, not {ALGORITHM}")
    found: dict[str, bytes] = {}
    for resource in predicate["resources"]:
        name, digest = resource["name"], bytes.fromhex(resource["digest"])
        _expect(isinstance(name, str) and name not in found, f"the name {name!r} is repeated")
        _expect(resource["algorithm"] == ALGORITHM and len(digest) == hashlib.sha256().digest_size, f"{name!r} has no {ALGORITHM}")
        found[name] = digest
    whole = hashlib.sha256(b"".join(found.values())).hexdigest()
    _expect(subject["digest"] == {ALGORITHM: whole}, "the digest of its subject is not that of its resources")
    return found
