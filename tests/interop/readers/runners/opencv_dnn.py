"""OpenCV's module dnn."""

import cv2


def run(model, x, folder):
    net = cv2.dnn.readNetFromONNX(model)
    net.setInput(x, "x")
    return net.forward()
