"""Checks what fuzzing knows of the formats against their sources: ONNX's own descriptors, the schema, the specification."""

import re
import unittest

import dictionary
import onnx
from google.protobuf.internal import encoder

# The messages of model_tree.h, by their names in onnx.proto. Pairs and values stand for several small messages.
MESSAGES = {"model": "ModelProto", "graph": "GraphProto", "node": "NodeProto", "attribute": "AttributeProto",
            "tensor": "TensorProto", "sparse": "SparseTensorProto", "function": "FunctionProto", "training": "TrainingInfoProto"}  # fmt: skip


def by_hand(name: str) -> dict[str, bytes]:
    lines = (dictionary.HERE / name).read_text().splitlines()
    pairs = (line.split("=", 1) for line in lines if not line.startswith("#"))
    return {key: value[1:-1].encode().decode("unicode_escape").encode("latin-1") for key, value in pairs}


class DictionaryTest(unittest.TestCase):
    def test_tags_are_those_that_protobuf_writes(self) -> None:
        tags = dictionary.tags()
        for message in onnx.ModelProto.DESCRIPTOR.file.message_types_by_name.values():
            for field in message.fields:
                name = f"{message.name}.{field.name}"
                if name in tags:  # an older onnx has fewer fields, and our schema is that of the newest
                    wire_type = 2 if field.GetOptions().packed else {1: 1, 2: 5, 9: 2, 11: 2, 12: 2}.get(field.type, 0)
                    self.assertEqual(tags[name], encoder.TagBytes(field.number, wire_type), name)
        self.assertGreater(len(tags), 100)

    def test_tags_written_by_hand_are_tags_of_fields(self) -> None:
        fields = dictionary.tags()
        for name in ("initializer", "sparse_initializer", "node"):
            self.assertEqual(by_hand("onnx.dict")[name], fields[f"GraphProto.{name}"])
        for name in ("raw_data", "external_data", "float_data", "int32_data", "int64_data", "uint64_data", "double_data", "string_data"):
            self.assertEqual(by_hand("onnx.dict")[name], fields[f"TensorProto.{name}"])

    def test_records_and_padding_equal_the_specification(self) -> None:
        zips, numbers = by_hand("zip.dict"), dictionary.spec_numbers()
        source = (dictionary.ROOT / "spec" / "vectors" / "builder.py").read_text()  # written from the text alone
        records = set(re.findall(r'b"(PK\\\d\\\d)"', source))
        self.assertEqual(len(records), 5)
        for name in ("local", "central", "end", "zip64_end", "zip64_locator"):
            self.assertIn("PK" + "".join(f"\\{byte}" for byte in zips[name][2:]), records)
        for name in ("padding_64", "alignment_64", "sentinel16", "sentinel32", "date"):
            self.assertTrue(any(zips[name].startswith(number) for number in numbers), name)
        self.assertIn("__MODEL_PROTO", dictionary.spec_words())

    def test_mutations_of_models_know_fields_of_the_schema(self) -> None:
        known = {(name.split(".")[0], number): kind for name, number, kind in dictionary.fields(dictionary.proto())}
        source = (dictionary.HERE / "model_tree.h").read_text()
        rows = re.findall(r"\{(\w+), (\d+), (\w+)\}", source)
        self.assertGreater(len(rows), 40)
        for message, number, kind in rows:
            if message not in MESSAGES:
                continue
            self.assertIn((MESSAGES[message], int(number)), known, message)
            found = known[MESSAGES[message], int(number)]
            self.assertEqual(found if kind in MESSAGES else None, MESSAGES.get(kind), f"{message} {number}")


if __name__ == "__main__":
    unittest.main()
