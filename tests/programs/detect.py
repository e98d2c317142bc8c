"""The detector by ONNX Runtime and numpy: detect.py ONNX LABELS PICTURE WIDTH HEIGHT prints its boxes as JSON.

PICTURE holds the pixels alone. A box is x, y, width, height, score and the name of its class.
"""

import json
import sys

import cv2
import numpy as np
import onnxruntime

EDGE = 300


def anchors() -> np.ndarray:
    """Centre y, centre x, height and width of each, as parts of the picture."""
    scales = [0.2 + 0.75 * layer / 5 for layer in range(6)] + [1.0]
    rows = []
    for layer, cells in enumerate((19, 10, 5, 3, 2, 1)):
        shapes = [(0.1, 1.0), (0.2, 2.0), (0.2, 0.5)]
        if layer > 0:
            shapes = [(scales[layer], ratio) for ratio in (1.0, 2.0, 0.5, 3.0, 1 / 3)]
            shapes.append(((scales[layer] * scales[layer + 1]) ** 0.5, 1.0))
        for y in range(cells):
            for x in range(cells):
                middle = ((y + 0.5) / cells, (x + 0.5) / cells)
                rows += [(*middle, scale / ratio**0.5, scale * ratio**0.5) for scale, ratio in shapes]
    return np.array(rows)


def main():
    model, labels, raw, width, height = sys.argv[1:]
    names = open(labels).read().splitlines()
    pixels = np.fromfile(raw, np.uint8).reshape(int(height), int(width), 3)
    scale = EDGE / max(pixels.shape)
    box = np.zeros((EDGE, EDGE, 3), np.uint8)
    small = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    box[: small.shape[0], : small.shape[1]] = small
    planes = np.ascontiguousarray(box[:, :, ::-1].transpose(2, 0, 1)[None].astype(np.float32) / 127.5 - 1)
    session = onnxruntime.InferenceSession(model)
    given, scores = (result[0] for result in session.run(None, {session.get_inputs()[0].name: planes}))
    scores = 1 / (1 + np.exp(-scores.astype(float)))
    of = anchors()
    y, x = given[:, 0] / 10 * of[:, 2] + of[:, 0], given[:, 1] / 10 * of[:, 3] + of[:, 1]
    tall, wide = np.exp(given[:, 2] / 5) * of[:, 2], np.exp(given[:, 3] / 5) * of[:, 3]
    places = np.stack([x - wide / 2, y - tall / 2, wide, tall], axis=1) * EDGE / scale
    print(
        json.dumps(
            [
                [*map(float, places[row]), float(scores[row, label]), names[label]]
                for row, label in zip(*np.where(scores[:, 1:] > 0.3), strict=True)
                for label in [label + 1]
            ]
        )
    )


if __name__ == "__main__":
    main()
