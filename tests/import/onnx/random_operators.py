"""Nodes by chance, for random_graphs.py: a function for each family of operators. It gives (operator, names of inputs, number of
outputs, attributes), or None where no value of the graph fits. Left out is what onnx 1.22's reference computes otherwise than the
specification and onnxruntime: LRN, GlobalMaxPool of one axis, and MaxPool with pads that differ from axis to axis."""

import numpy as np

SMOOTH = ("Abs Neg Exp Log Sqrt Sigmoid Tanh Relu LeakyRelu Elu Selu Celu Softplus Softsign HardSigmoid HardSwish Gelu Erf "
          "Reciprocal Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Mish Identity Swish").split()
JUMPING = "Floor Ceil Round Sign ThresholdedRelu Shrink IsNaN IsInf Hardmax".split()
ARITHMETIC = "Add Sub Mul Div Max Min Mean Sum Pow Mod PRelu".split()
COMPARISONS = "Equal Greater Less GreaterOrEqual LessOrEqual".split()
REDUCTIONS = "Sum Mean Max Min Prod L1 L2 SumSquare LogSum LogSumExp".split()
EQUATIONS = {2: ["ij->ji", "ij->i", "ij,jk->ik", "ij,ij->i"], 3: ["bij->bji", "bij,bjk->bik", "bij->b"]}


def axis_of(v, x, past=0):
    rank = v.arrays[x].ndim
    return int(v.random.integers(-rank - past, rank + past))


def integers(v, *numbers):
    return v.weight(np.array(numbers, np.int64))


def smooth(v):
    x = v.find()
    op = v.pick(*SMOOTH)
    return x and (op, [x], 1, {"approximate": v.pick("none", "tanh")} if op == "Gelu" else {})


def jumping(v):
    x = v.find(is_input=True)
    return x and (v.pick(*JUMPING), [x], 1, {})


def binary(v):
    """Two values that broadcast: one of its own shape, or a part of it."""
    op = v.pick(*ARITHMETIC)
    x = v.find("f" if op in ("Mean", "PRelu", "Div") else "fi")
    if x is None:
        return None
    array = v.arrays[x]
    shape = [extent if v.chance(60) else 1 for extent in array.shape][int(v.random.integers(array.ndim + 1)) if v.chance(40) else 0:]
    numbers = (v.random.integers(1, 9, shape) / (8 if array.dtype.kind == "f" else 1)).astype(array.dtype)
    inputs = [x, v.weight(numbers)]
    same = v.find(array.dtype.kind)
    if v.chance(30) and op not in ("Pow", "Mod", "PRelu") and v.arrays[same].dtype == array.dtype:
        inputs[1] = same
    if op in ("Pow", "Mod") and array.dtype.kind == "f":
        op = "Mul"
    return op, inputs, 1, {}


def comparison(v):
    x, y = v.find("fi", is_input=True), v.find("fi", is_input=True)
    return (v.pick(*COMPARISONS), [x, y], 1, {}) if x and y else None


def logical(v):
    x, y = v.find("b"), v.find("b")
    return v.pick(("Not", [x], 1, {}), (v.pick("And", "Or", "Xor"), [x, y], 1, {}))


def bits(v):
    x = v.find("iu")
    y = v.weight(v.random.integers(0, 4, v.arrays[x].shape).astype(v.arrays[x].dtype))
    if v.arrays[x].dtype.kind == "u" and v.chance(50):
        return "BitShift", [x, y], 1, {"direction": v.pick("LEFT", "RIGHT")}
    return v.pick(("BitwiseNot", [x], 1, {}), (v.pick("BitwiseAnd", "BitwiseOr", "BitwiseXor"), [x, y], 1, {}))


def choice(v):
    b, x = v.find("b"), v.find("fi")
    return "Where", [b, x, x if v.chance(30) else v.weight(np.ones((), v.arrays[x].dtype))], 1, {}


def cast(v):
    x = v.find("fiub", is_input=True)
    return "Cast", [x], 1, {"to": v.pick(1, 2, 3, 6, 7, 9, 10, 11)}


def clip(v):
    x = v.find("fi")
    dtype = v.arrays[x].dtype
    return "Clip", [x, v.weight(np.array(-1, dtype)), v.weight(np.array(2, dtype))][: v.pick(2, 3)], 1, {}


def reduction(v):
    x = v.find("fi", rank=[1, 2, 3, 4])
    if x is None:
        return None
    rank = v.arrays[x].ndim
    axes = v.random.permutation(rank)[: v.random.integers(1, rank + 1)]
    kinds = REDUCTIONS if v.arrays[x].dtype.kind == "f" else ["Sum", "Max", "Min", "Prod"]
    inputs = [x] if v.chance(20) else [x, integers(v, *axes)]
    return "Reduce" + v.pick(*kinds), inputs, 1, {"keepdims": v.pick(0, 1)}


