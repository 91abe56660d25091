"""Signs archives and verifies them, with OpenSSF Model Signing: `pip install onnxar[sign]`.

A signature is a bundle of the package model-signing. Its manifest has the SHA-256 of each entry by its name, and equals the one
that model-signing makes of the folder to which a zip tool extracts the archive. So the command of model-signing verifies that folder
with the archive's bundle, and this module verifies the archive with the folder's bundle.

    onnxar.signing.sign("model.onnxar", private_key="key.pem")          # writes model.onnxar.sig
    trusted = onnxar.signing.Signature(public_key="key.pub")
    with onnxar.open("model.onnxar", verify=trusted) as archive: ...    # each weight is verified when it is first used
"""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import threading
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from onnxar import _bundle, _core, _weights
from onnxar._archive import Archive
from onnxar._errors import Error, fault, unreadable, usage
from onnxar._guard import SIGNATURE, Guarded
from onnxar._open import open_archive
from onnxar._options import Path, expect_natural, save_options
from onnxar._paths import hidden_name
from onnxar._progress import Progress, reporting
from onnxar._sources import OUTPUT, Source, file_of

__all__ = ["SIGNATURE", "Signature", "sign", "verify"]

_verifying = threading.Lock()  # model-signing sets the time of its certificate store, which configurations may share, for each bundle


class Signature:
    """Specifies whom to trust, and where the bundle is. `onnxar.open(..., verify=Signature(...))` and `verify` accept it, for any number of
    archives and from any thread.

    Args:
        public_key: The path of an elliptic curve key, PEM.
        certificate_chain: Paths of certificates, PEM, of an authority. Every certificate that it issued for signing may sign. As
            in model-signing, expired certificates are accepted, and revocation is not checked.
        identity: An identity of Sigstore, such as "me@example.com", with `oidc_issuer`.
        oidc_issuer: The issuer, such as "https://accounts.google.com".
        config: A `model_signing.verifying.Config` with its verifier. Pass one of key, chain, identity and config.
        bundle: The path or the bytes of a bundle. By default it is the file beside the archive whose name has ".sig" appended,
            or the entry `onnxar.sig`; if both exist, choose one.
        inside: Use the bundle in the archive.

    Raises:
        Error: usage.argument; io.* (a key cannot be read).
    """

    def __init__(
        self,
        *,
        public_key: Path | None = None,
        certificate_chain: Iterable[Path] = (),
        identity: str | None = None,
        oidc_issuer: str | None = None,
        config: Any = None,
        bundle: Path | bytes | bytearray | memoryview | None = None,
        inside: bool = False,
    ) -> None:
        if bundle is not None and inside:
            raise usage("pass either bundle or inside, not both")
        self._config = _bundle.verifier(public_key, certificate_chain, identity, oidc_issuer, config)
        self._bundle, self._inside = bundle, inside

    def digests(self, archive: _core.Archive, path: str, beside: str | None) -> Mapping[str, bytes]:
        """Returns what was signed: the SHA-256 of each entry by name. `onnxar.open` calls this. Raises signature.invalid; io.*."""
        name, data = self._found(archive, path, beside)
        with _verifying:
            return _bundle.digests(self._config, data, name)

    def _found(self, archive: _core.Archive, path: str, beside: str | None) -> tuple[str, bytes]:
        """Returns the name of the bundle in messages, and its bytes."""
        most = _bundle.most_bytes(archive.names())
        if isinstance(self._bundle, bytes | bytearray | memoryview):
            return path, _bundle.bounded(self._bundle, most, path)
        if self._bundle is not None:
            return os.fspath(self._bundle), _bundle.read(self._bundle, most)
        if self._inside or (beside is not None and not os.path.lexists(beside)):
            beside = None
        if SIGNATURE in archive.names():
            if beside is not None:
                message = f"there are two bundles: the entry {SIGNATURE} and the file {beside}; say which one counts, with bundle or inside"
                raise fault("signature.invalid", message, path=path)
            return path, _entry(archive, most, path)
        if beside is not None:
            return beside, _bundle.read(beside, most)
        where = "" if self._inside else ", and no bundle is beside it or given"
        raise fault("signature.invalid", f"the archive is not signed: it has no entry {SIGNATURE}{where}", path=path)


def _entry(archive: _core.Archive, most: int, path: str) -> bytes:
    """Returns the bundle in the archive. At an address, one of more than `most` bytes is not fetched."""
    try:
        archive.resolve(SIGNATURE, most + 1, 0)  # reads no data, and succeeds only if the entry is that long
    except Error as error:
        if error.code == "onnx.external_data.out_of_range":
            return bytes(memoryview(archive.bytes(SIGNATURE)))
        raise
    raise fault("signature.invalid", f"the bundle has more bytes than the archive's entries need, which is at most {most}", SIGNATURE, path)


