"""From a model to an artefact."""

import os
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional, Union, Unpack, overload

from tessera import _native, environment
from tessera.options import CompileOptions, Path
from tessera.program import Program, onnx_settings, open_onnx


class Pass(NamedTuple):
    """One pass of a compilation: its name, its wall-clock time in seconds, and a note, the result of a search."""

    name: str
    seconds: float
    note: str


@dataclass(frozen=True)
class CompileReport:
    """The report of a compilation.

    passes           in the order in which they ran
    warnings         parts of the checkpoint that the artefact does not compute, or computes otherwise
    cpp_cpu_seconds  CPU time of the C++ compiler; 0 if the code was in the cache
    code_was_cached  the same code was compiled before
    code_bytes       length of the emitted C++
    constant_bytes   weights in the artefact, padding included
    artefact_bytes   size of the file
    """

    passes: list[Pass]
    warnings: list[str]
    cpp_cpu_seconds: float
    code_was_cached: bool
    code_bytes: int
    constant_bytes: int
    artefact_bytes: int


def _report(report: dict[str, Any]) -> CompileReport:
    return CompileReport(**{**report, "passes": [Pass(*one) for one in report["passes"]]})


@overload
def compile(model: Path, out: Path, **options: Unpack[CompileOptions]) -> CompileReport: ...


@overload
def compile(model: Path, out: None = None, **options: Unpack[CompileOptions]) -> Program: ...


def compile(
    model: Path, out: Optional[Path] = None, **options: Unpack[CompileOptions]
) -> Union[CompileReport, Program]:
    """Compiles a HuggingFace folder, GGUF file or ONNX model into the artefact `out`, which appears whole or not at all.

    An ONNX model without `out` is compiled on first use, found again in the user's cache, and opened: a function of
    named arrays (tessera.Program). tessera.load does so with language models. Of the options it has machine, workers,
    search_effort, dims, constants, points, aliases and on_pass.

    It needs a C++ compiler (g++ or clang++, 12 or newer). Ctrl-C ends it between two passes and while the C++ compiler
    runs. Options: see CompileOptions.

    Raises Error naming the option that is outside its range, or what is unsupported, illegal or missing.
    """
    if os.fspath(model).endswith(".onnx"):
        onnx = onnx_settings(*(options.pop(name, None) for name in ("dims", "constants", "points", "aliases")))
        if out is None:
            return open_onnx(model, onnx, **options)
        return _report(_native.compile_onnx(model, out, onnx, {**environment.compiling(), **options}))
    if out is None:
        raise TypeError("out is missing: only ONNX models are opened when they are compiled; tessera.load does so with others")
    return _report(_native.compile(model, out, {**environment.compiling(), **options}))


def retarget(artefact: Path, out: Path, **options: Unpack[CompileOptions]) -> CompileReport:
    """Makes an artefact fit another machine (`machine=`), without the checkpoint. It keeps its policy, its types and its
    context.

    Raises Error as compile does, and if `context` is given.
    """
    return _report(_native.retarget(artefact, out, {**environment.compiling(), **options}))
