"""From a checkpoint to an artefact, and what an artefact holds."""

import json
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

from tessera import _native, environment
from tessera.options import CompileOptions, Path


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


def compile(model: Path, out: Path, **options: Unpack[CompileOptions]) -> CompileReport:
    """Compiles a HuggingFace folder or GGUF file into the artefact `out`, which appears whole or not at all.

    It needs a C++ compiler (g++ or clang++, 12 or newer). Ctrl-C ends it between two passes and while the C++ compiler
    runs. Options: see CompileOptions.

    Raises Error naming the option that is outside its range, or what is unsupported, illegal or missing.
    """
    return _report(_native.compile(model, out, {**environment.compiling(), **options}))


def retarget(artefact: Path, out: Path, **options: Unpack[CompileOptions]) -> CompileReport:
    """Makes an artefact fit another machine (`machine=`), without the checkpoint. It keeps its policy, its types and its
    context.

    Raises Error as compile does, and if `context` is given.
    """
    return _report(_native.retarget(artefact, out, {**environment.compiling(), **options}))


def inspect(artefact: Path, *, costs: bool = False, machine: Path = "") -> dict[str, Any]:
    """What an artefact holds, as lists and dictionaries: the document of `tessera inspect --json`.

    manifest   how the code is called: symbols, inputs, outputs, states, constants (docs/artefact.md)
    plan       every decision of the compilation (docs/plan.md)
    operators  [{point, operators: [{block, operator, times, flops, special, bytes}]}], by their definitions; bytes are
               those of all tensors, each element once, of one of its `times`
    costs      with `costs`: {machine, machine_hash, is_measured, steps: [{point, specialisation, seconds, kernels:
               [{block, kernel, times, seconds, compute_seconds, stall_seconds, barrier_seconds, levels, unknown}]}]};
               None else. Seconds that are not known are None. `machine` is the description of the machine that they
               are for; without it this one, if the artefact was compiled for it.

    Raises Error if the file is no artefact or is damaged, and if nothing is known of the machine.
    """
    return json.loads(_native.inspect(artefact, costs, machine, environment.cache()))


def plan_text(artefact: Path) -> str:
    """The plan of an artefact as the text (TOML) that `compile(plan=FILE)` takes. Raises Error if the file is no
    artefact."""
    return _native.plan_text(artefact)
