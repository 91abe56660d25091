"""Runs `onnxar-py verify`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from onnxar import signing
from onnxar._errors import printable
from onnxar._sign_command import add_option, done, parser_of


def main(words: Sequence[str]) -> int:
    parser = parser_of("verify", "Verifies the signature of an archive, and all entries.", "verify model.onnxar --public-key key.pub")
    who = parser.add_mutually_exclusive_group(required=True)
    add_option(who.add_argument, "public-key", metavar="PEM", help="elliptic curve key that signed")
    add_option(who.add_argument, "certificate-chain", metavar="PEM", action="append", default=[], help="certificate of an authority (repeatable)")
    who.add_argument("--identity", help="identity that signed through Sigstore")
    add_option(parser.add_argument, "identity-provider", metavar="URL", help="its OpenID Connect issuer")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--signature", metavar="BUNDLE", help=f"path of the bundle (default: ARCHIVE.sig, or the entry {signing.SIGNATURE})")
    where.add_argument("--inside", action="store_true", help=f"use only the entry {signing.SIGNATURE}")
    given = parser.parse_args(words)

    def run() -> str:
        signature = signing.Signature(
            public_key=given.public_key, certificate_chain=given.certificate_chain, identity=given.identity,
            oidc_issuer=given.identity_provider, bundle=given.signature, inside=given.inside,
        )  # fmt: skip
        count = signing.verify(given.archive, signature, threads=given.threads, progress=not given.quiet and sys.stderr.isatty())
        return f"verified: {printable(given.archive)}: all {count} entries are those that were signed"

    return done(run, given.quiet)
