"""The part of onnxruntime's interface that programs use which only run models: they run unchanged with Tessera after

    import sys, tessera.onnxruntime
    sys.modules["onnxruntime"] = tessera.onnxruntime

A model is compiled when `run` first sees inputs of such shapes, and found again in the user's cache from then on.
docs/onnx.md has the rules.
"""

import os
import tempfile
import threading
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from tessera import _native, environment
from tessera.errors import Error
from tessera.program import Program, onnx_settings, open_onnx
from tessera.session_options import (
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    ModelMetadata,
    NodeArg,
    RunOptions,
    SessionOptions,
)

__all__ = [
    "ExecutionMode",
    "ExecutionOrder",
    "GraphOptimizationLevel",
    "InferenceSession",
    "ModelMetadata",
    "NodeArg",
    "RunOptions",
    "SessionOptions",
    "disable_telemetry_events",
    "enable_telemetry_events",
    "get_all_providers",
    "get_available_providers",
    "get_device",
    "get_version_string",
    "set_default_logger_severity",
    "set_default_logger_verbosity",
    "set_seed",
]
__version__ = "1.22.0"
"""The version of onnxruntime whose interface this is."""

_PROVIDER = "CPUExecutionProvider"
_MOST_PROGRAMS = 32
"""Programs that a session keeps open; of others the artefact is kept."""
_MOST_CONSTANT = 64
"""Elements of an input that is made a constant."""
_UNKNOWN_VERSION = 2**63 - 1
"""As onnxruntime says it of a model that does not."""

