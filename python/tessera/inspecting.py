"""What an artefact holds."""

import json
from typing import Any

from tessera import _native, environment
from tessera.options import Path


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
