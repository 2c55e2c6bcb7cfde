"""Writes ONNX files without the package onnx: messages of the protocol buffers, field by field."""

import numpy as np

FLOAT, INT64 = 1, 7
TYPES = {"float32": FLOAT, "int64": INT64}


def _varint(number):
    number &= 2**64 - 1
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _varint(number >> 7)


def _number(field, number):
    return _varint(field << 3) + _varint(number)


def _text(field, data):
    data = data.encode() if isinstance(data, str) else data
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def value(name, kind, *shape):
    """An extent that is a text is a symbol; None has no name."""
    extents = [_number(1, n) if isinstance(n, int) else _text(2, n) if n else b"" for n in shape]
    shape_text = b"".join(_text(1, extent) for extent in extents)
    return _text(1, name) + _text(2, _text(1, _number(1, kind) + _text(2, shape_text)))


def weight(name, array):
    array = np.ascontiguousarray(array)
    shape = b"".join(_number(1, extent) for extent in array.shape)
    return shape + _number(2, TYPES[array.dtype.name]) + _text(8, name) + _text(9, array.tobytes())


def node(op, inputs, outputs, **integers):
    attributes = b""
    for name, number in integers.items():
        if isinstance(number, list):
            body = b"".join(_number(8, one) for one in number) + _number(20, 7)
        else:
            body = _number(3, number) + _number(20, 2)
        attributes += _text(5, _text(1, name) + body)
    names = b"".join(_text(1, name) for name in inputs) + b"".join(_text(2, name) for name in outputs)
    return names + _text(4, op) + attributes


def model(nodes, inputs, outputs, weights=(), metadata=None, opset=17):
    graph = b"".join(_text(1, one) for one in nodes) + _text(2, "graph") + b"".join(_text(5, one) for one in weights)
    graph += b"".join(_text(11, one) for one in inputs) + b"".join(_text(12, one) for one in outputs)
    properties = [_text(14, _text(1, key) + _text(2, text)) for key, text in (metadata or {}).items()]
    parts = [_number(1, 8), _text(2, "tests"), _number(5, 3), _text(7, graph), _text(8, _number(2, opset)), *properties]
    return b"".join(parts)
