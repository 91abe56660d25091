"""Tests that default values in Python are those of the library, which declares them once (onnxar/options.h)."""

import inspect
import unittest

import onnxar
from onnxar import _core


def declared_defaults():
    """Returns the values that the library gives to members of its options, by their names."""
    found = {}
    for options in (_core.LoadOptions(), _core.SaveOptions()):
        for name in dir(type(options)):
            value = getattr(options, name)
            if isinstance(value, bool | int):
                found[name] = value
    return found


def stated_defaults():
    """Yields (function, parameter, default) of every public function, and of every public method of a class."""
    public = [getattr(onnxar, name) for name in onnxar.__all__]
    methods = [member for each in public if inspect.isclass(each) for _, member in inspect.getmembers(each, inspect.isfunction)]
    for function in filter(inspect.isfunction, public + methods):
        for parameter in inspect.signature(function).parameters.values():
            if isinstance(parameter.default, bool | int):
                yield function.__qualname__, parameter.name, parameter.default


class Options(unittest.TestCase):
    def test_defaults_are_those_of_library(self):
        declared, seen = declared_defaults(), set()
        for function, name, default in stated_defaults():
            if name in declared:
                seen.add(name)
                self.assertEqual(default, declared[name], f"{function}: {name}")
        self.assertLessEqual({"alignment", "all_sites", "attributes", "max_expansion", "overwrite", "sync", "threads", "threshold"}, seen)


if __name__ == "__main__":
    unittest.main()
