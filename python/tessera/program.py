"""Programs: compiled ONNX models and graphs, called with NumPy arrays."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from tessera import _native, environment
from tessera.inspecting import inspect, plan_text
from tessera.options import Constants, Dims, Path, Points


class ArrayInfo(NamedTuple):
    """An array that a program takes or gives: its name, its dtype, and its shape, in which a symbolic extent is a text: "T",
    "16 * P"."""

    name: str
    dtype: np.dtype
    shape: tuple[Union[int, str], ...]


def _infos(arrays: list[tuple[str, str, list[Union[int, str]]]]) -> list[ArrayInfo]:
    return [ArrayInfo(name, np.dtype(dtype), tuple(shape)) for name, dtype, shape in arrays]


def _typed(array: npt.ArrayLike, dtype: Optional[np.dtype] = None) -> tuple[str, npt.NDArray]:
    """As the extension takes it: its type and its contents. `dtype`: of what is no array yet."""
    is_typed = isinstance(array, (np.ndarray, np.generic))
    whole = np.asarray(array) if is_typed else np.asarray(array, dtype=dtype)
    whole = np.asarray(whole, dtype=whole.dtype.newbyteorder("<"), order="C")
    return whole.dtype.str, whole


def _arrays(results: dict[str, tuple[bytearray, str, list[int]]]) -> dict[str, npt.NDArray]:
    return {name: np.frombuffer(data, dtype).reshape(shape) for name, (data, dtype, shape) in results.items()}


class Program:
    """A compiled ONNX model or graph (docs/programs.md): a function of arrays by their names.

        program = tessera.compile("detector.onnx", dims={"height": 640, "width": 640})
        scores = program(image=image)["scores"]

    Any thread may call it; one call is computed at a time, on `workers` threads. tessera.Program(FILE) opens an artefact.
    """

    def __init__(self, artefact: Path) -> None:
        """Raises Error if the file is no artefact, is damaged, or that of a language model."""
        self._native = artefact if isinstance(artefact, _native.Program) else _native.Program(artefact)
        self._inputs = _infos(self._native.inputs)
        self._types = {array.name: array.dtype for array in self._inputs + _infos(self._native.states)}

    @property
    def artefact(self) -> str:
        """The path of its artefact."""
        return str(self._native.artefact)

    @property
    def workers(self) -> int:
        """Threads that compute a call together: part of the compiled plan."""
        return self._native.workers

    @property
    def inputs(self) -> list[ArrayInfo]:
        """The arrays that a call takes, all of them."""
        return self._inputs

    @property
    def outputs(self) -> list[ArrayInfo]:
        """The arrays that a call gives."""
        return _infos(self._native.outputs)

    @property
    def states(self) -> list[ArrayInfo]:
        """Memory that a call may take, zero where it does not, and gives: states of graphs, and aliases."""
        return _infos(self._native.states)

    def __call__(
        self,
        arrays: Optional[Mapping[str, npt.ArrayLike]] = None,
        /,
        *,
        symbols: Optional[Mapping[str, int]] = None,
        continues: bool = False,
        **more: npt.ArrayLike,
    ) -> dict[str, npt.NDArray]:
        """The outputs and states by their names.

        arrays     by their names, as a dictionary, keyword arguments, or both. An array of NumPy must have the type of the
                   input; lists and numbers of Python get it
        symbols    values of symbols that no shape says
        continues  states that are not given are as the call before left them, not zero, and none is returned: a step of a
                   decoder changes its cache in place

        Raises Error naming the array that is missing, unknown, or of another type or shape.
        """
        given = {name: _typed(array, self._types.get(name)) for name, array in {**(arrays or {}), **more}.items()}
        return _arrays(self._native.call(given, dict(symbols or {}), continues))

    def __repr__(self) -> str:
        arrays = ", ".join(f"{a.name}: {a.dtype}{list(a.shape)}" for a in self._inputs)
        return f"<tessera.Program ({arrays})>"

    def inspect(self, *, costs: bool = False, machine: Path = "") -> dict[str, Any]:
        """tessera.inspect of its artefact."""
        return inspect(self.artefact, costs=costs, machine=machine)

    def plan_text(self) -> str:
        """tessera.plan_text of its artefact."""
        return plan_text(self.artefact)


def _constant_text(name: str, value: Any) -> str:
    """As `--constant` takes it."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"constants: {name} cannot be {value!r}")
    return ",".join(repr(number.item() + 0) for number in array.reshape(-1))


def onnx_settings(
    dims: Optional[Dims] = None,
    constants: Optional[Constants] = None,
    points: Optional[Points] = None,
    aliases: Optional[Mapping[str, str]] = None,
) -> dict[str, Any]:
    """These options of compile() as the extension takes them."""
    return {
        "dims": {
            name: (*d, 1)[:3] if isinstance(d, (tuple, list)) else (d, d, 1) for name, d in (dims or {}).items()
        },
        "constants": {name: _constant_text(name, value) for name, value in (constants or {}).items()},
        "aliases": dict(aliases or {}),
        "points": {
            name: (1.0, dict(point)) if isinstance(point, Mapping) else (float(point[0]), dict(point[1]))
            for name, point in (points or {}).items()
        },
    }


def open_onnx(model: Path, onnx: dict[str, Any], **options: Any) -> Program:
    """The program of an ONNX model, compiled on first use and found again in the user's cache."""
    return Program(_native.open_onnx(model, onnx, {**environment.opening(), **options}))


def interpret(
    model: Path,
    arrays: Mapping[str, npt.NDArray],
    *,
    dims: Optional[Dims] = None,
    constants: Optional[Constants] = None,
) -> dict[str, npt.NDArray]:
    """What an ONNX model means: its outputs, computed number by number from its imported graph, without compiling. It is
    slow, and what compiled code is to agree with.

    Raises Error as tessera.compile does, and naming an input that is missing or of another type or shape.
    """
    given = {name: _typed(array) for name, array in arrays.items()}
    return _arrays(_native.interpret_onnx(model, onnx_settings(dims, constants), given))
