"""Models of convolutions: SAR-DRN, EfficientNet-B0, ShuffleNet v1 and v2, RedNet-50."""

import numpy as np
from builder import Graph

TINY_IMAGE, IMAGE = 32, 224
# A stage: expansion, channels, repeats, stride, kernel.
EFFICIENTNET = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5),
                (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]
TINY_EFFICIENTNET = [(1, 8, 1, 1, 3), (4, 12, 2, 2, 3), (4, 16, 2, 2, 5)]


def sar_drn(name, form, is_tiny, seed):
    """Seven dilated convolutions find the speckle, which is subtracted; what the first and fourth find skips two layers."""
    filters, image = (8, TINY_IMAGE) if is_tiny else (64, 256)
    g = Graph(name, form, seed)
    given = x = g.input("image", "float", ["batch", 1, image, image])
    found = []
    for i, dilation in enumerate((1, 2, 3, 4, 3, 2, 1)):
        x = g.conv(x, 1 if i == 0 else filters, 1 if i == 6 else filters, 3, dilation=dilation, bias=True)
        if i == 2:
            x = g.op("Add", x, found[0])
        if i == 5:
            x = g.op("Add", x, found[3])
        if i < 6:
            x = g.op("Relu", x)
        found.append(x)
    g.output(g.op("Sub", given, x), "despeckled", "float", ["batch", 1, image, image])
    return g.model()


def swish(g, x):
    return g.op("Mul", x, g.op("Sigmoid", x))


