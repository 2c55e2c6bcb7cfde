#!/usr/bin/env bash
# onnx 1.22.0, its reference implementation. Situation: max pooling of [1, 1, 10, 6] by 3x3 windows with a border of one row and no column,
# and global max pooling of a signal [2, 4, 5]. Guess: [1, 1, 10, 4] and [2, 4, 1], as the specification says and onnxruntime 1.32.0
# gives. Seen: the reference pads the other axis, [1, 1, 9, 5], and drops the channels, [2, 1].
source "$(dirname "$0")/setup.sh"
install onnx==1.22.0 onnxruntime==1.32.0 numpy==2.4.6
expect $'MaxPool (1, 1, 9, 5) (1, 1, 10, 4)\nGlobalMaxPool (2, 1) (2, 4, 1)' <<'PY'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

for op, shape, attributes in [("MaxPool", [1, 1, 10, 6], {"kernel_shape": [3, 3], "pads": [1, 0, 1, 0]}), ("GlobalMaxPool", [2, 4, 5], {})]:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], **attributes)], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    given = {"x": np.ones(shape, np.float32)}
    runners = ReferenceEvaluator(model), onnxruntime.InferenceSession(model.SerializeToString())
    print(op, *(one.run(None, given)[0].shape for one in runners))
PY
