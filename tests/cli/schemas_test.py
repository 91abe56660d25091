"""The schemas of docs/schemas: each output of --json, --json-errors and --json-progress has exactly the members that its
schema states, and every member of every schema occurs in some output."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from jsonschema import Draft202012Validator, RefResolver, ValidationError, validators
from onnx import TensorProto, helper, numpy_helper

from support import command_line
from support.command_line import ToolCase, at_once, run

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "spec/vectors"
SCHEMAS = {path.name: json.loads(path.read_text()) for path in sorted((ROOT / "docs/schemas").glob("*.json"))}
# A schema that states its dialect would be validated without the hook below.
DIALECTS = {name: schema.pop("$schema") for name, schema in SCHEMAS.items()}
FLOAT = TensorProto.FLOAT


class Seen:
    """Validates outputs, and remembers which members had a value that is not null and no empty list or object."""

    def __init__(self) -> None:
        self.members: set[int] = set()  # by the address of their schemas
        hooks = {"properties": self.properties}
        self.kind = validators.extend(Draft202012Validator, hooks)

    def properties(self, validator: Any, properties: dict, instance: Any, schema: dict) -> Iterator[ValidationError]:
        for name in instance if isinstance(instance, dict) else ():
            if name not in properties:
                yield ValidationError(f"no schema has the member {name}")
                continue
            self.members |= set() if instance[name] in (None, [], {}) else {id(properties[name])}
            yield from validator.descend(instance[name], properties[name], path=name, schema_path=name)

    def check(self, name: str, text: bytes | str) -> Any:
        document = json.loads(text)
        self.kind(SCHEMAS[name], resolver=RefResolver("", SCHEMAS[name], store=SCHEMAS)).validate(document)
        return document

    def missing(self) -> list[str]:
        return [f"{file}: {name}" for file, schema in SCHEMAS.items() for name, part in members(schema) if id(part) not in self.members]


def members(schema: Any) -> Iterator[tuple[str, dict]]:
    """Yields the members that a schema describes, at any depth."""
    for key, part in schema.items() if isinstance(schema, dict) else enumerate(schema) if isinstance(schema, list) else ():
        if key == "properties":
            yield from part.items()
        yield from members(part)


def model(opset: int = 13, weight: float = 1.0, metadata: bool = True, size: int | str | None = "batch") -> bytes:
    """A model with a function, a Constant, a normalisation, and open dimensions."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="first"),
        helper.make_node("BatchNormalization", ["h", "s", "s", "s", "s"], ["n"]),
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.full((600,), weight, np.float32), "")),
        helper.make_node("Twice", ["n"], ["t"], domain="own", name="call"),
        helper.make_node("Add", ["t", "c"], ["y"], doc_string="sum"),
    ]
    values = [numpy_helper.from_array(np.full((64, 600), weight, np.float32), "w"), numpy_helper.from_array(np.ones(600, np.float32), "s")]
    shape = [size, 64] if size else None
    ends = [[helper.make_tensor_value_info("x", FLOAT, shape)], [helper.make_tensor_value_info("y", FLOAT, [size, 600])]]
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    twice = helper.make_function("own", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], imports[:1])
    made = helper.make_model(helper.make_graph(nodes, "g", *ends, values), opset_imports=imports, functions=[twice], producer_name="test",
                             producer_version="1", doc_string="documented", domain="own", model_version=2)  # fmt: skip
    if metadata:
        helper.set_model_props(made, {"key": "value"})
    return made.SerializeToString()


