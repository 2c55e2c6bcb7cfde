"""Graphs of ONNX, written node by node, with seeded weights."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DECOMPOSED, FUSED = "decomposed", "fused"
OPSETS = {DECOMPOSED: 13, FUSED: 20}
IR_VERSION = 9
TYPES = {"float": TensorProto.FLOAT, "int64": TensorProto.INT64}


class Graph:
    """A graph that grows. `is_fused`: operators such as LayerNormalization stay whole; else they are written as exporters of
    older operator sets did."""

    def __init__(self, name, form, seed):
        self.name, self.opset, self.is_fused = name, OPSETS[form], form == FUSED
        self._random = np.random.default_rng(seed)
        self._nodes, self._weights, self._inputs, self._outputs = [], [], [], []
        self._constants = {}

    def op(self, kind, *inputs, outputs=1, **attributes):
        """The name of the result, or a tuple of several."""
        names = [f"{kind.lower()}_{len(self._nodes)}" + (f"_{i}" if outputs > 1 else "") for i in range(outputs)]
        self._nodes.append(helper.make_node(kind, list(inputs), names, name=f"{kind}_{len(self._nodes)}", **attributes))
        return names[0] if outputs == 1 else tuple(names)

    def input(self, name, kind, shape):
        """An extent that is a text is a symbol."""
        self._inputs.append(helper.make_tensor_value_info(name, TYPES[kind], shape))
        return name

    def output(self, value, name, kind, shape):
        self._nodes.append(helper.make_node("Identity", [value], [name], name=f"output_{name}"))
        self._outputs.append(helper.make_tensor_value_info(name, TYPES[kind], shape))

    def constant(self, value, dtype=np.float32):
        """Numbers that are the same in every model; equal ones are one initialiser."""
        array = np.asarray(value, dtype)
        key = (array.tobytes(), array.shape, array.dtype.str)
        if key not in self._constants:
            self._constants[key] = self._initializer(array)
        return self._constants[key]

    def integers(self, *values):
        return self.constant(values, np.int64)

    def weight(self, *shape, scale=None):
        """Normal numbers; without `scale` of a variance that keeps that of what they are multiplied with."""
        fan_in = np.prod(shape[1:]) if len(shape) != 2 else shape[0]
        scale = np.sqrt(1 / fan_in) if scale is None else scale
        return self._initializer((scale * self._random.standard_normal(shape)).astype(np.float32))

    def around(self, center, *shape, spread=0.1):
        """Numbers near `center`: scales, shifts, means, variances."""
        return self._initializer((center + spread * self._random.uniform(-1, 1, shape)).astype(np.float32))

    def _initializer(self, array):
        self._weights.append(numpy_helper.from_array(array, f"w{len(self._weights)}"))
        return self._weights[-1].name

    def model(self):
        graph = helper.make_graph(self._nodes, self.name, self._inputs, self._outputs, self._weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=IR_VERSION)
        onnx.checker.check_model(model)
        return model

    # Parts that models share.

    def reduce(self, kind, x, axes, keepdims=1):
        """Axes became an input of most reductions with opset 18, of sums with 13."""
        if kind == "ReduceSum" or self.opset >= 18:
            return self.op(kind, x, self.integers(*axes), keepdims=keepdims)
        return self.op(kind, x, axes=list(axes), keepdims=keepdims)

    def linear(self, x, wide, narrow):
        """x W + b of the last axis."""
        return self.op("Add", self.op("MatMul", x, self.weight(wide, narrow)), self.around(0, narrow))

    def layer_norm(self, x, width, epsilon=1e-5):
        scale, shift = self.around(1, width), self.around(0, width)
        if self.is_fused:
            return self.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=epsilon)
        centred = self.op("Sub", x, self.reduce("ReduceMean", x, [-1]))
        variance = self.reduce("ReduceMean", self.op("Pow", centred, self.constant(2)), [-1])
        deviation = self.op("Sqrt", self.op("Add", variance, self.constant(epsilon)))
        return self.op("Add", self.op("Mul", self.op("Div", centred, deviation), scale), shift)

    def gelu(self, x, approximate="none"):
        if self.is_fused:
            return self.op("Gelu", x, approximate=approximate)
        if approximate == "tanh":
            cubic = self.op("Mul", self.op("Pow", x, self.constant(3)), self.constant(0.044715))
            inner = self.op("Mul", self.op("Add", x, cubic), self.constant(np.sqrt(2 / np.pi)))
            inner = self.op("Tanh", inner)
        else:
            inner = self.op("Erf", self.op("Div", x, self.constant(np.sqrt(2))))
        return self.op("Mul", self.op("Mul", x, self.op("Add", inner, self.constant(1))), self.constant(0.5))

    def heads(self, x, heads, width):
        """[batch, tokens, heads * width] as [batch, heads, tokens, width]."""
        split = self.op("Reshape", x, self.integers(0, 0, heads, width))
        return self.op("Transpose", split, perm=[0, 2, 1, 3])

    def attend(self, q, k, v, width, mask=None):
        """softmax(q k^T / sqrt(width) + mask) v of [batch, heads, tokens, width], as [batch, tokens, heads * width]."""
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.op("Div", scores, self.constant(np.sqrt(width)))
        if mask:
            scores = self.op("Add", scores, mask)
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        return self.op("Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), self.integers(0, 0, -1))

    def conv(self, x, channels, filters, kernel=1, stride=1, pad=None, dilation=1, groups=1, bias=False):
        pad = dilation * (kernel // 2) if pad is None else pad
        inputs = [x, self.weight(filters, channels // groups, kernel, kernel, scale=np.sqrt(2 / (channels // groups * kernel**2)))]
        if bias:
            inputs.append(self.around(0, filters))
        return self.op("Conv", *inputs, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4,
                       dilations=[dilation] * 2, group=groups)

    def batch_norm(self, x, channels):
        """Decomposed it is a scale and a shift."""
        scale, shift, mean, variance = (self.around(center, channels) for center in (1, 0, 0, 1))
        if self.is_fused:
            return self.op("BatchNormalization", x, scale, shift, mean, variance, epsilon=1e-5)
        shape = self.integers(1, channels, 1, 1)
        scale, shift, mean, variance = (self.op("Reshape", one, shape) for one in (scale, shift, mean, variance))
        deviation = self.op("Sqrt", self.op("Add", variance, self.constant(1e-5)))
        return self.op("Add", self.op("Mul", self.op("Div", self.op("Sub", x, mean), deviation), scale), shift)

    def global_average(self, x):
        return self.op("GlobalAveragePool", x) if self.is_fused else self.reduce("ReduceMean", x, [2, 3])

    def classifier(self, x, channels, classes):
        """[batch, channels, 1, 1] as [batch, classes]."""
        return self.op("Gemm", self.op("Flatten", x, axis=1), self.weight(channels, classes), self.around(0, classes))

    def shuffle(self, x, channels, groups, size):
        """Channels of every group take turns."""
        split = self.op("Reshape", x, self.integers(-1, groups, channels // groups, size, size))
        turned = self.op("Transpose", split, perm=[0, 2, 1, 3, 4])
        return self.op("Reshape", turned, self.integers(-1, channels, size, size))