def arg(v):
    x = v.find("fi", rank=[1, 2, 3, 4], is_input=True)
    return x and (v.pick("ArgMax", "ArgMin"), [x], 1,
                  {"axis": axis_of(v, x), "keepdims": v.pick(0, 1), "select_last_index": v.pick(0, 1)})


def running(v):
    x = v.find("fi", rank=[1, 2, 3, 4])
    return x and ("CumSum", [x, v.weight(np.array(axis_of(v, x), np.int64))], 1,
                  {"exclusive": v.pick(0, 1), "reverse": v.pick(0, 1)})


def top(v):
    x = v.find("f", rank=[1, 2, 3], is_input=True)
    if x is None:
        return None
    axis = axis_of(v, x)
    k = int(v.random.integers(1, v.arrays[x].shape[axis] + 1))
    return "TopK", [x, integers(v, k)], 2, {"axis": axis, "largest": v.pick(0, 1)}


def soft(v):
    x = v.find("f", rank=[1, 2, 3, 4])
    return x and (v.pick("Softmax", "LogSoftmax", "LpNormalization"), [x], 1, {"axis": axis_of(v, x)})


def reshape(v):
    x = v.find("fiub")
    size = v.arrays[x].size
    shape = []
    while size > 1 and len(shape) < 4:
        factor = v.pick(*[f for f in range(1, size + 1) if size % f == 0])
        shape.append(factor)
        size //= factor
    shape = [*shape, size] if size > 1 or not shape else shape
    if v.chance(30):
        shape[v.random.integers(len(shape))] = -1
    return "Reshape", [x, integers(v, *shape)], 1, {}


def turn(v):
    x = v.find("fiub", rank=[1, 2, 3, 4, 5])
    return x and ("Transpose", [x], 1, {"perm": [int(axis) for axis in v.random.permutation(v.arrays[x].ndim)]})


def ranks(v):
    x = v.find("fiub", rank=[1, 2, 3, 4])
    if x is None:
        return None
    ones = [axis for axis, extent in enumerate(v.arrays[x].shape) if extent == 1]
    if ones and v.chance(50):
        return "Squeeze", [x, integers(v, v.pick(*ones))], 1, {}
    return v.pick(("Unsqueeze", [x, integers(v, axis_of(v, x))], 1, {}), ("Flatten", [x], 1, {"axis": axis_of(v, x)}),
                  ("Shape", [x], 1, {}), ("Size", [x], 1, {}))


def join(v):
    x = v.find("fi", rank=[1, 2, 3, 4])
    return x and ("Concat", [x] * v.pick(2, 3) + ([v.weight(v.arrays[x])] if v.chance(50) else []), 1, {"axis": axis_of(v, x)})


def split(v):
    x = v.find("fi", rank=[1, 2, 3, 4])
    if x is None:
        return None
    axis = axis_of(v, x)
    extent = v.arrays[x].shape[axis]
    if extent < 2:
        return None
    first = int(v.random.integers(1, extent))
    return "Split", [x, integers(v, first, extent - first)], 2, {"axis": axis}


def part(v):
    x = v.find("fib", rank=[1, 2, 3, 4])
    if x is None:
        return None
    rank = v.arrays[x].ndim
    axes = [int(a) for a in v.random.permutation(rank)[: v.random.integers(1, rank + 1)]]
    begins, ends, steps = [], [], []
    for axis in axes:
        extent, step = v.arrays[x].shape[axis], v.pick(1, 1, 2, -1, -2)
        low = int(v.random.integers(0, extent))
        begins.append(low if step > 0 else extent - 1)
        ends.append(v.pick(extent, 2**31) if step > 0 else v.pick(-extent - 1, -(2**31)))
        steps.append(step)
    return "Slice", [x, integers(v, *begins), integers(v, *ends), integers(v, *axes), integers(v, *steps)], 1, {}


def grow(v):
    x = v.find("fi", rank=[1, 2, 3])
    if x is None:
        return None
    shape = v.arrays[x].shape
    if v.chance(50):
        return "Tile", [x, integers(v, *v.random.integers(1, 3, len(shape)))], 1, {}
    wanted = [extent if extent > 1 else int(v.random.integers(1, 4)) for extent in shape]
    return "Expand", [x, integers(v, *([2] if v.chance(30) else []), *wanted)], 1, {}


