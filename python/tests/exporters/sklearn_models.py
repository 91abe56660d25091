"""skl2onnx: pipelines, trees and networks of scikit-learn."""

import unittest

import numpy as np
from common import ExporterTest
from skl2onnx import to_onnx
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((200, 40)).astype(np.float32)
LABELS = (X[:, 0] > 0).astype(np.int64)
AS_ARRAY = {"zipmap": False}


class Sklearn(ExporterTest):
    def test_pipeline(self) -> None:
        made = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, LABELS)
        self.compare(to_onnx(made, X[:1], options=AS_ARRAY), {"X": X})

    def test_network(self) -> None:
        made = MLPRegressor(hidden_layer_sizes=(64, 64), max_iter=20, random_state=0).fit(X, X[:, 1])
        self.compare(to_onnx(made, X[:1]), {"X": X}, least_outside=2)

    def test_forest(self) -> None:
        """Its numbers are lists in attributes, which stay in the model."""
        made = RandomForestClassifier(20, random_state=0).fit(X, LABELS)
        self.compare(to_onnx(made, X[:1], options=AS_ARRAY), {"X": X})


if __name__ == "__main__":
    unittest.main()
