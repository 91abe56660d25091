"""An endless row of mutants of archives and of zips of other makers.

A mutant is a function of a seed and a number, so that any piece of a row can be made again alone.
"""

from __future__ import annotations

import functools
import random
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import foreign
import recipes
from mutations import FAMILIES, Base, Mutation, as_bases, vectors
from pieces import dissect
from splices import splice

VECTORS = Path(__file__).resolve().parents[3] / "spec" / "vectors"
SPLICES = "splices"

# How often each family is used, except SPLICES with its own weight: as often as in the fixed set, or nearly.
WEIGHTS = {name: 20 + count**0.5 for name, (count, _) in FAMILIES.items()} | {SPLICES: 300}
AGAIN = 0.2  # of the mutants are mutated once more
LARGEST = 1 << 18  # bytes; mutations of mutants grow


@functools.cache
def groups() -> dict[str, list[Base]]:
    """What mutants begin with, and how often: archives, foreign zips, vectors of the specification."""
    valid, invalid = (as_bases(vectors(VECTORS / name)) for name in ("valid", "invalid"))
    return {
        "own": as_bases(recipes.bases()),
        "foreign": as_bases(foreign.zips()),
        "valid": valid,
        "invalid": invalid,
        "crafted": as_bases(recipes.crafted()),
    }


SHARES = {"own": 25, "foreign": 50, "valid": 14, "invalid": 8, "crafted": 3}


def some_base(rng: random.Random) -> Base:
    (name,) = rng.choices([*SHARES], [*SHARES.values()])
    return rng.choice(groups()[name])


def mutated(rng: random.Random, base: Base) -> tuple[str, bytes]:
    while True:
        (name,) = rng.choices([*WEIGHTS], [*WEIGHTS.values()])
        try:
            if name == SPLICES:
                return splice(rng, base, some_base(rng))
            made = next(FAMILIES[name][1](rng, base), None)
        except (struct.error, ValueError, IndexError, StopIteration, zlib.error):  # pieces that do not fit
            continue
        if made is not None:
            return made


def mutant(seed: str, number: int) -> Mutation:
    rng = random.Random(f"{seed} {number}")
    base = some_base(rng)
    kind, file = mutated(rng, base)
    while rng.random() < AGAIN and 0 < len(file) < LARGEST:
        more, file = mutated(rng, Base(base.name, file, dissect(file)))
        kind += f"; {more}"
    return Mutation(kind, base.name, file)


def mutants(seed: str, first: int, count: int) -> Iterator[Mutation]:
    return (mutant(seed, number) for number in range(first, first + count))
