"""Sessions of every source, of the graphs of a family, and of models that ONNX Runtime quantised."""

from __future__ import annotations

import gc
import os
import unittest

import numpy as np
import onnx
import onnxruntime as ort
import whisper
from families_test import FamilyTest
from onnx import TensorProto, helper
from onnxruntime.quantization import quantize_dynamic
from sources_test import SourcesTest
from support import FolderTest, matmul_model, weights
from whisper_test import WhisperTest

import onnxar
import onnxar.onnxruntime

CPU = ["CPUExecutionProvider"]


class OfSources(SourcesTest):
    def setUp(self) -> None:
        super().setUp()
        self.x = weights(3, 64, seed=11)
        self.expected = self.run_of(ort.InferenceSession(self.model.SerializeToString(), providers=CPU))

    def run_of(self, session: ort.InferenceSession) -> np.ndarray:
        return session.run(["y"], {"x": self.x})[0]

    def test_a_session_takes_every_source(self):
        for name, source in self.sources():
            with self.subTest(name):
                session = onnxar.onnxruntime.InferenceSession(source, providers=CPU)
                np.testing.assert_array_equal(self.run_of(session), self.expected)

    def test_session_outlives_the_bytes_it_came_from(self):
        data = bytearray(self.data)
        session = onnxar.onnxruntime.InferenceSession(data, providers=CPU)
        del data
        np.testing.assert_array_equal(self.run_of(session), self.expected)

    def test_options_with_weights_serve_one_session(self):
        options = ort.SessionOptions()
        session = onnxar.onnxruntime.InferenceSession(self.data, options, providers=CPU)
        for source in (self.data, self.path):
            with self.assertRaises(onnxar.ArgumentError):
                onnxar.onnxruntime.InferenceSession(source, options, providers=CPU)
        np.testing.assert_array_equal(self.run_of(session), self.expected)

    def test_session_keeps_its_weights_after_set_providers(self):
        of_bytes = onnxar.onnxruntime.InferenceSession(bytes(bytearray(self.data)), providers=CPU)
        gc.collect()
        dirt = [b"\xff" * (len(self.data) - less) for less in (0, 33) for _ in range(100)]
        options, other = ort.SessionOptions(), self.folder / "folder" / self.path.name
        other.parent.mkdir()
        different = onnx.ModelProto.FromString(self.model.SerializeToString())
        different.graph.initializer[0].raw_data = weights(64, 64, seed=5).tobytes()
        onnxar.save(different, other)
        of_file = onnxar.onnxruntime.InferenceSession(self.path, options, providers=CPU)
        onnxar.onnxruntime.InferenceSession(other, options, providers=CPU)
        for session in (of_bytes, of_file):
            session.set_providers(CPU)
            np.testing.assert_array_equal(self.run_of(session), self.expected)
        del dirt
        os.replace(other, self.path)
        with self.assertRaises(onnxar.Error) as raised:
            of_file.set_providers(CPU)
        self.assertEqual(raised.exception.code, "onnx.link.stale")
        np.testing.assert_array_equal(self.run_of(of_file), self.expected)

    def test_session_uses_the_state_that_was_opened(self):
        session = onnxar.onnxruntime.InferenceSession(self.in_place_of_the_file(), providers=CPU)
        np.testing.assert_array_equal(self.run_of(session), self.expected)

    def test_types_that_numpy_lacks_can_come_from_memory(self):
        w = helper.make_tensor("w", TensorProto.BFLOAT16, [1000], np.arange(1000, dtype=np.float32))
        node = helper.make_node("Cast", ["w"], ["y"], to=TensorProto.FLOAT)
        graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1000])], [w])
        data = onnxar.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)]))
        expected = onnxar.onnxruntime.InferenceSession(self.written(data), providers=CPU).run(None, {})[0]
        session = onnxar.onnxruntime.InferenceSession(data, providers=CPU)
        np.testing.assert_array_equal(session.run(None, {})[0], expected)

    def written(self, data: bytes) -> str:
        (self.folder / "w.onnxar").write_bytes(data)
        return str(self.folder / "w.onnxar")

    def test_wrong_sources_are_refused_in_words_of_python(self):
        self.expect_refusals(onnxar.onnxruntime.InferenceSession)


class OfGraphs(FamilyTest):
    def test_sessions_of_each_graph(self) -> None:
        x = weights(3, 64, seed=1)
        for source in (self.archive, self.archive.read_bytes()):
            for name, scale in (("encoder", 2), ("decoder", 3), ("", 2)):
                session = onnxar.onnxruntime.InferenceSession(source, providers=CPU, graph=name)
                (y,) = session.run(None, {"x": x})
                np.testing.assert_allclose(y, x @ weights(64, 64, seed=5) * scale, rtol=1e-4, atol=1e-4)


class OfWhisper(WhisperTest):
    def decoded(self, sessions: dict[str, ort.InferenceSession]) -> list[np.ndarray]:
        """Returns the logits of a first token, and of three more with the keys and values of the earlier ones."""
        features = np.random.default_rng(1).standard_normal((1, whisper.FRAMES, whisper.MELS), np.float32)
        (state,) = sessions["encoder_model"].run(None, {"input_features": features})
        session = sessions["decoder_model"]
        given: dict[str, np.ndarray] = {"encoder_hidden_states": state}
        tokens, logits, past, cross = np.array([[7]], np.int64), [], {}, {}
        for position in range(4):
            given |= {"input_ids": tokens, "position_ids": np.array([[position]], np.int64)}
            found = dict(zip([output.name for output in session.get_outputs()], session.run(None, given)))
            logits.append(found["logits"])
            tokens = logits[-1][:, -1:].argmax(-1)
            past = {name.replace("present", "past"): value for name, value in found.items() if name.startswith("present.")}
            cross |= {name.replace("present_", ""): value for name, value in found.items() if name.startswith("present_cross")}
            session, given = sessions["decoder_with_past_model"], past | cross
        return logits

    def test_it_decodes_as_its_parts_do(self) -> None:
        plain = {name: ort.InferenceSession(path, providers=CPU) for name, path in self.files.items()}
        packed = {name: onnxar.onnxruntime.InferenceSession(self.archive, graph=name, providers=CPU) for name in self.files}
        for one, other in zip(self.decoded(plain), self.decoded(packed), strict=True):
            np.testing.assert_array_equal(one, other)


class Quantised(FolderTest):
    def test_quantised_model_computes_nearly_the_same(self):
        model = onnx.shape_inference.infer_shapes(matmul_model())
        onnxar.save(model, self.folder / "m.onnxar")
        # Weights of 7 bits: processors without VNNI saturate sums of 8 bits.
        quantize_dynamic(onnxar.load(self.folder / "m.onnxar"), self.folder / "q.onnx", reduce_range=True)
        onnxar.pack(self.folder / "q.onnx", self.folder / "q.onnxar")
        session = onnxar.onnxruntime.InferenceSession(self.folder / "q.onnxar", providers=CPU)
        plain = ort.InferenceSession(model.SerializeToString(), providers=CPU)
        x = {"x": weights(2, 64, seed=3)}
        np.testing.assert_allclose(session.run(["y"], x)[0], plain.run(["y"], x)[0], atol=1)
        self.assertIn("MatMulInteger", {node.op_type for node in onnxar.load(self.folder / "q.onnxar").graph.node})


if __name__ == "__main__":
    unittest.main()
