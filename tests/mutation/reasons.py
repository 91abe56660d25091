"""Why a mutant survives: reasons.toml, keyed by file, function and text, not by line."""

import dataclasses
import pathlib
import tomllib

from copies import Site


@dataclasses.dataclass(frozen=True)
class Reason:
    """One entry of reasons.toml. `nth` is -1 if it holds for all sites with these texts; "*" is any text."""

    file: str
    function: str
    text: str
    changed: str
    reason: str
    nth: int = -1

    def matches(self, site: Site) -> bool:
        return ((self.file, self.function) == (site.file, site.function) and self.text in {"*", site.text}
                and self.changed in {"*", site.changed} and self.nth in {-1, site.nth})


def load(path: pathlib.Path) -> list[Reason]:
    """All reasons of a file. Several changes of one text may share a reason."""
    out = []
    for file, functions in tomllib.loads(path.read_text()).items():
        for function, table in ((name, table) for name, tables in functions.items() for table in tables):
            changes = table.pop("changed")
            if len(table["reason"].split()) < 5:
                raise ValueError(f"{path}: a reason is a sentence, not {table['reason']!r}")
            out += [Reason(file, function, changed=each, **table) for each in (changes if isinstance(changes, list) else [changes])]
    return out


def why(site: Site, reasons: list[Reason]) -> str | None:
    return next((each.reason for each in reasons if each.matches(site)), None)


def unused(reasons: list[Reason], sites: list[Site]) -> list[Reason]:
    """Reasons whose text is no longer in the sources."""
    return [each for each in reasons if not any(each.matches(site) for site in sites)]