def sign(
    archive: Path,
    output: Path | None = None,
    *,
    inside: bool = False,
    private_key: Path | None = None,
    password: str | None = None,
    signing_certificate: Path | None = None,
    certificate_chain: Iterable[Path] = (),
    config: Any = None,
    overwrite: bool = False,
    threads: int = 0,
    progress: Progress = None,
) -> pathlib.Path:
    """Signs all entries of an archive, after reading them and comparing their CRC-32s.

    A signature states who made it and what it covers, but not that it is the newest one. If an archive has a bundle beside it
    and another one inside, only a `Signature` with `bundle` or `inside` can verify it.

    Args:
        archive: The path of the archive.
        private_key: The path of an elliptic curve key, PEM.
        password: The password of the key.
        signing_certificate: A certificate to put into the bundle.
        certificate_chain: The certificates that lead from it to the authority.
        config: Instead of a key, a `model_signing.signing.Config` with a signer: `use_sigstore_signer` asks for an identity and
            needs the network, `use_pkcs11_signer` needs a device.
        output: The bundle, or a folder for it. By default it is beside the archive, with ".sig" appended to the archive's name.
        inside: Add the bundle to the archive by an edit, as the entry `onnxar.sig`. If a weight was added after the bundle that
            `overwrite` replaces, the archive is rewritten without its earlier states, since an edit never moves weights.
        overwrite: Replace an existing bundle.
        threads: The number of threads that read; 0: one per core.
        progress: See `onnxar.pack`.

    Returns:
        The path of the bundle; with `inside`, that of the archive.

    Raises:
        Error: What `onnxar.open` raises; zip.data.crc; output.exists; usage.argument; io.changed (the archive was edited or
            replaced during the call); io.failed (model-signing cannot sign).
    """
    if inside and output is not None:
        raise usage("pass either output or inside, not both")
    expect_natural(threads=threads)
    signer = _bundle.signer(private_key, password, signing_certificate, certificate_chain, config)
    path = os.path.abspath(file_of(archive, "sign"))
    bundle = _bundle_path(path, output)
    with open_archive(path) as opened, reporting(progress, "signing") as tell:
        handle = opened._handle
        exists = SIGNATURE in handle.names() if inside else os.path.lexists(bundle)
        if exists and not overwrite:
            raise _exists(path, SIGNATURE) if inside else _exists(bundle)
        if not inside and os.path.exists(bundle) and os.path.samefile(bundle, path):
            raise usage("the output is the archive itself", path=path)

        _, entries = handle.digest(threads, tell)
        found = {name: bytes.fromhex(value) for name, value in entries}
        data = _bundle.signed(signer, os.path.basename(path), found)
        if inside:
            if exists and _has_weights_behind(opened):
                _rewrite(opened, path, data)
            else:
                _core.replace_side_files(path, save_options(side_files={SIGNATURE: data}), [], handle)
            return pathlib.Path(path)
        if not handle.same_state(_core.Archive.open(path)):
            raise _changed(path)
        _publish(bundle, data, overwrite)
    return pathlib.Path(bundle)


def _bundle_path(archive: str, output: Path | None) -> str:
    if output is None:
        return archive + ".sig"
    path: str = file_of(output, OUTPUT)
    is_folder = os.path.isdir(path) or not os.path.basename(path)
    return os.path.abspath(os.path.join(path, os.path.basename(archive) + ".sig") if is_folder else path)


def _has_weights_behind(archive: Archive) -> bool:
    """Returns True if an edit cannot replace the side file with the bundle."""
    kinds = {entry.name: entry.kind for entry in archive.entries()}
    return kinds[SIGNATURE] != "weight" and "weight" in list(kinds.values())[list(kinds).index(SIGNATURE) :]


def _rewrite(archive: Archive, path: str, bundle: bytes) -> None:
    """Writes the archive with another bundle: weights first, then side files and graphs, as edits need them. Names and bytes of
    other entries stay, so the signature stays valid.
    """
    ranks = {"side file": 1, "graph": 2}
    entries = sorted(archive.entries()[:-1], key=lambda entry: ranks.get(entry.kind, 0))
    writer = _core.ArchiveWriter.create(path, max(entry.alignment for entry in entries), True, True)
    for entry in entries:
        data, crc32 = (archive.entry(entry.name), entry.crc32) if entry.name != SIGNATURE else (memoryview(bundle), zlib.crc32(bundle))
        stored = _weights.Stored(data, crc32, path)
        writer.add(entry.name, len(data), functools.partial(_weights.write_stored, stored=stored))
    if not archive._handle.same_state(_core.Archive.open(path)):
        raise _changed(path)
    writer.finish(archive.model())


def _changed(path: str) -> Error:
    return fault("io.changed", "the archive was edited or replaced while it was signed; sign it again", path=path)


def _exists(path: str, entry: str = "") -> Error:
    return fault("output.exists", "there is a signature already; overwrite=True replaces it", entry, path)


def _publish(path: str, data: bytes, overwrite: bool) -> None:
    """Writes a file atomically. Raises output.exists, io.*."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, hidden_name(name))
    try:
        try:
            with open(temporary, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            _rename(temporary, path, overwrite)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
    except FileExistsError as error:
        raise _exists(path) from error
    except OSError as error:
        raise unreadable(error, path) from error


def _rename(temporary: str, path: str, overwrite: bool) -> None:
    """Gives the file its name. Without `overwrite`, keeps a file that was made in the meantime. Raises OSError."""
    if not overwrite:
        try:
            return os.link(temporary, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            if os.path.lexists(path):
                raise FileExistsError(path) from None
    os.replace(temporary, path)


def verify(archive: Source, signature: Signature, *, threads: int = 0, progress: Progress = None) -> int:
    """Verifies all entries of an archive, after comparing their CRC-32s, and returns their number.

    Args:
        archive: Anything that `onnxar.open` opens.
        signature: Whom to trust.
        threads: The number of threads that read; 0: one per core. An archive at an address uses one.
        progress: See `onnxar.pack`.

    Raises:
        Error: What `onnxar.open` raises; zip.data.crc; signature.invalid (the signer is not trusted, or the bundle covers
            something other than entries); signature.mismatch (an entry is not the one that was signed).
    """
    expect_natural(threads=threads)
    with open_archive(archive, verify=signature) as opened, reporting(progress, "verifying") as tell:
        handle = opened._handle
        assert isinstance(handle, Guarded)
        return handle.verify_all(threads, tell)
