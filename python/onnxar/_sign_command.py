"""Runs `onnxar-py sign`, and what it shares with `onnxar-py verify`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from onnxar import _bundle, signing
from onnxar._errors import Error, printable, unreadable, usage

# As the exit codes of the command `onnxar`: wrong calls, the machine; other errors are of the archive.
_EXIT = {"usage": 2, "output": 2, "io": 3, "remote": 3, "remote.address": 2, "archive.busy": 3, "signature": 1}


def parser_of(verb: str, description: str, example: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(f"onnxar-py {verb}", description=description, epilog=f"Example: onnxar-py {example}",
                                     allow_abbrev=False)  # fmt: skip
    parser.add_argument("archive", help="the path of an archive")
    parser.add_argument("-j", "--threads", type=int, default=0, help="threads that read (default: one per core)")
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    return parser


def add_option(add_argument: Callable[..., object], name: str, **options: Any) -> None:
    """Adds an option under two names: as this package and as model_signing write it."""
    add_argument(f"--{name}", f"--{name.replace('-', '_')}", **options)


def done(run: Callable[[], str], quiet: bool) -> int:
    """Prints what `run` returns, or its error. Returns the exit code."""
    try:
        said = run()
    except Error as error:
        text = str(error).removesuffix(f" [{error.code}]").replace("overwrite=True", "-f")
        print(f"onnxar: error[{error.code}] {text}", file=sys.stderr)
        return exit_code(error.code)
    if not quiet:
        print(said)
    return 0


def exit_code(code: str) -> int:
    return _EXIT.get(code, _EXIT.get(code.partition(".")[0], 4))


def main(words: Sequence[str]) -> int:
    parser = parser_of("sign", "Signs all entries of an archive.", "sign model.onnxar --private-key key.pem")
    who = parser.add_mutually_exclusive_group(required=True)
    add_option(who.add_argument, "private-key", metavar="PEM", help="elliptic curve key to sign with")
    who.add_argument("--sigstore", action="store_true", help="sign through Sigstore, which asks for an identity")
    add_option(parser.add_argument, "password-file", metavar="FILE", help="file whose first line is the password of the private key")
    add_option(parser.add_argument, "signing-certificate", metavar="PEM", help="certificate of the private key, which the bundle then has")
    add_option(parser.add_argument, "certificate-chain", metavar="PEM", action="append", default=[],
               help="certificate between it and the authority (repeatable)")  # fmt: skip
    add_option(parser.add_argument, "identity-token-file", metavar="FILE",
               help="with --sigstore: file whose first line is the token of an identity")  # fmt: skip
    add_option(parser.add_argument, "use-ambient-credentials", action="store_true", help="with --sigstore: the identity of a CI run")
    add_option(parser.add_argument, "use-staging", action="store_true", help="with --sigstore: its server for tests")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("-o", "--output", metavar="BUNDLE", help="path of the bundle, or of its folder (default: ARCHIVE.sig)")
    where.add_argument("--inside", action="store_true", help=f"add the bundle to the archive, as the entry {signing.SIGNATURE}")
    parser.add_argument("-f", "--force", action="store_true", help="replace a signature that is there")
    given = parser.parse_args(words)

    def run() -> str:
        path = signing.sign(
            given.archive, given.output, inside=given.inside, private_key=given.private_key, password=_first_line(given.password_file),
            signing_certificate=given.signing_certificate, certificate_chain=given.certificate_chain,
            config=_sigstore_signer(given), overwrite=given.force, threads=given.threads, progress=not given.quiet and sys.stderr.isatty(),
        )  # fmt: skip
        return f"signed: {printable(str(path))}"

    return done(run, given.quiet)


def _first_line(path: str | None) -> str | None:
    """Returns a secret from a file, because other users can see the arguments of a command. Raises usage.argument (it is empty), io.*."""
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            secret = file.readline(1 << 16).rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise usage("the file is not a text in UTF-8", path=path) from error
    except OSError as error:
        raise unreadable(error, path) from error
    if not secret:
        raise usage("the first line of the file is empty", path=path)
    return secret


def _sigstore_signer(given: argparse.Namespace) -> Any:
    token: dict[str, Any] = {
        "identity_token": _first_line(given.identity_token_file), "use_ambient_credentials": given.use_ambient_credentials,
        "use_staging": given.use_staging,
    }  # fmt: skip
    if not given.sigstore:
        if any(token.values()):
            raise usage("options of Sigstore need --sigstore")
        return None
    if given.password_file or given.signing_certificate or given.certificate_chain:
        raise usage("a password and certificates need --private-key")
    return _bundle.sigstore_signer(**token)