def pad(v):
    x = v.find("f", rank=[1, 2, 3, 4])
    if x is None:
        return None
    mode = v.pick("constant", "edge", "reflect", "wrap")
    most = [extent - 1 if mode == "reflect" else extent if mode == "wrap" else 2 for extent in v.arrays[x].shape]
    pads = [int(v.random.integers(0, m + 1)) for m in most + most]
    return "Pad", [x, integers(v, *pads)] + ([v.weight(np.float32(0.5).astype(v.arrays[x].dtype))] if mode == "constant" else []), 1, {"mode": mode}


def gather(v):
    x = v.find("fib", rank=[1, 2, 3])
    if x is None:
        return None
    axis = axis_of(v, x)
    extent = v.arrays[x].shape[axis]
    if v.chance(40):
        shape = [1 if v.chance(30) else e for e in v.arrays[x].shape]
        return "GatherElements", [x, v.weight(v.random.integers(-extent, extent, shape))], 1, {"axis": axis}
    if v.chance(30):
        last = int(v.random.integers(1, v.arrays[x].ndim + 1))
        places = [v.random.integers(0, e, (3,)) for e in v.arrays[x].shape[:last]]
        return "GatherND", [x, v.weight(np.stack(places, -1).astype(np.int64))], 1, {}
    return "Gather", [x, v.weight(v.random.integers(-extent, extent, v.shape()[:2]))], 1, {"axis": axis}


def scatter(v):
    x = v.find("f", rank=[1, 2, 3])
    if x is None:
        return None
    array, axis = v.arrays[x], axis_of(v, x)
    reduction = v.pick("none", "add", "mul", "max", "min")
    if v.chance(50):
        shape = list(array.shape)
        shape[axis] = int(v.random.integers(1, shape[axis] + 1))
        places = np.argsort(v.random.random(array.shape), axis=axis)
        places = np.take(places, range(shape[axis]), axis=axis).astype(np.int64)
        return "ScatterElements", [x, v.weight(places), v.normal(*shape, dtype=array.dtype)], 1, {"axis": axis, "reduction": reduction}
    rows = v.random.permutation(array.shape[0])[: v.random.integers(1, array.shape[0] + 1)]
    updates = v.normal(len(rows), *array.shape[1:], dtype=array.dtype)
    return "ScatterND", [x, v.weight(rows[:, None].astype(np.int64)), updates], 1, {"reduction": reduction}


def made(v):
    x = v.find("f", rank=2)
    return v.pick(
        ("ConstantOfShape", [integers(v, *v.shape(1))], 1, {}),
        ("Range", [v.weight(np.int64(n)) for n in (-3, 9, 2)], 1, {}),
        ("OneHot", [v.find("i", is_input=True), v.weight(np.int64(6)), v.weight(np.array([0, 2], np.float32))], 1, {"axis": -1}),
        ("EyeLike", [x], 1, {"k": v.pick(-1, 0, 1)}) if x else None,
        ("Trilu", [x], 1, {"upper": v.pick(0, 1)}) if x else None,
    )


def blocks(v):
    x = v.find("f", rank=4)
    if x is None or v.arrays[x].dtype != np.float32:
        return None
    n, c, h, w = v.arrays[x].shape
    if c % 4 == 0:
        return "DepthToSpace", [x], 1, {"blocksize": 2, "mode": v.pick("DCR", "CRD")}
    return "SpaceToDepth", [x], 1, {"blocksize": 2}


def product(v):
    x = v.find("f", rank=[2, 3, 4])
    if x is None or v.arrays[x].dtype != np.float32:
        return None
    k = v.arrays[x].shape[-1]
    if v.arrays[x].ndim == 2 and v.chance(40):
        turned, n = v.pick(0, 1), int(v.random.integers(1, 6))
        return "Gemm", [x, v.normal(*((n, k) if turned else (k, n))), v.normal(n)], 1, {"transB": turned, "alpha": 0.5, "beta": 2.0}
    equations = EQUATIONS.get(v.arrays[x].ndim)
    if equations and v.chance(30):
        equation = v.pick(*equations)
        other = (v.arrays[x].shape if equation == "ij,ij->i"
                 else (*v.arrays[x].shape[:-2], k, int(v.random.integers(1, 6))))
        return "Einsum", [x] + ([v.normal(*other)] if "," in equation else []), 1, {"equation": equation}
    return "MatMul", [x, v.normal(k, int(v.random.integers(1, 6)))], 1, {}


