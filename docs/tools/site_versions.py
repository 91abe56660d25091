"""Writes the pages of a site that lead to the folders of its versions: index.html to the newest, and versions.html to all.

Usage: site_versions.py SITE
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>onnxar</title>
"""


def versions(site: Path) -> list[str]:
    """Returns the versions that the site has, the newest first."""
    found = [path.name for path in site.iterdir() if re.fullmatch(r"\d+\.\d+\.\d+", path.name) and (path / "docs/index.html").is_file()]
    return sorted(found, key=lambda name: [int(part) for part in name.split(".")], reverse=True)


def write(site: Path) -> None:
    links = [f'<a href="{version}/docs/index.html">onnxar {version}</a>' for version in versions(site)]
    if not links:
        sys.exit(f"{site} has no version; run ./dev docs")
    newest = links[0].split('"')[1]
    (site / "index.html").write_text(f'{HEAD}<meta http-equiv="refresh" content="0; url={newest}">\n</head>\n<body><p>{links[0]}</p></body>\n</html>\n')
    items = "".join(f"<li>{link}</li>\n" for link in links)
    (site / "versions.html").write_text(f"{HEAD}</head>\n<body>\n<h1>Versions</h1>\n<ul>\n{items}</ul>\n</body>\n</html>\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
