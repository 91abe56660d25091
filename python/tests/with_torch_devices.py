"""Loading to devices with onnxar.torch. Where there is no GPU, torch's CPU takes the place of one, with a ring of ordinary memory."""

from __future__ import annotations

import threading
import unittest
import unittest.mock

import numpy as np
import torch
from building import archive, linked, model
from support import FolderTest

import onnxar
import onnxar.numpy
import onnxar.torch
from onnxar import _ranges

HAS_CUDA = torch.cuda.is_available()
DEVICE = "cuda" if HAS_CUDA else "cpu"
SIZE = 3000


class DeviceTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(7)
        ring = onnxar.torch._RINGS["cuda"] if HAS_CUDA else (self.allocate, self.fence)
        self.allocated, self.waited = [], 0
        for patch in (unittest.mock.patch.dict(onnxar.torch._RINGS, {DEVICE: ring}), unittest.mock.patch.object(_ranges, "PIECE", 5000)):
            patch.start()
            self.addCleanup(patch.stop)
        self.path = self.folder / "w.onnxar"
        shared = torch.randn(40, 50)
        self.tensors = {"w": torch.randn(SIZE), "tied": shared, "also tied": shared, "none": torch.empty(0, 4), "scalar": torch.tensor(5.0),
                        "half": torch.randn(7).to(torch.bfloat16), "flag": torch.tensor([True, False]), "z": torch.arange(SIZE)}  # fmt: skip
        onnxar.torch.save_file(self.tensors, self.path)
        self.threads = threading.active_count()

    def tearDown(self) -> None:
        self.assertEqual(threading.active_count(), self.threads)

    def allocate(self, size: int) -> torch.Tensor:
        self.allocated.append(size)
        return torch.empty(size, dtype=torch.uint8)

    def fence(self, devices):
        def wait() -> None:
            self.waited += 1

        return wait

    def damage(self, name: str) -> None:
        (entry,) = (each for each in onnxar.ls(self.path) if each.name == name)
        data = bytearray(self.path.read_bytes())
        data[entry.offset + entry.size - 1] ^= 1
        self.path.write_bytes(data)