def convolution(v):
    x = v.find("f", rank=[3, 4])
    if x is None or v.arrays[x].dtype != np.float32:
        return None
    channels, space = v.arrays[x].shape[1], v.arrays[x].ndim - 2
    kernel = [int(v.random.integers(1, 4)) for _ in range(space)]
    groups = v.pick(*[g for g in range(1, channels + 1) if channels % g == 0])
    filters = groups * int(v.random.integers(1, 4))
    attributes = {"kernel_shape": kernel, "strides": [v.pick(1, 1, 2)] * space, "pads": [v.pick(0, 1)] * 2 * space,
                  "dilations": [v.pick(1, 1, 2)] * space, "group": groups}
    if v.chance(25):
        return "ConvTranspose", [x, v.normal(channels, filters // groups, *kernel)], 1, attributes
    return "Conv", [x, v.normal(filters, channels // groups, *kernel), v.normal(filters)], 1, attributes


def pool(v):
    x = v.find("f", rank=[3, 4])
    if x is None or v.arrays[x].dtype != np.float32:
        return None
    space = v.arrays[x].ndim - 2
    if v.chance(30):
        return v.pick("GlobalAveragePool", *["GlobalMaxPool"] * (space == 2)), [x], 1, {}
    kernel = [int(v.random.integers(1, 4)) for _ in range(space)]
    pads = [v.pick(0, min(kernel) // 2)] * 2 * space
    return v.pick(("MaxPool", [x], 1, {"kernel_shape": kernel, "pads": pads, "strides": [v.pick(1, 2)] * space}),
                  ("AveragePool", [x], 1, {"kernel_shape": kernel, "pads": pads, "count_include_pad": v.pick(0, 1)}))


def normal(v):
    x = v.find("f", rank=[3, 4])
    if x is None or v.arrays[x].dtype != np.float32:
        return None
    c, last = v.arrays[x].shape[1], v.arrays[x].shape[-1]
    return v.pick(
        ("BatchNormalization", [x, v.normal(c), v.normal(c), v.normal(c), v.weight(np.ones(c, np.float32))], 1, {}),
        ("InstanceNormalization", [x, v.normal(c), v.normal(c)], 1, {"epsilon": 0.1}),
        ("GroupNormalization", [x, v.normal(c), v.normal(c)], 1, {"num_groups": c, "epsilon": 0.1}),
        ("LayerNormalization", [x, v.normal(last), v.normal(last)], 1, {"axis": -1, "epsilon": 0.1}),
        ("RMSNormalization", [x, v.normal(last)], 1, {"axis": -1, "epsilon": 0.1}),
    )


def resize(v):
    x = v.find("f", rank=4)
    if x is None or v.arrays[x].dtype != np.float32:
        return None
    scales = v.weight(np.array([1, 1, 2, 2], np.float32))
    how = v.pick({"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}, {"mode": "linear"},
                 {"mode": "linear", "coordinate_transformation_mode": "align_corners"}, {"mode": "cubic"})
    return "Resize", [x, "", scales], 1, how


def recurrent(v):
    x = v.find("f", rank=3)
    if x is None or v.arrays[x].dtype != np.float32:
        return None
    op, gates = v.pick(("LSTM", 4), ("GRU", 3), ("RNN", 1))
    hidden, width = int(v.random.integers(1, 4)), v.arrays[x].shape[-1]
    weights = [v.normal(1, gates * hidden, width), v.normal(1, gates * hidden, hidden), v.normal(1, 2 * gates * hidden)]
    return op, [x, *weights], 2, {"hidden_size": hidden}


def attention(v):
    x = v.find("f", rank=4)
    if x is None or v.arrays[x].dtype != np.float32:
        return None
    return "Attention", [x, x, x], 1, {"is_causal": v.pick(0, 1)}


def quantised(v):
    x = v.find("f", is_input=True)
    if v.arrays[x].dtype != np.float32:
        return None
    bytes_ = v.find("u", rank=[2])
    if bytes_ and v.chance(40):
        k = v.arrays[bytes_].shape[1]
        return "MatMulInteger", [bytes_, v.weight(v.random.integers(-9, 9, (k, 3)).astype(np.int8))], 1, {}
    some = v.find("u")
    return v.pick(
        ("QuantizeLinear", [x, v.weight(np.float32(0.2)), v.weight(np.uint8(100))], 1, {}),
        ("DequantizeLinear", [some, v.weight(np.float32(0.25)), v.weight(np.uint8(3))], 1, {}),
    )


FAMILIES = [smooth, smooth, jumping, binary, binary, comparison, logical, bits, choice, cast, clip, reduction, arg, running, top,
            soft, reshape, turn, ranks, join, split, part, grow, pad, gather, scatter, made, blocks, product, convolution,
            pool, normal, resize, recurrent, attention, quantised]
