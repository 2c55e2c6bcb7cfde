"""Products and softmax of oneDNN 3 by its C interface, one primitive after the other.

`pip install onednn-cpu-gomp` brings the library. Names and numbers are those of oneDNN's dnnl.h and dnnl_types.h.
"""

import ctypes
import ctypes.util
import statistics
import sys
import time
from pathlib import Path

import numpy

CPU, IN_ORDER, F32 = 1, 1, 3
FORWARD_INFERENCE, SOFTMAX_ACCURATE = 96, 0x30000
SRC, DST, WEIGHTS = 1, 17, 33


class Argument(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_int), ("memory", ctypes.c_void_p)]


def find_library() -> str | None:
    for folder in map(Path, [sys.prefix, *sys.path]):
        for found in sorted(folder.glob("**/libdnnl.so*") if folder.name == "lib" else folder.glob("lib/libdnnl.so*")):
            return str(found)
    return ctypes.util.find_library("dnnl")


class OneDnn:
    """E = (A B) D, or softmax(A B) D, of arrays f32[batch, rows, columns] as they lie."""

    def __init__(self, a: numpy.ndarray, b: numpy.ndarray, d: numpy.ndarray, is_attention: bool, threads: int) -> None:
        ctypes.CDLL("libgomp.so.1", mode=ctypes.RTLD_GLOBAL).omp_set_num_threads(threads)
        self.library = ctypes.CDLL(find_library())
        self.engine, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("dnnl_engine_create", ctypes.byref(self.engine), CPU, ctypes.c_size_t(0))
        self.call("dnnl_stream_create", ctypes.byref(self.stream), self.engine, IN_ORDER)
        c = numpy.empty((a.shape[0], a.shape[1], b.shape[2]), numpy.float32)
        self.result = numpy.empty((a.shape[0], a.shape[1], d.shape[2]), numpy.float32)
        self.steps = [self.product(a, b, c)]
        if is_attention:
            self.steps.append(self.softmax(c))
        self.steps.append(self.product(c, d, self.result))
        self.kept = (a, b, c, d)

    def call(self, name: str, *arguments) -> None:
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} returned {status}")

    def described(self, array: numpy.ndarray) -> ctypes.c_void_p:
        found = ctypes.c_void_p()
        sizes = (ctypes.c_int64 * array.ndim)(*array.shape)
        strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
        self.call("dnnl_memory_desc_create_with_strides", ctypes.byref(found), array.ndim, sizes, F32, strides)
        return found

    def step(self, primitive_descriptor: ctypes.c_void_p, tensors: dict[int, numpy.ndarray]):
        primitive = ctypes.c_void_p()
        self.call("dnnl_primitive_create", ctypes.byref(primitive), primitive_descriptor)
        arguments = (Argument * len(tensors))()
        for at, (argument, array) in enumerate(tensors.items()):
            memory = ctypes.c_void_p()
            self.call(
                "dnnl_memory_create", ctypes.byref(memory), self.described(array), self.engine, ctypes.c_void_p(array.ctypes.data)
            )
            arguments[at] = Argument(argument, memory.value)
        return primitive, arguments

    def product(self, a: numpy.ndarray, b: numpy.ndarray, c: numpy.ndarray):
        found = ctypes.c_void_p()
        self.call(
            "dnnl_matmul_primitive_desc_create", ctypes.byref(found), self.engine, self.described(a), self.described(b), None,
            self.described(c), None
        )  # fmt: skip
        return self.step(found, {SRC: a, WEIGHTS: b, DST: c})

    def softmax(self, c: numpy.ndarray):
        found = ctypes.c_void_p()
        self.call(
            "dnnl_softmax_forward_primitive_desc_create", ctypes.byref(found), self.engine, FORWARD_INFERENCE, SOFTMAX_ACCURATE,
            self.described(c), self.described(c), c.ndim - 1, None
        )  # fmt: skip
        return self.step(found, {SRC: c, DST: c})

    def __call__(self, times: int) -> float:
        seconds = []
        for _ in range(times + 1):
            begin = time.perf_counter()
            for primitive, arguments in self.steps:
                self.call("dnnl_primitive_execute", primitive, self.stream, len(arguments), arguments)
            self.call("dnnl_stream_wait", self.stream)
            seconds.append(time.perf_counter() - begin)
        return statistics.median(seconds[1:])
