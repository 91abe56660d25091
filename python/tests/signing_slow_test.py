"""Signatures are made and verified with the package model-signing and its command."""

from __future__ import annotations

import concurrent.futures
import contextlib
import errno
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from collections.abc import Callable
from typing import Any

import fsspec
import model_signing
from building import MODEL, linked, model
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from guarded import FILE, entries_of
from signing_support import SigningTest, bundle_of, keys, statement_of
from support import matmul_model

import onnxar
from onnxar import _core, _sign_command, signing
from onnxar.signing import SIGNATURE, Signature


class Making(SigningTest):
    def test_what_is_signed_is_verified_whole_and_lazily(self):
        self.assertEqual(self.sign(), self.beside)
        self.assertEqual(signing.verify(self.path, self.trusted), len(self.entries))
        with onnxar.open(self.path, verify=self.trusted) as archive:
            self.assertEqual(archive["w"].tobytes(), self.entries["w"])

    def test_undo_removes_and_repack_keeps_bundle_inside(self):
        before = self.path.read_bytes()
        self.assertEqual(self.sign(inside=True), self.path)
        self.assertEqual(self.names(), {"m.onnxar", "whole.onnxar"})
        self.assertTrue(self.path.read_bytes().startswith(before[: -self.tail(before)]))
        self.assertEqual(signing.verify(self.path, self.trusted), len(self.entries))
        self.refused("output.exists", self.sign, inside=True)
        self.sign(inside=True, overwrite=True)
        onnxar.repack(self.path, self.path, overwrite=True, alignment=4096)
        self.assertEqual(signing.verify(self.path, self.trusted), len(self.entries))
        self.assertEqual([finding for finding in onnxar.check(self.path, data=True, strict=True) if finding.severity == "error"], [])
        with onnxar.open(self.path, verify=self.trusted) as archive:
            archive["w"]
            self.wrong(SIGNATURE, archive.entry, SIGNATURE)

    def test_bundle_before_a_new_weight_is_replaced(self):
        onnxar.repack(self.path, self.path, overwrite=True, alignment=4096)
        self.sign(inside=True)
        with onnxar.edit(self.path) as e:
            e["w"] = e["w"] * 2
        before = {entry.name: onnxar.cat(self.path, entry.name) for entry in onnxar.ls(self.path) if entry.name != SIGNATURE}
        self.refused("output.exists", self.sign, inside=True)
        self.assertEqual(self.sign(inside=True, overwrite=True), self.path)
        self.assertEqual(signing.verify(self.path, self.trusted), len(before))
        after = onnxar.ls(self.path)
        self.assertEqual({entry.name: onnxar.cat(self.path, entry.name) for entry in after if entry.name != SIGNATURE}, before)
        self.assertEqual([entry.kind for entry in after if entry.name in (SIGNATURE, "__MODEL_PROTO") or entry.kind == "graph"],
                         ["side file", "graph", "model"])  # fmt: skip
        self.assertEqual({entry.offset % 4096 for entry in after if entry.kind == "weight"}, {0})
        self.assertEqual([finding.code for finding in onnxar.check(self.path, data=True)], ["archive.entry.unused"])  # the old w
        self.sign(inside=True, overwrite=True)  # by an edit
        self.refused("usage.nothing_to_undo", lambda: [onnxar.undo(self.path) for _ in range(3)])

    def test_folder_gets_bundle_of_the_usual_name(self):
        (self.folder / "signatures").mkdir()
        for output in (self.folder / "signatures", f"{self.folder}/signatures/"):
            self.assertEqual(self.sign(output=output, overwrite=True), self.folder / "signatures" / "m.onnxar.sig")
        self.refused("output.exists", self.sign, output=self.folder / "signatures")
        self.refused("io.not_found", self.sign, output=f"{self.folder}/none/")

    def test_names_of_244_to_251_bytes_are_signed(self):
        for length in range(243, 252):
            path = self.path.rename(self.path.with_name("\u00e4" * 60 + "m" * (length - 127) + ".onnxar"))
            self.assertEqual(len(os.fsencode(path.name)), length)
            self.assertEqual(signing.sign(path, private_key=keys().private).name, path.name + ".sig")
            self.path = path

    @staticmethod
    def tail(data: bytes) -> int:
        """Returns the length of the directory, which an edit may overwrite."""
        return len(data) - int.from_bytes(data[-6:-2], "little")

    def test_moving_the_model_keeps_the_signature_valid(self):
        self.sign()
        onnxar.repack(self.path, self.path, overwrite=True, alignment=256)
        signing.verify(self.path, self.trusted)

    def test_other_names_of_the_archive_and_the_bundle(self):
        self.sign(output=self.folder / "any.name")
        self.refused("signature.invalid", signing.verify, self.path, self.trusted)
        moved = self.path.rename(self.folder / "moved.onnxar")
        for bundle in (self.folder / "any.name", str(self.folder / "any.name"), (self.folder / "any.name").read_bytes()):
            signing.verify(moved, Signature(public_key=keys().public, bundle=bundle))
            signing.verify(moved.read_bytes(), Signature(public_key=keys().public, bundle=bundle))

    def test_nothing_is_replaced_without_being_asked(self):
        self.sign()
        first = self.beside.read_bytes()
        self.assertEqual(self.refused("output.exists", self.sign).path, str(self.beside))
        self.assertEqual(self.beside.read_bytes(), first)
        self.sign(overwrite=True)
        self.assertNotEqual(self.beside.read_bytes(), first)  # ECDSA has a random number
        whole = self.path.read_bytes()
        self.refused("usage.argument", self.sign, output=self.path, overwrite=True)
        self.refused("usage.argument", self.sign, output=self.beside, inside=True)
        self.refused("io.not_found", self.sign, output=self.folder / "none" / "x.sig")
        self.assertEqual(self.path.read_bytes(), whole)
        self.assertEqual(self.names(), {"m.onnxar", "m.onnxar.sig", "whole.onnxar"})

    def test_a_damaged_archive_is_not_signed(self):
        data = self.path.read_bytes()
        self.path.write_bytes(data.replace(self.entries["own"], self.changed("own")["own"]))
        self.assertEqual(self.refused("zip.data.crc", self.sign).entry, "own")
        self.assertFalse(self.beside.exists())

    def between(self, call: Callable[[], object]) -> Any:
        """Returns a configuration that makes the call when the digests are known and the bundle is not."""

        class Slow:
            def set_hashing_config(self, known: Any) -> Any:
                call()
                return model_signing.signing.Config().use_elliptic_key_signer(private_key=keys().private).set_hashing_config(known)

        return Slow()

    def test_an_edit_that_comes_between_is_not_signed(self):
        for inside in (True, False):
            self.written(self.entries)
            config = self.between(lambda: onnxar.replace(self.path, remove=[FILE]))
            self.refused("io.changed", signing.sign, self.path, config=config, inside=inside, overwrite=True)
            self.assertNotIn(SIGNATURE, entries_of(self.path))
            self.assertEqual(self.names(), {"m.onnxar", "whole.onnxar"})

    # Another program wrote the bundle.
    def test_bundle_that_appears_during_signing_is_kept(self):
        for failed in (None, errno.EPERM):  # a file system without hard links
            with unittest.mock.patch.object(os, "link", side_effect=OSError(failed, "no links") if failed else None, wraps=os.link):
                config = self.between(lambda: self.beside.write_bytes(b"of another"))
                self.refused("output.exists", signing.sign, self.path, config=config)
                self.assertEqual(self.beside.read_bytes(), b"of another")
                self.beside.unlink()
                self.sign()
                signing.verify(self.path, self.trusted)
                self.beside.unlink()
                self.assertEqual(self.names(), {"m.onnxar", "whole.onnxar"})

    def test_unwritable_temporary_folder_is_an_io_error(self):
        self.sign()
        with unittest.mock.patch.object(tempfile, "tempdir", str(self.folder / "none")):
            self.refused("io.not_found", signing.verify, self.path, self.trusted)
            self.refused("io.not_found", self.sign, overwrite=True)
        full = OSError(errno.ENOSPC, "No space left on device", "bundle")
        with unittest.mock.patch.object(pathlib.Path, "write_bytes", side_effect=full):
            self.refused("io.disk_full", signing.verify, self.path, self.trusted)
        with unittest.mock.patch.object(pathlib.Path, "write_text", side_effect=full):
            self.refused("io.disk_full", self.sign, overwrite=True)
        signing.verify(self.path, self.trusted)

    def test_passwords_and_model_signing_configs_work(self):
        private, public = keys().pair("locked", ec.generate_private_key(ec.SECP521R1()), b"secret")
        self.refused("usage.argument", signing.sign, self.path, private_key=private)
        self.refused("usage.argument", signing.sign, self.path, private_key=private, password="wrong")
        signing.sign(self.path, private_key=private, password="secret")
        config = model_signing.verifying.Config().use_elliptic_key_verifier(public_key=public)
        signing.verify(self.path, Signature(config=config))
        config = model_signing.signing.Config().use_elliptic_key_signer(private_key=keys().private)
        signing.sign(self.path, config=config, overwrite=True)
        signing.verify(self.path, self.trusted)
        # The configuration belongs to the caller, who may then sign something else with it.
        other = self.folder / "other"
        other.mkdir()
        (other / "file").write_bytes(b"1")
        config.sign(other, self.beside)
        self.assertEqual(set(self.trusted.digests(_core.Archive.open(self.path), str(self.path), str(self.beside))), {"file"})

    def test_wrong_calls_say_what_is_wrong(self):
        rsa_private, rsa_public = keys().pair("rsa", rsa.generate_private_key(65537, 2048))
        curve_private, curve_public = keys().pair("curve", ec.generate_private_key(ec.SECP256K1()))
        for given in ({}, {"public_key": keys().public, "identity": "me"}, {"identity": "me"}, {"oidc_issuer": "https://x"},
                      {"public_key": keys().public, "oidc_issuer": "https://x"}, {"certificate_chain": []},
                      {"certificate_chain": str(keys().public)}, {"certificate_chain": keys().public}, {"certificate_chain": b"c"},
                      {"certificate_chain": (each for each in ())}, {"certificate_chain": self.folder.glob("*.crt")},
                      {"certificate_chain": 5}, {"public_key": keys().public, "certificate_chain": [keys().public]},
                      {"public_key": "", "certificate_chain": [keys().public]}, {"public_key": rsa_public},
                      {"public_key": keys().public, "identity": ""},
                      {"public_key": curve_public}, {"public_key": keys().private}, {"config": model_signing.verifying.Config()},
                      {"config": 5}, {"public_key": keys().public, "bundle": b"", "inside": True}):  # fmt: skip
            with self.subTest(given):
                self.refused("usage.argument", Signature, **given)
        config = model_signing.signing.Config().use_elliptic_key_signer(private_key=keys().private)
        for given in ({}, {"private_key": rsa_private}, {"private_key": curve_private}, {"private_key": keys().public},
                      {"private_key": keys().private, "config": 5}, {"config": config, "password": "secret"},
                      {"config": config, "signing_certificate": keys().public}, {"config": config, "certificate_chain": [keys().public]},
                      {"private_key": keys().private, "signing_certificate": keys().public},
                      {"private_key": keys().private, "signing_certificate": keys().public, "certificate_chain": self.folder.glob("*.crt")},
                      {"private_key": keys().private, "certificate_chain": str(keys().public)},
                      {"private_key": keys().private, "certificate_chain": [keys().public]}):  # fmt: skip
            with self.subTest(given):
                self.refused("usage.argument", signing.sign, self.path, **given)
        self.refused("io.not_found", Signature, public_key=self.folder / "none.pub")
        self.refused("io.not_found", signing.sign, self.path, private_key=self.folder / "none.pem")
        self.refused("io.not_found", signing.verify, self.path, Signature(public_key=keys().public, bundle=self.folder / "none.sig"))

    def test_an_identity_and_its_issuer_may_not_be_blank(self):
        for identity, issuer in (("me", ""), ("me", " "), ("", "https://x"), ("\t", "https://x"), (5, "https://x"), ("me", b"https://x"),
                                 ("me", None), (None, "https://x"), ("", "")):  # fmt: skip
            with self.subTest(identity=identity, issuer=issuer):
                error = self.refused("usage.argument", Signature, identity=identity, oidc_issuer=issuer)
                self.assertRegex(str(error), "may be blank|pass one of")

    def test_one_signature_or_config_serves_many_threads(self):
        self.sign()
        config = model_signing.verifying.Config().use_elliptic_key_verifier(public_key=keys().public)
        signatures = [self.trusted, Signature(config=config), Signature(config=config)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            done = list(pool.map(lambda i: signing.verify(self.path, signatures[i % 3], threads=2), range(16)))
        self.assertEqual(set(done), {len(self.entries)})

    def test_progress_counts_the_bytes_of_entries(self):
        calls: list[tuple[int, int]] = []
        signing.sign(self.path, private_key=keys().private, progress=lambda *numbers: calls.append(numbers))
        signing.verify(self.path, self.trusted, progress=lambda *numbers: calls.append(numbers))
        total = sum(map(len, self.entries.values()))
        self.assertEqual((calls[-1], calls.count((total, total))), ((total, total), 2))

    def test_remote_archive_takes_bundle_inside_or_given(self):
        self.sign(inside=True)
        memory = fsspec.filesystem("memory")
        memory.pipe("/signed/m.onnxar", self.path.read_bytes())
        self.addCleanup(memory.store.clear)
        self.assertEqual(signing.verify("memory://signed/m.onnxar", self.trusted), len(self.entries))
        with onnxar.open("memory://signed/m.onnxar", verify=self.trusted) as archive:
            self.assertEqual(archive["w"].tobytes(), self.entries["w"])
        memory.pipe("/signed/m.onnxar", self.written(self.entries).read_bytes())
        self.refused("signature.invalid", onnxar.open, "memory://signed/m.onnxar", verify=self.trusted)
        signing.verify("memory://signed/m.onnxar", self.with_bundle(bundle_of(statement_of(self.rows()))))


    def test_weight_with_the_name_of_a_signature_is_signed(self):
        proto = model(linked("w", 512, location=SIGNATURE, length=2048))
        self.written({SIGNATURE: bytes(2048), MODEL: proto})
        self.refused("usage.argument", self.sign, inside=True, overwrite=True)
        self.sign(output=self.folder / "b")
        trusted = Signature(public_key=keys().public, bundle=self.folder / "b")
        self.assertEqual(signing.verify(self.path, trusted), 2)
        self.written({SIGNATURE: bytes([1] * 2048), MODEL: proto})
        self.wrong(SIGNATURE, signing.verify, self.path, trusted)

    def test_covered_signature_of_another_is_verified(self):
        entries = {SIGNATURE: b"of another", **self.entries}
        self.written(entries)
        bundle = self.with_bundle(bundle_of(statement_of(self.rows(entries))))
        self.assertEqual(signing.verify(self.path, bundle), len(entries))
        self.written({**entries, SIGNATURE: b"of an attacker"})
        self.wrong(SIGNATURE, signing.verify, self.path, bundle)


class StockCommand(SigningTest):
    def test_the_stock_command_verifies_what_we_sign(self):
        self.sign()
        folder = self.unzipped()
        verify = ("verify", "key", folder, "--signature", self.beside, "--public_key", keys().public)
        self.assertEqual(self.stock(*verify), "")
        (folder / "w").write_bytes(self.changed("w")["w"])
        self.assertIn("w", self.stock(*verify))

    def test_the_stock_command_verifies_a_bundle_inside(self):
        self.sign(inside=True)
        folder = self.unzipped()
        self.assertEqual(self.stock("verify", "key", folder, "--signature", folder / SIGNATURE, "--public_key", keys().public), "")

    def test_we_verify_what_the_stock_command_signed(self):
        folder = self.unzipped()
        self.assertEqual(self.stock("sign", "key", folder, "--signature", self.beside, "--private_key", keys().private), "")
        self.assertEqual(signing.verify(self.path, self.trusted), len(self.entries))
        self.wrong("w", signing.verify, self.written(self.changed("w")), self.trusted)

    def test_certificates_of_an_authority(self):
        root_key, root, root_path = keys().authority("root")
        middle_key = ec.generate_private_key(ec.SECP256R1())
        middle, middle_path = keys().certificate("middle", middle_key, root, root_key, ca=True)
        key = ec.generate_private_key(ec.SECP256R1())
        _, leaf_path = keys().certificate("leaf", key, middle, middle_key)
        private, _ = keys().pair("leaf", key)
        signing.sign(self.path, private_key=private, signing_certificate=leaf_path, certificate_chain=[middle_path])
        signing.verify(self.path, Signature(certificate_chain=[root_path]))
        folder = self.unzipped()
        chain = ("--certificate_chain", root_path)
        self.assertEqual(self.stock("verify", "certificate", folder, "--signature", self.beside, *chain), "")
        stock = self.folder / "stock.sig"
        self.assertEqual(self.stock("sign", "certificate", folder, "--signature", stock, "--private_key", private,
                                    "--signing_certificate", leaf_path, "--certificate_chain", middle_path), "")  # fmt: skip
        signing.verify(self.path, Signature(certificate_chain=[root_path], bundle=stock))
        self.invalid(stock.read_bytes(), public_key=keys().public)

    def test_certificates_of_others_or_other_use_fail(self):
        root_key, root, root_path = keys().authority("root")
        other_key, other, other_path = keys().authority("root")  # with the same name
        root_path.write_bytes(root.public_bytes(serialization.Encoding.PEM))
        for name, issuer, issuer_key, signs in (("stranger", other, other_key, True), ("agreement", root, root_key, False)):
            key = ec.generate_private_key(ec.SECP256R1())
            _, leaf = keys().certificate(name, key, issuer, issuer_key, signs=signs)
            private, _ = keys().pair(name, key)
            # The chain in the bundle is the signer's: its root must not become one that is trusted.
            signing.sign(self.path, private_key=private, signing_certificate=leaf, certificate_chain=[other_path], overwrite=True)
            self.invalid(self.beside.read_bytes(), certificate_chain=[root_path])
        self.refused("usage.argument", signing.sign, self.path, private_key=keys().private, signing_certificate=leaf)


class Guide(SigningTest):
    def test_the_blocks_of_the_page_run(self):
        page = (pathlib.Path(__file__).parents[2] / "docs/signing.md").read_text()
        blocks = re.findall(r"^<!-- run by python/tests/signing_slow_test.py -->\n```(sh|python)\n(.*?)^```", page, re.M | re.S)
        self.assertEqual([language for language, _ in blocks], ["sh", "python", "sh"])
        for name, words in (("python3", ""), ("onnxar-py", "-m onnxar")):
            (self.folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
            (self.folder / name).chmod(0o755)
        proto = matmul_model()
        proto.graph.initializer[0].name = proto.graph.node[0].input[1] = "encoder.weight"
        onnxar.save(proto, self.folder / "model.onnxar")
        for language, text in blocks:
            command = ["bash", "-euo", "pipefail", "-c", text] if language == "sh" else [sys.executable, "-c", text]
            environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
            done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)


class Command(SigningTest):
    def ran(self, *words: object) -> tuple[int, str, str]:
        done = subprocess.run([sys.executable, "-m", "onnxar", *map(str, words)], capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONWARNINGS": "error"})  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    def test_sign_and_verify(self):
        self.assertEqual(self.ran("sign", self.path, "--private_key", keys().private), (0, f"signed: {self.beside}\n", ""))
        said = f"verified: {self.path}: all {len(self.entries)} entries are those that were signed\n"
        self.assertEqual(self.ran("verify", self.path, "--public-key", keys().public), (0, said, ""))
        code, out, error = self.ran("sign", self.path, "--private-key", keys().private)
        self.assertEqual((code, out), (2, ""))
        self.assertIn("-f replaces it", error)
        self.assertEqual(self.ran("sign", "-q", self.path, "--inside", "--private-key", keys().private), (0, "", ""))
        self.assertEqual(self.ran("verify", "-q", "--inside", self.path, "--public-key", keys().public), (0, "", ""))

    def test_exit_codes_name_the_failure(self):
        self.sign()
        self.written(self.changed("w"))
        code, out, error = self.ran("verify", self.path, "--public-key", keys().public)
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(error, r"^onnxar: error\[signature.mismatch\] .*: entry 'w': .*\n$")
        self.assertEqual(self.ran("verify", self.path, "--public-key", keys().other_public)[0], 1)
        self.assertEqual(self.ran("verify", self.path)[0], 2)
        self.assertEqual(self.ran("verify", self.path, "--certificate-chain", self.folder / "none")[0], 3)
        self.assertEqual(self.ran("sign", self.path, "--private-key", keys().private, "--use-staging")[0], 2)
        code, _, error = self.ran("sign", self.path, "--sigstore", "--signing-certificate", keys().public)
        self.assertEqual((code, "need --private-key" in error), (2, True))
        self.path.write_bytes(b"PK")
        self.assertEqual(self.ran("verify", self.path, "--public-key", keys().public)[0], 4)

    def test_password_is_read_from_a_file_only(self):
        private, public = keys().pair("locked", ec.generate_private_key(ec.SECP256R1()), b"secret of mine")
        secret = self.folder / "secret"
        words = ["sign", "-f", str(self.path), "--private-key", str(private)]
        for content, code in ((b"secret of mine\nmore\n", 0), (b"wrong", 2), (b"", 2), (b"\xff", 2), (None, 3)):
            secret.unlink(missing_ok=True)
            if content is not None:
                secret.write_bytes(content)
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(_sign_command.main([*words[1:], "--password-file", str(secret)]), code, content)
        self.assertEqual(self.ran(*words, "--password", "secret of mine")[0], 2)
        signing.verify(self.path, Signature(public_key=public))

    def test_missing_package_error_says_how_to_install_it(self):
        with unittest.mock.patch.dict(sys.modules, {"model_signing": None}):
            error = self.refused("usage.argument", Signature, public_key=keys().public)
        self.assertIn("pip install onnxar[sign]", str(error))


if __name__ == "__main__":
    unittest.main()
