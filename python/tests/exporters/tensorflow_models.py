"""tf2onnx: models of Keras."""

import unittest

import numpy as np
import tensorflow as tf
import tf2onnx
from common import ExporterTest

X = np.random.default_rng(0).standard_normal((2, 16, 16, 3)).astype(np.float32)


class TensorFlow(ExporterTest):
    def test_convolutions(self) -> None:
        tf.keras.utils.set_random_seed(0)
        layers = [
            tf.keras.layers.Conv2D(16, 3, activation="relu"),
            tf.keras.layers.Conv2D(32, 3, activation="relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(64),
        ]
        made = tf.keras.Sequential([tf.keras.Input((16, 16, 3), name="x"), *layers])
        run = tf.function(lambda x: made(x), input_signature=[tf.TensorSpec((None, 16, 16, 3), tf.float32, name="x")])
        proto, _ = tf2onnx.convert.from_function(run, input_signature=run.input_signature, opset=17)
        self.compare(proto, {"x": X}, least_outside=3)


if __name__ == "__main__":
    unittest.main()
