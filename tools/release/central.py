"""Checks what Maven Central requires of the Java package, and lays out the files as Central takes them, without signatures."""

from __future__ import annotations

import hashlib
import shutil
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

MAVEN = "{http://maven.apache.org/POM/4.0.0}"
# https://central.sonatype.org/publish/requirements
REQUIRED = ("groupId", "artifactId", "version", "name", "description", "url", "licenses/license/name", "licenses/license/url",
            "developers/developer/name", "scm/connection", "scm/developerConnection", "scm/url")  # fmt: skip
KINDS = {"": "META-INF/LICENSE", "-sources": "io/github/onnxar/OnnxArchive.java", "-javadoc": "index.html"}  # a jar, and what it must contain


def pom_faults(pom: Path, group: str, version: str) -> list[str]:
    root = ET.parse(pom).getroot()

    def text(path: str) -> str:
        return (root.findtext(MAVEN + path.replace("/", f"/{MAVEN}")) or "").strip()

    found = [f"pom.xml has no {path}" for path in REQUIRED if not text(path)]
    if (text("groupId"), text("artifactId"), text("version")) != (group, "onnxar", version):
        found.append(f"pom.xml is of {text('groupId')}:{text('artifactId')}:{text('version')}, expected {group}:onnxar:{version}")
    found += [f"pom.xml has {name}, which Central refuses" for name in ("repositories", "pluginRepositories") if root.find(MAVEN + name) is not None]
    if any((each.text or "").endswith("-SNAPSHOT") for each in root.iter(f"{MAVEN}version")):
        found.append("pom.xml depends on a SNAPSHOT")
    return found


def jar_faults(folder: Path, version: str) -> list[str]:
    found = []
    for kind, wanted in KINDS.items():
        jar = folder / f"onnxar-{version}{kind}.jar"
        if not jar.is_file():
            found.append(f"{jar.name} was not built")
            continue
        with zipfile.ZipFile(jar) as opened:
            if wanted not in opened.namelist():
                found.append(f"{jar.name} lacks {wanted}")
    return found


def lay_out(pom: Path, built: Path, out: Path, version: str) -> list[Path]:
    """Copies pom and jars into `out`, each with its MD5 and SHA-1. Returns the files that a person has to sign."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    shutil.copy(pom, out / f"onnxar-{version}.pom")
    for kind in KINDS:
        shutil.copy(built / f"onnxar-{version}{kind}.jar", out)
    files = sorted(out.iterdir())
    for file in files:
        for name in ("md5", "sha1"):
            file.with_name(f"{file.name}.{name}").write_text(hashlib.new(name, file.read_bytes()).hexdigest())
    return files
