"""Makes the reference of the Python package as Markdown from its sources: signatures and docstrings of public names."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python/onnxar"
MODULES = ("numpy", "torch", "onnxruntime", "signing", "inspection")
SECTIONS = ("Args:", "Returns:", "Raises:")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@functools.cache
def parsed(module: str) -> ast.Module:
    path = PACKAGE / f"{module.removeprefix('onnxar.')}.py"
    return ast.parse((path if path.exists() else PACKAGE / "__init__.py").read_text())


def definitions(tree: ast.Module) -> dict[str, Definition]:
    return {node.name: node for node in tree.body if isinstance(node, Definition)}


def exported() -> Iterator[tuple[str, Definition]]:
    """Yields the names of the package itself, in the order of `__all__`, each with its definition."""
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
    """Returns the docstring as Markdown. Its sections (Args, Returns, Raises) become lists; examples, which are indented, stay code."""
    lines, section = [], ""
    for line in inspect.cleandoc(ast.get_docstring(node) or "").splitlines():
        if line in SECTIONS:
            section = line
            lines += [f"**{line[:-1]}**", ""]
        elif section and line.startswith("    "):
            lines.append(item(line[4:], section))
        else:
            section = section if not line else ""
            lines.append(line if line.startswith(("    ", ">>>")) else plain(line))
    return "\n".join(lines)


def item(line: str, section: str) -> str:
    """Returns a line of a section; the first line of an argument begins an item of a list."""
    found = re.match(r"(\**\w+): (.*)", line)
    return f"- `{found[1]}`: {plain(found[2])}" if found and section != "Returns:" else plain(line if section == "Returns:" else f"  {line.strip()}")


def plain(line: str) -> str:
    parts = line.split("`")
    return "`".join(part if i % 2 else re.sub(r"(?<=\S)\*|\*(?=\w)", r"\\*", part) for i, part in enumerate(parts))


@functools.cache
def constants() -> dict[str, ast.Constant]:
    """Returns the constants that are defaults of options."""
    return {ast.unparse(node.targets[0]): node.value for node in parsed("onnxar._options").body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)}


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> str:
    """Returns the signature, with the values of constants; a long one has its keyword arguments on a separate line."""
    node.args.kw_defaults = [constants().get(each.id, each) if isinstance(each, ast.Name) else each for each in node.args.kw_defaults]
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
