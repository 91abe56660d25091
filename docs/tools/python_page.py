"""Makes the reference of the Python package as Markdown, of its sources alone: signatures and docstrings of what is public."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python/onnxar"
MODULES = ("numpy", "torch", "onnxruntime", "signing", "inspection")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@functools.cache
def parsed(module: str) -> ast.Module:
    path = PACKAGE / f"{module.removeprefix('onnxar.')}.py"
    return ast.parse((path if path.exists() else PACKAGE / "__init__.py").read_text())


def definitions(tree: ast.Module) -> dict[str, Definition]:
    return {node.name: node for node in tree.body if isinstance(node, Definition)}


def exported() -> Iterator[tuple[str, Definition]]:
    """The names of the package itself, in the order of `__all__`, each with what defines it."""
    tree = parsed("onnxar")
    places, others, names = {}, {}, []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("onnxar."):
            places.update({each.asname or each.name: node.module for each in node.names})
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if isinstance(node.value, ast.Name):
                others[node.targets[0].id] = node.value.id
            elif node.targets[0].id == "__all__":
                names = ast.literal_eval(node.value)
    for name in names:
        source = others.get(name, name)
        yield name, definitions(parsed(places[source]))[source]


def text(node: Definition | ast.Module) -> str:
    """The docstring as Markdown: `io.*` outside of code has no emphasis; examples, which are indented, stay as they are."""
    lines = inspect.cleandoc(ast.get_docstring(node) or "").splitlines()
    return "\n".join(line if line.startswith(("    ", ">>>")) else plain(line) for line in lines)


def plain(line: str) -> str:
    parts = line.split("`")
    return "`".join(part if i % 2 else re.sub(r"(?<=\S)\*|\*(?=\w)", r"\\*", part) for i, part in enumerate(parts))


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> str:
    """One parameter a line, if there are several lines of them."""
    given = ast.unparse(node.args).removeprefix("self").removeprefix(", ")
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    if len(name) + len(given) + len(result) < 120:
        return f"{name}({given}){result}"
    return f"{name}(\n    " + ast.unparse(node.args).replace(", *, ", ",\n    *,\n    ") + f"\n){result}"


def members(node: ast.ClassDef) -> Iterator[str]:
    all_fields = [(ast.unparse(each.target), ast.unparse(each.annotation)) for each in node.body if isinstance(each, ast.AnnAssign)]
    fields = [f"{name}: {annotation}" for name, annotation in all_fields if not name.startswith("_")]
    if fields:
        yield "```python\n" + "\n".join(fields) + "\n```\n"
    for each in node.body:
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) or not text(each):
            continue
        if each.name == "__init__" or not each.name.startswith("_"):
            is_property = any("property" in ast.unparse(one) for one in each.decorator_list)
            name = node.name if each.name == "__init__" else each.name
            shown = f"{name}: {ast.unparse(each.returns)}" if is_property and each.returns else signature(each, name)
            yield f"```python\n{shown}\n```\n\n{text(each)}\n"


def part(name: str, node: Definition) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, node.bases))
        return "\n".join([f"### {name}{f'({bases})' if bases else ''}\n", f"{text(node)}\n", *members(node)])
    return f"### {name}\n\n```python\n{signature(node, name)}\n```\n\n{text(node)}\n"


def page() -> str:
    parts = [part(name, node) for name, node in exported()]
    for module in MODULES:
        tree = parsed(module)
        parts.append(f"## onnxar.{module}\n\n{text(tree)}\n")
        public = {name: node for name, node in definitions(tree).items() if not name.startswith("_") and text(node)}
        parts += [part(name, node) for name, node in public.items()]
    return "\n".join(["## onnxar\n", *parts])
