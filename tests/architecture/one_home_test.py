"""Facts that are written down once, and codes that are used as their kind says."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = re.compile(r'^ONNXAR_CODE\((\w+), "[a-z0-9_.]+", (\w+)\)', re.MULTILINE)
# What a code is thrown by: Error itself, and functions that throw one with the code that they are given.
THROWN = re.compile(r"\b(?:Error|refuse\w*|fail\w*)\s*\(\s*Code::(\w+)")


def sources(*folders):
    return {
        path.relative_to(ROOT).as_posix(): path.read_text()
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".h", ".cc"}
    }


class Codes(unittest.TestCase):
    def setUp(self):
        catalogue = (ROOT / "include/onnxar/error_codes.inc").read_text()
        self.kinds = dict(CODE.findall(catalogue))

    def test_no_remark_is_thrown(self):
        # It has no exit code, and the C interface would call it a fault of the library.
        for path, text in sources("src", "tools", "python/src").items():
            for code in THROWN.findall(text):
                with self.subTest(path=path, code=code):
                    self.assertNotEqual(self.kinds[code], "remark")

    def test_what_is_thrown_is_seen(self):
        seen = {code for text in sources("src").values() for code in THROWN.findall(text)}
        self.assertGreater(len(seen), 50)
        self.assertIn("onnx_tensor_data_beside", seen)  # by a function of its own


class OneHome(unittest.TestCase):
    def test_the_default_domain_is_spelt_in_one_place(self):
        spelt = [path for path, text in sources("src", "tools", "python/src").items() if '"ai.onnx"' in text]
        self.assertEqual(spelt, ["src/onnx/domains.h"])


if __name__ == "__main__":
    unittest.main()
