#!/usr/bin/env python3
"""Converts the detector of @mediapipe/objectron from TFLite to ONNX: detector_to_onnx.py ASSETS FOLDER

ASSETS holds the names of the classes and then the network, an SSD on MobileNet v2 with weights of 16 bits. The result
is FOLDER/detector.onnx, which takes a picture of 300 x 300 (planes of red, green and blue, from -1 to 1) and gives 1917
boxes relative to their anchors and 24 scores of each; FOLDER/detector.txt with the names of the classes; and
FOLDER/detector.check with what ONNX Runtime makes of a certain picture: the means of the absolute values of either
output, by which a damaged file is seen.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import tflite
from onnx import TensorProto, helper, numpy_helper

LABELS_END = 184
# OpenCV 4.6 reads limits of Clip from its attributes, as operator set 10 has them, and not from inputs.
OPERATOR_SET = 10
ANCHORS = 1917
TYPES = {
    tflite.TensorType.FLOAT32: np.float32,
    tflite.TensorType.FLOAT16: np.float16,
    tflite.TensorType.INT32: np.int32,
}
OF = tflite.BuiltinOperator


class Converter:
    def __init__(self, network: bytes):
        self.model = tflite.Model.GetRootAsModel(network, 0)
        self.graph = self.model.Subgraphs(0)
        self.constants = {}
        for index in range(self.graph.TensorsLength()):
            tensor = self.graph.Tensors(index)
            data = self.model.Buffers(tensor.Buffer()).DataAsNumpy()
            if isinstance(data, np.ndarray) and len(data):
                typed = np.frombuffer(data.tobytes(), TYPES[tensor.Type()])
                self.constants[index] = typed.reshape(tensor.ShapeAsNumpy())
        self.nodes = []
        self.weights = []

    def name(self, tensor: int) -> str:
        return self.graph.Tensors(tensor).Name().decode()

    def shape(self, tensor: int) -> list[int]:
        return [int(edge) for edge in self.graph.Tensors(tensor).ShapeAsNumpy()]

    def weight(self, name: str, values: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, kind: str, inputs: list[str], output: str, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))

    def activated(self, kind: str, inputs: list[str], output: str, activation: int, **attributes):
        """An operator with the activation that TFLite has inside it."""
        if activation == tflite.ActivationFunctionType.NONE:
            self.add(kind, inputs, output, **attributes)
            return
        self.add(kind, inputs, output + "_before", **attributes)
        if activation == tflite.ActivationFunctionType.RELU6:
            self.add("Clip", [output + "_before"], output, min=0.0, max=6.0)
        elif activation == tflite.ActivationFunctionType.RELU:
            self.add("Relu", [output + "_before"], output)
        else:
            raise SystemExit(f"{output}: found activation {activation}, expected none, RELU or RELU6")

    def convolution(self, operator, inputs: list[int], output: int, by_channel: bool):
        options = (tflite.DepthwiseConv2DOptions if by_channel else tflite.Conv2DOptions)()
        table = operator.BuiltinOptions()
        options.Init(table.Bytes, table.Pos)
        weights = self.constants[inputs[1]].astype(np.float32)
        weights = weights.transpose((3, 0, 1, 2) if by_channel else (0, 3, 1, 2))
        kernel, strides = weights.shape[2:], [options.StrideH(), options.StrideW()]
        pads = [(0, 0), (0, 0)]
        if options.Padding() == tflite.Padding.SAME:
            edges = zip(self.shape(inputs[0])[1:3], self.shape(output)[1:3], kernel, strides)
            missing = [max((out - 1) * stride + k - into, 0) for into, out, k, stride in edges]
            pads = [(both // 2, both - both // 2) for both in missing]
        name = self.name(output)
        self.activated(
            "Conv",
            [
                self.name(inputs[0]),
                self.weight(name + "_weights", weights),
                self.weight(name + "_bias", self.constants[inputs[2]].astype(np.float32)),
            ],
            name,
            options.FusedActivationFunction(),
            kernel_shape=list(kernel),
            strides=strides,
            pads=[pads[0][0], pads[1][0], pads[0][1], pads[1][1]],
            group=weights.shape[0] if by_channel else 1,
        )

    def reshape(self, inputs: list[int], output: int):
        name, source = self.name(output), self.name(inputs[0])
        if self.shape(inputs[0])[1] == ANCHORS:
            self.add("Identity", [source], name)
            return
        # TFLite has channels last, so what it only reshapes must be turned first.
        self.add("Transpose", [source], name + "_turned", perm=[0, 2, 3, 1])
        shape = self.shape(output)
        shape = [1, shape[1] * shape[2], shape[3]] if len(shape) == 4 else shape
        self.add("Reshape", [name + "_turned", self.weight(name + "_shape", np.array(shape, np.int64))], name)

    def operator(self, operator):
        code = self.model.OperatorCodes(operator.OpcodeIndex())
        kind = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
        inputs = [int(index) for index in operator.InputsAsNumpy()]
        output = int(operator.OutputsAsNumpy()[0])
        if kind == OF.DEQUANTIZE:
            self.constants[output] = self.constants[inputs[0]].astype(np.float32)
        elif kind in (OF.CONV_2D, OF.DEPTHWISE_CONV_2D):
            self.convolution(operator, inputs, output, kind == OF.DEPTHWISE_CONV_2D)
        elif kind == OF.ADD:
            options = tflite.AddOptions()
            options.Init(operator.BuiltinOptions().Bytes, operator.BuiltinOptions().Pos)
            names = [self.name(index) for index in inputs]
            self.activated("Add", names, self.name(output), options.FusedActivationFunction())
        elif kind == OF.RESHAPE:
            self.reshape(inputs, output)
        elif kind == OF.CONCATENATION:
            self.add("Concat", [self.name(index) for index in inputs], self.name(output), axis=1)
        else:
            raise SystemExit(f"found operator {kind}, expected one that this network had in its known release")

    def convert(self) -> onnx.ModelProto:
        for index in range(self.graph.OperatorsLength()):
            self.operator(self.graph.Operators(index))
        (source,) = [int(index) for index in self.graph.InputsAsNumpy()]
        results = [int(index) for index in self.graph.OutputsAsNumpy()]
        picture = helper.make_tensor_value_info(self.name(source), TensorProto.FLOAT, [1, 3, 300, 300])
        given = [
            helper.make_tensor_value_info(self.name(index), TensorProto.FLOAT, [1, ANCHORS, self.shape(index)[-1]])
            for index in results
        ]
        graph = helper.make_graph(self.nodes, "detector", [picture], given, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPERATOR_SET)])
        model.ir_version = 5
        onnx.checker.check_model(model)
        return model


def check(path: Path) -> tuple[float, float]:
    row, column, channel = np.ogrid[:300, :300, :3]
    blue_green_red = ((7 * row + 3 * column + 50 * channel) % 256).astype(np.float32)
    planes = blue_green_red[:, :, ::-1].transpose(2, 0, 1)[None] / 127.5 - 1
    session = onnxruntime.InferenceSession(path)
    boxes, scores = session.run(None, {session.get_inputs()[0].name: planes})
    return float(np.abs(boxes).mean(dtype=np.float64)), float(np.abs(scores).mean(dtype=np.float64))


def main():
    assets, folder = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
    labels = assets[:LABELS_END].decode().splitlines()
    if "Person" not in labels or assets[LABELS_END + 4 : LABELS_END + 8] != b"TFL3":
        raise SystemExit(f"{sys.argv[1]}: expected the names of the classes, then a network of TFLite")
    onnx.save(Converter(assets[LABELS_END:]).convert(), folder / "detector.onnx")
    (folder / "detector.txt").write_text("".join(label + "\n" for label in labels))
    (folder / "detector.check").write_text("{} {}\n".format(*check(folder / "detector.onnx")))


if __name__ == "__main__":
    main()
