"""Attacks on signatures: other content, other statements of the trusted key, and bundles of an attacker who has no key."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import unittest
import unittest.mock
from typing import Any

import model_signing
from guarded import FILE
from signing_support import SigningTest, bundle_of, keys, statement_of
from support import RangedFile

import onnxar
from onnxar import _bundle, signing
from onnxar.signing import SIGNATURE, Signature


class Content(SigningTest):
    """The archive differs from the signed one."""

    def test_every_change_is_found(self):
        self.sign()
        swapped = {**self.entries, "own": self.entries["b"], "b": self.entries["own"]}
        added, removed = {"added": b"x", **self.entries}, {name: data for name, data in self.entries.items() if name != FILE}
        renamed = {("T.json" if name == FILE else name): data for name, data in self.entries.items()}
        cases = [("b", swapped), ("added", added), (FILE, removed), ("T.json", renamed)]
        cases += [(name, self.changed(name)) for name in self.entries]
        for name, entries in cases:
            with self.subTest(name):
                error = self.wrong(name, signing.verify, self.written(entries), self.trusted)
                self.assertEqual(error.path, str(self.path))

    def test_new_signature_refuses_the_old_state(self):
        onnxar.replace(self.path, side_files={"new.json": b"1"})
        self.sign()
        signing.verify(self.path, self.trusted)
        onnxar.undo(self.path)
        self.wrong("new.json", signing.verify, self.path, self.trusted)

    def test_edit_breaks_the_signature_inside_until_undo(self):
        self.sign(inside=True)
        onnxar.replace(self.path, side_files={FILE: b"[]"})
        self.wrong(FILE, signing.verify, self.path, self.trusted)
        # A signature does not say that it is the newest: an older state that was signed is valid.
        onnxar.undo(self.path)
        signing.verify(self.path, self.trusted)
        onnxar.undo(self.path)
        self.refused("signature.invalid", signing.verify, self.path, self.trusted)

    def test_the_bundle_of_another_archive_is_refused(self):
        other = self.written(self.changed("w"), self.folder / "other.onnxar")
        bundle = signing.sign(other, private_key=keys().private)
        self.wrong("w", signing.verify, self.path, Signature(public_key=keys().public, bundle=bundle))
        bundle = signing.sign(self.folder / "whole.onnxar", private_key=keys().private)
        error = self.refused("signature.mismatch", onnxar.open, self.path, verify=Signature(public_key=keys().public, bundle=bundle))
        self.assertIn(error.entry, self.entries)

    def test_two_bundles_are_refused_unless_one_is_named(self):
        self.sign(inside=True)
        self.sign()
        self.refused("signature.invalid", signing.verify, self.path, self.trusted)
        signing.verify(self.path, Signature(public_key=keys().public, inside=True))
        signing.verify(self.path, Signature(public_key=keys().public, bundle=self.beside))
        self.beside.write_bytes(b"{}")
        signing.verify(self.path, Signature(public_key=keys().public, inside=True))
        self.refused("signature.invalid", signing.verify, self.path, Signature(public_key=keys().public, bundle=self.beside))

    def test_names_count_as_they_are(self):
        rows = dict(self.rows())
        digest = rows.pop(FILE)
        for name in ("./" + FILE, FILE + "/", "T.JSON", "x/../" + FILE, "\\" + FILE, FILE + "\0", "/" + FILE, FILE + " ", "\uff54.json"):
            with self.subTest(name):
                bundle = bundle_of(statement_of([*rows.items(), (name, digest)]))
                self.wrong(FILE, signing.verify, self.path, self.with_bundle(bundle))
                bundle = bundle_of(statement_of([*rows.items(), (FILE, digest), (name, digest)]))
                self.wrong(name, signing.verify, self.path, self.with_bundle(bundle))

    def test_composed_and_decomposed_names_are_refused(self):
        composed, decomposed = "caf\u00e9.json", "cafe\u0301.json"
        for name in (composed, decomposed):
            self.refused("zip.name.character", onnxar.open, self.written({name: b"1", **self.entries}), verify=self.trusted)
        self.written(self.entries)
        for names in ((composed,), (decomposed, composed)):
            bundle = bundle_of(statement_of([*self.rows(), *((name, "00" * 32) for name in names)]))
            self.wrong(min(names), signing.verify, self.path, self.with_bundle(bundle))

    def test_files_that_a_signer_ignored_are_not_covered(self):
        folder = self.unzipped()
        ignoring = ("--ignore-paths", folder / FILE)
        self.assertEqual(self.stock("sign", "key", folder, "--signature", self.beside, "--private_key", keys().private, *ignoring), "")
        self.assertIn(FILE, json.loads(base64.b64decode(json.loads(self.beside.read_bytes())["dsseEnvelope"]["payload"]))
                      ["predicate"]["serialization"]["ignore_paths"])  # fmt: skip
        self.wrong(FILE, onnxar.open, self.path, verify=self.trusted)

    def test_git_files_are_covered_unlike_by_stock_command(self):
        self.written({".gitignore": b"x", **self.entries})
        folder = self.unzipped()
        self.assertEqual(self.stock("sign", "key", folder, "--signature", self.beside, "--private_key", keys().private), "")
        self.wrong(".gitignore", onnxar.open, self.path, verify=self.trusted)
        self.sign(overwrite=True)
        signing.verify(self.path, self.trusted)
        verify = ("verify", "key", folder, "--signature", self.beside, "--public_key", keys().public)
        self.assertIn(".gitignore", self.stock(*verify))
        self.assertEqual(self.stock(*verify, "--no-ignore-git-paths"), "")


class Statements(SigningTest):
    """The trusted key signed something other than a list of whole files with their SHA-256."""

    def test_the_statement_that_is_right_is_accepted(self):
        signing.verify(self.path, self.with_bundle(bundle_of(statement_of(self.rows()))))
        symlinks = statement_of(self.rows())
        symlinks["predicate"]["serialization"]["allow_symlinks"] = True
        signing.verify(self.path, self.with_bundle(bundle_of(symlinks)))

    def test_other_algorithms_and_shards_are_refused(self):
        folder = self.unzipped()
        hashing = model_signing.hashing.Config
        for said, config in (("blake3", hashing().use_file_serialization(hashing_algorithm="blake3")),
                             ("blake2", hashing().use_file_serialization(hashing_algorithm="blake2")),
                             ("shards", hashing().use_shard_serialization())):  # fmt: skip
            signer = model_signing.signing.Config().use_elliptic_key_signer(private_key=keys().private).set_hashing_config(config)
            signer.sign(folder, self.beside)
            self.invalid(self.beside.read_bytes(), said)

    def test_a_resource_of_another_algorithm_is_refused(self):
        for key, value in (("algorithm", "blake3"), ("algorithm", "sha256-sharded-1000"), ("algorithm", None), ("digest", "00" * 31),
                           ("digest", "zz" * 32), ("digest", None), ("name", None), ("name", 5), ("name", ["w"])):  # fmt: skip
            statement = statement_of(self.rows())
            statement["predicate"]["resources"][0][key] = value
            with self.subTest(key=key, value=value):
                self.invalid(bundle_of(statement))

    def test_repeated_names_are_refused(self):
        for row in (self.rows()[0], (self.rows()[0][0], "00" * 32)):
            self.invalid(bundle_of(statement_of([*self.rows(), row])), "repeated")
            self.invalid(bundle_of(statement_of([row, *self.rows()])), "repeated")

    def test_repeated_keys_are_refused(self):
        text = json.dumps(statement_of(self.rows()))
        self.invalid(bundle_of(text.replace('"_type"', '"predicate": {}, "_type"', 1).encode()), "repeated")

    def test_an_empty_list_covers_nothing(self):
        error = self.refused("signature.mismatch", onnxar.open, self.path, verify=self.with_bundle(bundle_of(statement_of([]))))
        self.assertIn(error.entry, self.entries)

    def test_other_statements_of_the_same_key_are_refused(self):
        right = statement_of(self.rows())
        compat = [{"name": name, "digest": {"sha256": digest}} for name, digest in self.rows()]
        for changes in ({"predicateType": "https://slsa.dev/provenance/v1"}, {"_type": "https://in-toto.io/Statement/v0.1"},
                        {"predicateType": "https://model_signing/Digests/v0.1", "subject": compat}, {"subject": []},
                        {"subject": right["subject"] * 2}, {"subject": [{"name": "m", "digest": {"sha256": "00" * 32}}]},
                        {"predicate": None}, {"predicate": {}}, {"predicate": {**right["predicate"], "resources": None}}):  # fmt: skip
            with self.subTest(changes):
                self.invalid(bundle_of({**right, **changes}))
        for payload in (b"", b"[]", b"null", b"5", b"[" * 100_000, b"\xff", json.dumps([right]).encode()):
            with self.subTest(payload[:20]):
                self.invalid(bundle_of(payload))

    def test_another_type_of_payload_is_refused(self):
        self.invalid(bundle_of(statement_of(self.rows()), kind="application/json"))


class Bundles(SigningTest):
    """The attacker has no trusted key."""

    def right(self) -> dict[str, Any]:
        return json.loads(bundle_of(statement_of(self.rows())))

    def test_bytes_that_are_no_bundle(self):
        for data in (b"", b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000, b"x" * 1000, self.path.read_bytes()[:5000]):
            with self.subTest(data[:10]):
                self.invalid(data)

    def test_every_field_that_is_changed_or_missing(self):
        right = self.right()
        forged = json.dumps(statement_of(self.rows(self.changed("w")))).encode()
        for field, value in (("payload", base64.b64encode(forged).decode()), ("payload", None), ("payloadType", "text/plain"),
                             ("signatures", []), ("signatures", None), ("signatures", [{"sig": "", "keyid": ""}]),
                             ("signatures", [{"sig": base64.b64encode(b"0" * 70).decode(), "keyid": ""}])):  # fmt: skip
            with self.subTest(field=field, value=value):
                self.invalid(json.dumps({**right, "dsseEnvelope": {**right["dsseEnvelope"], field: value}}).encode())
        for field in right:
            self.invalid(json.dumps({key: value for key, value in right.items() if key != field}).encode())

    def test_another_key_is_refused(self):
        signing.sign(self.path, private_key=keys().other)
        self.refused("signature.invalid", signing.verify, self.path, self.trusted)
        signing.verify(self.path, Signature(public_key=keys().other_public))
        # A key in the bundle must not count.
        bundle = json.loads(self.beside.read_bytes())
        bundle["verificationMaterial"]["publicKey"]["hint"] = hashlib.sha256(keys().public.read_bytes()).hexdigest()
        self.invalid(json.dumps(bundle).encode())

    def test_envelope_under_a_second_spelling_is_not_used(self):
        forged = {"payload": base64.b64encode(json.dumps(statement_of(self.rows(self.changed("w")))).encode()).decode()}
        right = self.right()
        envelope = right.pop("dsseEnvelope")
        path = self.written(self.changed("w"))
        for first, second in (("dsseEnvelope", "dsse_envelope"), ("dsse_envelope", "dsseEnvelope")):
            data = json.dumps({**right, first: envelope, second: {**envelope, **forged}}).encode()
            with self.assertRaises(onnxar.Error) as raised:
                signing.verify(path, self.with_bundle(data))
            self.assertIn(raised.exception.code, ("signature.mismatch", "signature.invalid"))
        text = json.dumps({**right, "dsseEnvelope": envelope})
        twice = text[:-1] + ', "dsseEnvelope": ' + json.dumps({**envelope, **forged}) + "}"
        self.refused("signature.invalid", signing.verify, path, self.with_bundle(twice.encode()))

    def test_a_huge_bundle_is_refused_before_it_is_parsed(self):
        with self.beside.open("wb") as file:
            file.truncate(1 << 40)
        for call in (lambda: signing.verify(self.path, self.trusted), lambda: onnxar.open("/dev/null", verify=self.trusted)):
            self.assertRaises(onnxar.Error, call)
        self.refused("signature.invalid", signing.verify, self.path, Signature(public_key=keys().public, bundle="/dev/zero"))
        self.beside.unlink()
        self.written({SIGNATURE: bytes(4 << 20), **self.entries})
        with unittest.mock.patch.object(_bundle, "_authentic", side_effect=AssertionError):
            self.assertIn("at most", str(self.refused("signature.invalid", signing.verify, self.path, self.trusted)))
        self.refused("io.failed", signing.verify, self.path, Signature(public_key=keys().public, bundle=self.folder))

    def test_huge_bundle_of_remote_archive_is_not_fetched(self):
        served = RangedFile(self.written({SIGNATURE: bytes(4 << 20), **self.entries}).read_bytes())
        self.refused("signature.invalid", self.trusted.digests, served.open(), "m", None)
        self.assertLess(served.fetched, 100_000)

    def test_bundle_may_have_exactly_the_maximum_size(self):
        most = _bundle.most_bytes([*self.entries, SIGNATURE])
        bundle = bundle_of(statement_of(self.rows()))
        self.written({SIGNATURE: bundle + b" " * (most - len(bundle)), **self.entries})
        signing.verify(self.path, self.trusted)
        self.written({SIGNATURE: bundle + b" " * (most + 1 - len(bundle)), **self.entries})
        self.refused("signature.invalid", signing.verify, self.path, self.trusted)

    # Nothing is printed.
    def test_bundle_without_key_hint_is_refused_silently(self):
        for material in ({"publicKey": {}}, {"publicKey": {"hint": ""}}, {"publicKey": {"hint": None}}, {"publicKey": None}):
            with self.subTest(material), contextlib.redirect_stdout(io.StringIO()) as printed:
                self.invalid(json.dumps({**self.right(), "verificationMaterial": {**material, "tlogEntries": []}}).encode())
            self.assertEqual(printed.getvalue(), "")

    def test_names_may_be_long_and_many(self):
        entries = {**{f"{i:05d}" * 40 + "&!": b"x" for i in range(500)}, **self.entries}
        self.written(entries)
        self.sign()
        self.assertEqual(signing.verify(self.path, self.trusted), len(entries))


if __name__ == "__main__":
    unittest.main()
