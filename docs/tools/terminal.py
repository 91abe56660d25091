"""Records the command at work in a terminal, as the picture docs/terminal.svg of the README.

Usage: terminal.py ONNXAR, which prints the picture
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
import tempfile
import termios
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = (
    "onnxar pack model.onnx",
    "onnxar ls model.onnxar",
    "onnxar check --data model.onnxar",
    "onnxar replace model.onnxar --add tokenizer.json=tokenizer.json",
    "onnxar undo model.onnxar --force",
    "onnxar unpack model.onnxar -o again.onnx && cmp model.onnx again.onnx && echo identical",
)
PYTHON = "/usr/bin/python3"  # has onnx, as in the quick start
COLUMNS, ROW, LETTER, MARGIN = 120, 19, 7.8, 18  # LETTER: the width of a letter of 13 pixels in most fixed fonts
STYLE = """
  text { white-space: pre }
  .paper { fill: #f6f8fa } .ink { fill: #1c2733 } .typed { fill: #0b6b3a }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #14191f } .ink { fill: #eef2f6 } .typed { fill: #8fe3b4 }
  }
"""


def run(command: str, folder: Path, tool: Path) -> list[str]:
    """Returns the lines that a terminal shows after the command. Bold text is between the escape codes of bold."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    environment = {"PATH": f"{tool.parent}:{os.environ['PATH']}", "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    with subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 1 << 16):
                shown += part
        except OSError:  # on Linux, the end of a terminal that has no writer any more
            pass
    os.close(ours)
    if process.returncode:
        sys.exit(f"terminal.py: `{command}` failed:\n{shown.decode()}")
    lines = shown.decode().replace("\r\n", "\n").splitlines()
    return [line.rpartition("\r")[2].replace("\x1b[K", "") for line in lines]  # without the progress that was overwritten


def record(tool: Path) -> list[tuple[str, list[str]]]:
    """Returns each command with the lines that it printed, in a new folder with the model of the guides."""
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([PYTHON, "-BI", ROOT / "examples/make_model.py", Path(name, "model.onnx")], check=True)
        return [(command, run(command, Path(name), tool.absolute())) for command in COMMANDS]


def markup(line: str) -> str:
    text = re.sub(r"\x1b\[1m(.*?)\x1b\[0?m", r'<tspan font-weight="700">\1</tspan>', escape(line, quote=False))
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def picture(tool: str) -> str:
    rows = []
    for command, lines in record(Path(tool)):
        rows.append(f'<tspan class="typed">$ {escape(command, quote=False)}</tspan>')
        rows += [*map(markup, lines), ""]
    height = 2 * MARGIN + ROW * (len(rows) - 1)
    width = 2 * MARGIN + LETTER * max(len(re.sub(r"<.*?>", "", row)) for row in rows)
    text = "".join(f'<text x="{MARGIN}" y="{MARGIN + ROW * (i + 0.7):.0f}">{row}</text>\n' for i, row in enumerate(rows) if row)
    described = "; ".join(COMMANDS)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img" aria-labelledby="title description" '
            'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13">\n'
            '<title id="title">onnxar in a terminal</title>\n'
            f'<desc id="description">A terminal runs these commands and shows what they print: {escape(described, quote=False)}.</desc>\n'
            f'<style>{STYLE}</style>\n<rect class="paper" width="{width:.0f}" height="{height}" rx="8"/>\n'
            f'<g class="ink">\n{text}</g>\n</svg>\n')  # fmt: skip


if __name__ == "__main__":
    print(picture(sys.argv[1]), end="")