class Schemas(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        self.seen = Seen()

    def validate(self, schema: str, *arguments: object) -> Any:
        done = run(*arguments)
        try:
            return self.seen.check(f"{schema}.json", done.stdout)
        except (ValidationError, json.JSONDecodeError) as error:
            self.fail(f"{' '.join(map(str, arguments))}: {error}\n{done.stderr}")

    def error(self, *arguments: object) -> None:
        self.seen.check("error.json", run("--json-errors", *arguments).stderr.splitlines()[-1])

    def show_vectors(self) -> None:
        rows = [row for row in json.loads((VECTORS / "manifest.json").read_text()) if not row.get("large")]

        def outputs(row: dict) -> None:
            path = VECTORS / row["file"]
            self.validate("check", "check", "--json", "--data", "-q", path)
            if row["stage"] is not None:
                return
            self.validate("ls", "ls", "--json", path)
            self.validate("digest", "digest", "--json", "-q", path)
            self.validate("diff-bytes", "diff", "--bytes", "--json", "-q", path, VECTORS / "valid/typical.onnxar")
            if row["file"].startswith("valid/"):
                self.validate("show", "show", "--json", "--nodes", path)
                self.validate("diff", "diff", "--json", "-q", path, VECTORS / "valid/typical.onnxar")

        at_once(outputs, rows)

    def show_models_with_everything(self) -> None:
        folder = self.folder / "family"
        self.write("family/model.onnx", model())
        self.write("family/other.onnx", model(weight=2, opset=14))
        self.write("family/notes.txt", b"first")
        first, second = self.folder / "first.onnxar", self.folder / "second.onnxar"
        self.succeeds("pack", folder, "-o", first)
        self.write("family/model.onnx", model(weight=float("nan"), opset=14))
        self.write("family/notes.txt", b"second")
        self.write("family/more.txt", b"more")
        self.succeeds("pack", folder, "-o", second)
        for archive in (first, second):
            self.validate("ls", "ls", "--json", archive)
            self.validate("show", "show", "--json", "--nodes", archive)
        plain, other = self.write("plain.onnx", model()), self.write("other.onnx", model(weight=2, metadata=False, size=None))
        for left, right in ((first, second), (second, first), (plain, other)):
            self.validate("diff", "diff", "--json", "-q", left, right)
        for path in (plain, other, self.write("fixed.onnx", model(size=1))):
            self.validate("show", "show", "--json", path)
        np.savez(self.folder / "w.npz", x=np.ones((1, 64), np.float32), w=np.ones((64, 600), np.float32), more=np.ones(3, np.float32))
        self.validate("freeze", "freeze", "--json", "-q", "--weights", self.folder / "w.npz", plain, "-o", self.output)
        self.validate("freeze", "freeze", "--json", "-q", "-f", VECTORS / "valid/text_case.onnxar", "-o", self.output)

    def show_broken_graphs(self) -> None:
        nodes = [helper.make_node("Add", ["b", "none"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]
        graph = helper.make_graph(nodes, "g", [], [helper.make_tensor_value_info("b", FLOAT, [1])])
        self.validate("show", "show", "--json", self.write("cycle.onnx", helper.make_model(graph).SerializeToString()))
        branch = helper.make_graph([helper.make_node("MatMul", ["x", "x"], ["z"])], "b", [], [helper.make_tensor_value_info("z", FLOAT, [4, 4])])
        choice = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
        ends = [helper.make_tensor_value_info("x", FLOAT, [4, 4]), helper.make_tensor_value_info("c", TensorProto.BOOL, [])]
        graph = helper.make_graph([choice], "g", ends, [helper.make_tensor_value_info("y", FLOAT, [4, 4])])
        self.validate("show", "show", "--json", self.write("if.onnx", helper.make_model(graph).SerializeToString()))

    def show_errors_and_progress(self) -> None:
        archive = Path(shutil.copy(VECTORS / "valid/typical.onnxar", self.folder))
        self.error("ls", self.folder / "none")
        self.error("cat", archive, "none")
        self.error("pack", archive, "-o", archive)
        self.error("ls", VECTORS / "invalid/flag_encrypted.onnxar")
        for line in run("--json-progress", "check", "--data", archive).stderr.splitlines():
            if line.startswith("{"):
                self.seen.check("progress.json", line)

    def test_wrong_outputs_are_refused(self) -> None:
        good = {"ok": True, "findings": []}
        Seen().check("check.json", json.dumps(good))
        for wrong in ({"ok": True}, {**good, "more": 1}, {**good, "findings": [{"code": "x"}]}):
            with self.assertRaises(ValidationError):
                Seen().check("check.json", json.dumps(wrong))

    def test_every_json_option_has_a_schema(self) -> None:
        verbs = re.findall(r"^### ([a-z]+)\n(?:(?!^### ).*\n)*?- `--json`", (ROOT / "docs/command-line.md").read_text(), re.MULTILINE)
        self.assertGreater(len(verbs), 4)
        self.assertEqual(set(DIALECTS.values()), {"https://json-schema.org/draft/2020-12/schema"})
        for verb in verbs:
            self.assertIn(f"{verb}.json", SCHEMAS)

    def test_outputs_have_the_members_of_schemas(self) -> None:
        self.show_vectors()
        self.show_models_with_everything()
        self.show_broken_graphs()
        self.show_errors_and_progress()
        self.assertEqual("\n".join(self.seen.missing()), "")


if __name__ == "__main__":
    command_line.main()
