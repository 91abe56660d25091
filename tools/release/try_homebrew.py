"""Parses packaging/homebrew/onnxar.rb with Ruby. Homebrew itself is not used.

Usage: python try_homebrew.py
"""

from __future__ import annotations

import recipes
from pins import WORK
from sdist import run

PLACE = WORK / "packaging/homebrew"


def main() -> None:
    recipes.fill(PLACE / "recipes", recipes.values(recipes.make_source(PLACE)))
    print("onnxar.rb:", run("ruby", "-wc", PLACE / "recipes/homebrew/onnxar.rb"), end="")


if __name__ == "__main__":
    main()