class Loading(DeviceTest):
    def test_every_tensor_equals_the_mapped_one(self) -> None:
        for options in ({}, {"verify": True}, {"threads": 1}):
            loaded = onnxar.torch.load_file(self.path, DEVICE, **options)
            self.assertEqual(list(loaded), list(self.tensors))
            for name, tensor in self.tensors.items():
                found = loaded[name]
                self.assertEqual((found.device.type, found.dtype, found.shape), (DEVICE, tensor.dtype, tensor.shape))
                self.assertTrue(torch.equal(found.cpu(), tensor), name)
        if not HAS_CUDA:
            self.assertLessEqual(max(self.allocated), 64 << 20)
            self.assertGreater(self.waited, 10)

    def test_tied_tensors_are_read_once_and_share(self) -> None:
        done = []
        loaded = onnxar.torch.load_file(self.path, DEVICE, names=["tied", "also tied"], progress=lambda *numbers: done.append(numbers))
        self.assertEqual(loaded["tied"].data_ptr(), loaded["also tied"].data_ptr())
        self.assertEqual(done, [(5000, 8000), (8000, 8000)])
        self.assertNotEqual(loaded["tied"].data_ptr(), onnxar.torch.load_file(self.path, DEVICE)["tied"].data_ptr())

    def test_parts_of_one_entry_keep_their_bytes(self) -> None:
        numbers = np.arange(100, dtype=np.float32)
        parts = {"all": (0, 400), "first": (0, 40), "middle": (20, 200), "last": (396, 4)}
        bytes_of_model = model(*(linked(name, size // 4, location="e", offset=at, length=size) for name, (at, size) in parts.items()))
        self.path.write_bytes(archive(bytes_of_model, e=numbers.tobytes()))
        for verify in (False, True):
            loaded = onnxar.torch.load_file(self.path, DEVICE, verify=verify)
            for name, (at, size) in parts.items():
                np.testing.assert_array_equal(loaded[name].cpu().numpy(), numbers[at // 4 : (at + size) // 4])

    def test_only_chosen_tensors_are_loaded(self) -> None:
        for device in (DEVICE, "meta"):
            self.assertEqual(list(onnxar.torch.load_file(self.path, device, names={"z", "w"})), ["w", "z"])
        self.refused("usage.no_such_tensor", onnxar.torch.load_file, self.path, DEVICE, names=["w", "x"])
        self.refused("usage.argument", onnxar.torch.load_file, self.path, DEVICE, names="w")

    def test_meta_device_has_shapes_only(self) -> None:
        loaded = onnxar.torch.load_file(self.path, "meta", verify=True)
        self.assertTrue(all(tensor.is_meta and tensor.shape == self.tensors[name].shape for name, tensor in loaded.items()))

    def test_unknown_type_is_refused_before_reading(self) -> None:
        ml_dtypes = __import__("ml_dtypes")
        onnxar.numpy.save_file({"w": np.ones(3), "int4": np.ones(300, ml_dtypes.int4)}, self.path, overwrite=True)
        self.assertEqual(self.refused("usage.argument", onnxar.torch.load_file, self.path, DEVICE).entry, "int4")
        self.assertEqual(self.allocated, [])


class Faults(DeviceTest):
    def test_damage_is_found_only_with_verify(self) -> None:
        self.damage("z")
        onnxar.torch.load_file(self.path, DEVICE)
        onnxar.torch.load_file(self.path, DEVICE, names=["w"], verify=True)
        module = torch.nn.ParameterDict({"z": torch.nn.Parameter(torch.zeros(SIZE, dtype=torch.int64), requires_grad=False)}).to(DEVICE)
        for call in (
            lambda: onnxar.torch.load_file(self.path, DEVICE, verify=True),
            lambda: onnxar.torch.load_file(self.path, "meta", verify=True),
            lambda: onnxar.torch.load_into(module, self.path, strict=False, verify=True),
        ):
            error = self.refused("zip.data.crc", call)
            self.assertEqual((error.entry, error.path), ("z", str(self.path)))

    def test_change_during_the_load_is_found(self) -> None:
        read = onnxar.torch._streaming.reader_of

        def changing(descriptor, mapped, path):
            def changed(view: memoryview, offset: int) -> None:
                read(descriptor, mapped, path)(view, offset)
                view[0] ^= 1

            return changed

        with unittest.mock.patch.object(onnxar.torch._streaming, "reader_of", changing):
            self.assertEqual(self.refused("io.changed", onnxar.torch.load_file, self.path, DEVICE, verify=True).path, str(self.path))

    def test_memory_ends_before_anything_is_read(self) -> None:
        empty, made = torch.empty, []

        def limited(*shape, **named):
            made.append(shape)
            if len(made) > 3:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return empty(*shape, **named)

        with unittest.mock.patch.object(torch, "empty", limited), self.assertRaises(torch.OutOfMemoryError):
            onnxar.torch.load_file(self.path, DEVICE)
        self.assertEqual((len(made), self.allocated), (4, []))

    def test_interrupt_between_pieces_leaves_no_thread(self) -> None:
        def interrupt(done: int, total: int) -> None:
            if done > 5000:
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            onnxar.torch.load_file(self.path, DEVICE, progress=interrupt)


class Modules(DeviceTest):
    def setUp(self) -> None:
        super().setUp()
        self.saved = self.module()
        self.saved.two.weight = self.saved.one.weight
        onnxar.torch.save_file(self.saved.state_dict(), self.path, overwrite=True)

    def module(self) -> torch.nn.Module:
        made = torch.nn.Module()
        made.one, made.two = torch.nn.Linear(30, 30), torch.nn.Linear(30, 30, bias=False)
        made.register_buffer("scale", torch.rand(()))
        return made.to(DEVICE)

    def assert_loaded(self, module: torch.nn.Module) -> None:
        for name, tensor in self.saved.state_dict().items():
            self.assertTrue(torch.equal(module.state_dict()[name].to(tensor), tensor), name)

    def test_parameters_keep_their_memory(self) -> None:
        for verify in (False, True):
            module = self.module()
            before = {name: tensor.data_ptr() for name, tensor in module.state_dict().items()}
            self.assertEqual(onnxar.torch.load_into(module, self.path, verify=verify), ([], []))
            self.assertEqual({name: tensor.data_ptr() for name, tensor in module.state_dict().items()}, before)
            self.assertTrue(module.one.weight.requires_grad)
            self.assert_loaded(module)

    def test_other_layouts_and_types_are_converted(self) -> None:
        module = self.module()
        module.one.weight = torch.nn.Parameter(torch.zeros(30, 30, device=DEVICE).T)
        module.scale = module.scale.double()
        onnxar.torch.load_into(module, self.path)
        self.assert_loaded(module)

    def test_module_on_an_ordinary_device(self) -> None:
        module = self.module().cpu()
        with unittest.mock.patch.dict(onnxar.torch._RINGS, clear=True):
            onnxar.torch.load_into(module, self.path, verify=True)
        self.assert_loaded(module)

    def test_differences_are_refused_before_writing(self) -> None:
        module = self.module()
        module.more = torch.nn.Parameter(torch.ones(3))
        before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
        self.assertIn("'more'", str(self.refused("usage.argument", onnxar.torch.load_into, module, self.path)))
        module.two.weight = torch.nn.Parameter(torch.ones(3, 3))
        self.assertEqual(self.refused("usage.argument", onnxar.torch.load_into, module, self.path, strict=False).entry, "two.weight")
        self.assertTrue(torch.equal(module.one.weight, before["one.weight"]))
        self.assertIn("meta", str(self.refused("usage.argument", onnxar.torch.load_into, self.module().to("meta"), self.path)))

    def test_names_may_differ_without_strict(self) -> None:
        module = self.module()
        module.more = torch.nn.Parameter(torch.ones(3))
        del module.two
        self.assertEqual(onnxar.torch.load_into(module, self.path, strict=False), (["more"], ["two.weight"]))
        self.assertTrue(torch.equal(module.one.weight, self.saved.one.weight))


if __name__ == "__main__":
    unittest.main()
