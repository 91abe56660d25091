"""onnxmltools: trees of LightGBM."""

import unittest

import lightgbm
import numpy as np
from common import ExporterTest
from onnxmltools import convert_lightgbm
from onnxmltools.convert.common.data_types import FloatTensorType

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((300, 20)).astype(np.float32)


class LightGbm(ExporterTest):
    def test_regressor(self) -> None:
        made = lightgbm.LGBMRegressor(n_estimators=30, verbose=-1).fit(X, X[:, 0] * X[:, 1])
        self.compare(self.converted(made), {"x": X})

    def test_classifier(self) -> None:
        made = lightgbm.LGBMClassifier(n_estimators=10, verbose=-1).fit(X, (X[:, 0] > 0).astype(np.int64))
        self.compare(self.converted(made, zipmap=False), {"x": X})

    def converted(self, made: object, **options: object) -> object:
        return convert_lightgbm(made, initial_types=[("x", FloatTensorType([None, 20]))], target_opset=15, **options)


if __name__ == "__main__":
    unittest.main()