_TYPES = {
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "FLOAT16": "float16",
    "BOOL": "bool",
    **{f"{sign}INT{bits}": f"{sign.lower()}int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)},
    # Held by wider ones.
    **{name: "float32" for name in ("BFLOAT16", "FLOAT4E2M1", "FLOAT8E8M0")},
    **{name: "float32" for name in ("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ")},
    **{f"{sign}INT{bits}": f"{sign.lower()}int8" for sign in ("", "U") for bits in (2, 4)},
}


def get_available_providers() -> list[str]:
    """One: the processor."""
    return [_PROVIDER]


def get_all_providers() -> list[str]:
    """The same."""
    return [_PROVIDER]


def get_device() -> str:
    """Always "CPU"."""
    return "CPU"


def get_version_string() -> str:
    """__version__."""
    return __version__


def set_default_logger_severity(severity: int) -> None:
    """Has no effect: nothing is logged."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Has no effect: nothing is logged."""


def set_seed(seed: int) -> None:
    """Has no effect: operators that draw are not supported."""


def enable_telemetry_events() -> None:
    """Has no effect: there are none."""


def disable_telemetry_events() -> None:
    """Has no effect: there are none."""


class _Port(NamedTuple):
    name: str
    type: str
    shape: Optional[list[Union[int, str]]]
    symbols: list[str]

    def node_arg(self) -> NodeArg:
        shape = [s if (isinstance(s, str) and s) or (isinstance(s, int) and s >= 0) else None for s in self.shape or []]
        if self.type.islower():  # no tensor
            return NodeArg(self.name, self.type, shape)
        return NodeArg(self.name, f"tensor({self.type.lower()})", shape)


def _stated_dims(text: str) -> dict[str, tuple[int, int]]:
    """Those of "batch=1..8,width=320"."""
    dims = {}
    for part in filter(None, text.split(",")):
        name, _, bounds = part.partition("=")
        low, _, high = bounds.partition("..")
        try:
            dims[name] = (int(low), int(high or low))
        except ValueError:
            raise Error("", "tessera.dims", f"has {part!r}, expected NAME=N or NAME=LOW..HIGH", "", True) from None
    return dims


class InferenceSession:
    """A model that is compiled for the shapes that it meets.

    path_or_bytes  an ONNX file, or its contents
    sess_options   SessionOptions
    providers      names, of which that of the processor is the only one that there is
    """

    def __init__(
        self,
        path_or_bytes: Union[str, "os.PathLike[str]", bytes],
        sess_options: Optional[SessionOptions] = None,
        providers: Optional[Sequence[Any]] = None,
        provider_options: Optional[Sequence[Any]] = None,
        **_: Any,
    ) -> None:
        self._options = sess_options or SessionOptions()
        for name in ("enable_profiling", "optimized_model_filepath"):
            if getattr(self._options, name):
                raise Error("", name, "is not supported", "`tessera bench` and `tessera inspect` show more", True)
        for provider in providers or ():
            name = provider[0] if isinstance(provider, tuple) else provider
            if name != _PROVIDER:
                warnings.warn(f"Specified provider '{name}' is not in available provider names: {_PROVIDER}", stacklevel=2)
        self._file = None
        if isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            self._file = tempfile.NamedTemporaryFile(suffix=".onnx")  # as long as the session
            self._file.write(path_or_bytes)
            self._file.flush()
        self._path = os.fspath(self._file.name if self._file else path_or_bytes)
        described = _native.describe_onnx(self._path)
        self._inputs = [_Port(*port) for port in described["inputs"]]
        self._outputs = [_Port(*port) for port in described["outputs"]]
        version = described["version"]
        self._metadata = ModelMetadata(
            described["metadata"],
            described["description"],
            described["domain"],
            described["graph_description"],
            described["graph_name"],
            described["producer"],
            _UNKNOWN_VERSION if version is None else version,
        )
        for port in self._inputs:
            if port.type not in _TYPES:
                raise Error(self._path, port.name, f"is of type {port.type}, which is not supported")
        entries = self._options._entries
        self._stated = _stated_dims(entries.get("tessera.dims", ""))
        level = GraphOptimizationLevel.ORT_DISABLE_ALL
        effort = entries.get("tessera.search_effort", "0" if self._options.graph_optimization_level == level else "1")
        self._compiling = {"search_effort": int(effort), "workers": self._options.intra_op_num_threads or None}
        self._programs: OrderedDict[Any, Program] = OrderedDict()
        self._constant_names: dict[Any, tuple[str, ...]] = {}
        self._met: list[dict[str, int]] = []
        self._lock = threading.Lock()

    def get_inputs(self) -> list[NodeArg]:
        """The arrays that `run` takes."""
        return [port.node_arg() for port in self._inputs]

    def get_outputs(self) -> list[NodeArg]:
        """The arrays that `run` gives."""
        return [port.node_arg() for port in self._outputs]

    def get_overridable_initializers(self) -> list[NodeArg]:
        """None: contents of the file are constants."""
        return []

    def get_modelmeta(self) -> ModelMetadata:
        """What the model says of itself."""
        return self._metadata

    def get_providers(self) -> list[str]:
        """What computes: the processor alone."""
        return [_PROVIDER]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """What computes, with its options: it has none."""
        return {_PROVIDER: {}}

    def get_session_options(self) -> SessionOptions:
        """Those of the session."""
        return self._options

    def set_providers(self, providers: Optional[Sequence[Any]] = None, provider_options: Optional[Sequence[Any]] = None) -> None:
        """Has no effect: there is one provider."""

    def enable_fallback(self) -> None:
        """Has no effect: there is one provider."""

    def disable_fallback(self) -> None:
        """Has no effect: there is one provider."""

    def run(
        self,
        output_names: Optional[Sequence[str]],
        input_feed: Mapping[str, npt.ArrayLike],
        run_options: Optional[RunOptions] = None,
    ) -> list[npt.NDArray]:
        """The outputs of these names, or all, in the model's order.

        input_feed  arrays by the names of the inputs; lists of Python get the type of the input

        Raises ValueError for a name that is missing or unknown, and Error for an array of another type or rank, and for
        what is not supported.
        """
        names = [port.name for port in self._outputs]
        for name in output_names or ():
            if name not in names:
                raise ValueError(f"{name} is no output of the model, which has {', '.join(names)}")
        missing = [port.name for port in self._inputs if port.name not in input_feed]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(input_feed)}).")
        unknown = [name for name in input_feed if name not in {port.name for port in self._inputs}]
        if unknown:
            raise ValueError(f"{unknown[0]} is no input of the model")
        arrays = {port.name: self._array(port, input_feed[port.name]) for port in self._inputs}
        with self._lock:
            program, constants = self._program(arrays)
        results = program({name: array for name, array in arrays.items() if name not in constants})
        return [results[name] for name in output_names or names]

    def _array(self, port: _Port, given: npt.ArrayLike) -> npt.NDArray:
        expected = np.dtype(_TYPES[port.type])
        if not isinstance(given, (np.ndarray, np.generic)):
            given = np.asarray(given, dtype=expected)
        array = np.asarray(given)
        if array.dtype != expected and (array.dtype.kind == "V" or array.dtype.num > 255):
            array = array.astype(expected)  # a type of ml_dtypes, whose numbers the wider one has
        if array.dtype != expected:
            raise Error(self._path, port.name, f"is of type {array.dtype}, expected {expected}", "", True)
        if port.shape is None:
            raise Error(self._path, port.name, "has no shape in the model, which is not supported")
        if array.ndim != len(port.shape):
            raise Error(self._path, port.name, f"has {array.ndim} axes, expected {len(port.shape)}", "", True)
        return array

    def _dims(self, arrays: Mapping[str, npt.NDArray]) -> dict[str, int]:
        """The values of the symbols."""
        dims: dict[str, int] = {}
        for port in self._inputs:
            for axis, (symbol, extent) in enumerate(zip(port.symbols, arrays[port.name].shape)):
                if not symbol:
                    if extent != port.shape[axis]:
                        problem = f"has {extent} along axis {axis}, expected {port.shape[axis]}"
                        raise Error(self._path, port.name, problem, "", True)
                elif dims.setdefault(symbol, extent) != extent:
                    problem = f"has {extent} along axis {axis}, but {symbol} is {dims[symbol]}"
                    raise Error(self._path, port.name, problem, "", True)
        return dims

    def _bounds(self, dims: Mapping[str, int]) -> list[dict[str, tuple[int, int]]]:
        """How the symbols may be compiled, the most general way first. Those that had other values before may be kept
        open, up to a power of two."""
        exact = {name: self._stated_bounds(name, value) for name, value in dims.items()}
        varied = [name for name in dims if name not in self._stated and any(m[name] != dims[name] for m in self._met)]
        ways = []
        if varied:
            most = {name: max([dims[name]] + [met[name] for met in self._met]) for name in varied}
            ways.append({**exact, **{name: (1, 1 << (most[name] - 1).bit_length()) for name in varied if most[name] > 0}})
        return [*ways, exact]

    def _stated_bounds(self, symbol: str, value: int) -> tuple[int, int]:
        for port in self._inputs:
            for own, given in zip(port.symbols, port.shape or ()):
                if own == symbol and (symbol in self._stated or given in self._stated):
                    return self._stated.get(symbol) or self._stated[given]
        return value, value

    def _program(self, arrays: Mapping[str, npt.NDArray]) -> tuple[Program, tuple[str, ...]]:
        dims = self._dims(arrays)
        for key, program in reversed(self._programs.items()):
            bounds, constants = key
            if all(low <= dims[name] <= high for name, low, high in bounds) and all(
                arrays[name].tobytes() == value for name, value in constants
            ):
                self._programs.move_to_end(key)
                return program, tuple(name for name, _ in constants)
        *open_ways, exact = self._bounds(dims)
        for bounds in open_ways:
            if not _native.unsupported_in_onnx(self._path, onnx_settings(dims=bounds)):
                return self._compiled(bounds, (), arrays, dims)
        return self._compiled(exact, self._steering(exact, arrays), arrays, dims)

    def _steering(self, dims: Mapping[str, tuple[int, int]], arrays: Mapping[str, npt.NDArray]) -> tuple[str, ...]:
        """The inputs that must be known when the model is compiled, such as a shape, or one that chooses a branch: as few
        of the small ones as it can be compiled with."""

        def lacks(names: Sequence[str]) -> list[str]:
            constants = {name: arrays[name] for name in names}
            return _native.unsupported_in_onnx(self._path, onnx_settings(dims=dims, constants=constants))

        if not lacks(()):
            return ()
        steering = [name for name, array in arrays.items() if array.ndim < 2 and 0 < array.size <= _MOST_CONSTANT]
        reasons = lacks(steering)
        if reasons:
            raise Error(self._path, "", "\n  ".join(reasons), "`tessera check` names everything at once")
        for name in list(steering):
            rest = [other for other in steering if other != name]
            if not lacks(rest):
                steering = rest
        return tuple(steering)

    def _compiled(
        self,
        bounds: Mapping[str, tuple[int, int]],
        constants: tuple[str, ...],
        arrays: Mapping[str, npt.NDArray],
        dims: dict[str, int],
    ) -> tuple[Program, tuple[str, ...]]:
        onnx = onnx_settings(dims=bounds, constants={name: arrays[name] for name in constants})
        program = open_onnx(self._path, onnx, **self._compiling)
        self._met.append(dims)
        key = (
            tuple((name, *both) for name, both in bounds.items()),
            tuple((name, arrays[name].tobytes()) for name in constants),
        )
        self._programs[key] = program
        if len(self._programs) > _MOST_PROGRAMS:
            self._programs.popitem(last=False)
        return program, constants
