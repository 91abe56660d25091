"""A build without a preset compiles every source as the release build does, except that warnings are not errors.

Usage: plain.py PLAIN_BUILD RELEASE_BUILD, both configured
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path


def commands(build: Path) -> dict[str, list[str]]:
    """The options of each source, without the compiler's path; both by names that do not depend on the build's folder."""
    found = {}
    for row in json.loads((build / "compile_commands.json").read_text()):
        words = [word.replace(str(build), "BUILD") for word in shlex.split(row["command"])]
        start = next(i for i, word in enumerate(words) if word.startswith("-"))  # after a launcher and the compiler
        end = words.index("-o")
        found[row["file"].replace(str(build), "BUILD")] = words[start:end]
    return found


def main(plain: Path, release: Path) -> str | None:
    ours, theirs = commands(plain), commands(release)
    if len(ours) < 30:  # joined ones
        return f"plain: {plain} compiles only {len(ours)} sources"
    for source, options in ours.items():
        if "-Werror" in options:
            return f"plain: warnings of {source} are errors"
        if options != [word for word in theirs.get(source, []) if word != "-Werror"]:
            return f"plain: {source} is compiled with {options}, and by the release build with {theirs.get(source)}"
    print(f"{len(ours)} sources")
    return None


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*(Path(argument).resolve() for argument in sys.argv[1:])))