def efficientnet(name, form, is_tiny, seed):
    stages, image, last, classes = (TINY_EFFICIENTNET, TINY_IMAGE, 32, 10) if is_tiny else (EFFICIENTNET, IMAGE, 1280, 1000)
    g = Graph(name, form, seed)
    x = g.input("image", "float", ["batch", 3, image, image])
    channels = 8 if is_tiny else 32
    x = swish(g, g.batch_norm(g.conv(x, 3, channels, 3, 2), channels))
    for expansion, filters, repeats, first_stride, kernel in stages:
        for repeat in range(repeats):
            stride = first_stride if repeat == 0 else 1
            before, wide = x, channels * expansion
            if expansion > 1:
                x = swish(g, g.batch_norm(g.conv(x, channels, wide), wide))
            x = swish(g, g.batch_norm(g.conv(x, wide, wide, kernel, stride, groups=wide), wide))
            squeezed = swish(g, g.conv(g.global_average(x), wide, max(1, channels // 4), bias=True))
            x = g.op("Mul", x, g.op("Sigmoid", g.conv(squeezed, max(1, channels // 4), wide, bias=True)))
            x = g.batch_norm(g.conv(x, wide, filters), filters)
            if stride == 1 and channels == filters:
                x = g.op("Add", x, before)
            channels = filters
    x = swish(g, g.batch_norm(g.conv(x, channels, last), last))
    g.output(g.classifier(g.global_average(x), last, classes), "logits", "float", ["batch", classes])
    return g.model()


def shufflenet_v1(name, form, is_tiny, seed):
    """Three groups."""
    groups = 3
    stages, image, classes = ([(24, 2), (48, 2)], TINY_IMAGE, 10) if is_tiny else ([(240, 4), (480, 8), (960, 4)], IMAGE, 1000)
    g = Graph(name, form, seed)
    x = g.input("image", "float", ["batch", 3, image, image])
    channels, size = 12 if is_tiny else 24, image // 4
    x = g.op("Relu", g.batch_norm(g.conv(x, 3, channels, 3, 2), channels))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for stage, (filters, repeats) in enumerate(stages):
        for repeat in range(repeats):
            stride = 2 if repeat == 0 else 1
            narrow, made = filters // 4, filters - channels if stride == 2 else filters
            inner = g.conv(x, channels, narrow, groups=1 if stage == 0 and repeat == 0 else groups)
            inner = g.op("Relu", g.batch_norm(inner, narrow))
            inner = g.shuffle(inner, narrow, groups, size)
            size //= stride
            inner = g.batch_norm(g.conv(inner, narrow, narrow, 3, stride, groups=narrow), narrow)
            inner = g.batch_norm(g.conv(inner, narrow, made, groups=groups), made)
            if stride == 2:
                beside = g.op("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, count_include_pad=1)
                x = g.op("Concat", beside, inner, axis=1)
            else:
                x = g.op("Add", x, inner)
            x, channels = g.op("Relu", x), filters
    g.output(g.classifier(g.global_average(x), channels, classes), "logits", "float", ["batch", classes])
    return g.model()


def shufflenet_v2(name, form, is_tiny, seed):
    stages, last, image, classes = (
        ([(16, 2), (32, 2)], 32, TINY_IMAGE, 10) if is_tiny else ([(116, 4), (232, 8), (464, 4)], 1024, IMAGE, 1000)
    )
    g = Graph(name, form, seed)

    def pointwise(x, channels, filters):
        return g.op("Relu", g.batch_norm(g.conv(x, channels, filters), filters))

    def depthwise(x, channels, stride):
        return g.batch_norm(g.conv(x, channels, channels, 3, stride, groups=channels), channels)

    x = g.input("image", "float", ["batch", 3, image, image])
    channels, size = 8 if is_tiny else 24, image // 4
    x = g.op("Relu", g.batch_norm(g.conv(x, 3, channels, 3, 2), channels))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for filters, repeats in stages:
        half = filters // 2
        for repeat in range(repeats):
            if repeat == 0:
                size //= 2
                left = pointwise(depthwise(x, channels, 2), channels, half)
                right = pointwise(depthwise(pointwise(x, channels, half), half, 2), half, half)
            else:
                left, right = g.op("Split", x, g.integers(half, half), axis=1, outputs=2)
                right = pointwise(depthwise(pointwise(right, half, half), half, 1), half, half)
            x = g.shuffle(g.op("Concat", left, right, axis=1), filters, 2, size)
        channels = filters
    x = pointwise(x, channels, last)
    g.output(g.classifier(g.global_average(x), last, classes), "logits", "float", ["batch", classes])
    return g.model()


def involution(g, x, channels, kernel, stride, size, group_width):
    """Kernels of every place, made by two 1x1 convolutions, times the windows, and summed."""
    groups, narrow, out = channels // group_width, max(1, channels // 4), size // stride
    small = x if stride == 1 else g.op("AveragePool", x, kernel_shape=[stride] * 2, strides=[stride] * 2)
    kernels = g.op("Relu", g.batch_norm(g.conv(small, channels, narrow), narrow))
    kernels = g.conv(kernels, narrow, kernel * kernel * groups, bias=True)
    kernels = g.op("Reshape", kernels, g.integers(-1, groups, 1, kernel * kernel, out, out))
    # Windows, as exporters write them: a border, and rows and columns by their numbers.
    pad = kernel // 2
    bordered = g.op("Pad", x, g.integers(0, 0, pad, pad, 0, 0, pad, pad))
    places = g.constant(np.arange(kernel)[:, None] + stride * np.arange(out)[None, :], np.int64)
    windows = g.op("Gather", g.op("Gather", bordered, places, axis=2), places, axis=4)  # [n, c, kh, h, kw, w]
    windows = g.op("Transpose", windows, perm=[0, 1, 2, 4, 3, 5])
    windows = g.op("Reshape", windows, g.integers(-1, groups, group_width, kernel * kernel, out, out))
    summed = g.reduce("ReduceSum", g.op("Mul", kernels, windows), [3], keepdims=0)
    return g.op("Reshape", summed, g.integers(-1, channels, out, out))


def rednet(name, form, is_tiny, seed):
    """ResNet-50 with an involution of 7x7 in the place of each convolution of 3x3."""
    if is_tiny:
        stages, width, group_width, image, classes = [(16, 1), (32, 2)], 16, 4, TINY_IMAGE, 10
    else:
        stages, width, group_width, image, classes = [(64, 3), (128, 4), (256, 6), (512, 3)], 64, 16, IMAGE, 1000
    g = Graph(name, form, seed)
    x = g.input("image", "float", ["batch", 3, image, image])

    def normed(x, channels):
        return g.op("Relu", g.batch_norm(x, channels))

    half, size = width // 2, image // 2
    x = normed(g.conv(x, 3, half, 3, 2), half)
    x = normed(involution(g, x, half, 3, 1, size, min(group_width, half)), half)
    x = normed(g.conv(x, half, width, 3), width)
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    size, channels = size // 2, width
    for stage, (filters, repeats) in enumerate(stages):
        for repeat in range(repeats):
            stride = 2 if stage > 0 and repeat == 0 else 1
            inner = normed(g.conv(x, channels, filters), filters)
            inner = normed(involution(g, inner, filters, 7, stride, size, group_width), filters)
            inner = g.batch_norm(g.conv(inner, filters, 4 * filters), 4 * filters)
            if repeat == 0:
                x = g.batch_norm(g.conv(x, channels, 4 * filters, 1, stride, pad=0), 4 * filters)
            size //= stride
            x, channels = g.op("Relu", g.op("Add", x, inner)), 4 * filters
    g.output(g.classifier(g.global_average(x), channels, classes), "logits", "float", ["batch", classes])
    return g.model()
