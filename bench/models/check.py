"""What Tessera and onnxruntime compute with one model."""

import numpy as np
import onnxruntime
import tessera

LEAST_BOUND = 1e-5  # of the output's range
OPTIMISED_FACTOR = 4
SYMBOLS = {True: {"batch": 2, "sequence": 7, "past": 5}, False: {"batch": 1, "sequence": 128, "past": 128}}


def symbols_of(session, is_tiny):
    """Values of the symbols that the model has; the mask of a decoder with a cache is of all its tokens."""
    values = dict(SYMBOLS[is_tiny])
    used = {extent for port in session.get_inputs() for extent in port.shape if isinstance(extent, str)}
    if "past" in used:
        values["sequence"] = 1 if not is_tiny else values["sequence"]
    values["total"] = values["past"] + values["sequence"]
    return {name: values[name] for name in used}


def inputs_of(session, symbols, seed=1):
    random = np.random.default_rng(seed)
    first = symbols.get("past", 0) if "total" in symbols else 0
    arrays = {}
    for port in session.get_inputs():
        shape = [symbols.get(extent, extent) for extent in port.shape]
        if port.type == "tensor(float)":
            arrays[port.name] = random.standard_normal(shape).astype(np.float32)
        elif port.name == "position_ids":
            arrays[port.name] = np.broadcast_to(first + np.arange(shape[1]), shape).astype(np.int64)
        elif port.name == "attention_mask":
            arrays[port.name] = np.ones(shape, np.int64)
            arrays[port.name][-1, : shape[1] // 3] = len(arrays[port.name]) == 1
        else:
            arrays[port.name] = random.integers(0, 2 if port.name == "token_type_ids" else 61, shape)
    return arrays


def run(path, level, arrays):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return dict(zip([port.name for port in session.get_outputs()], session.run(None, arrays)))


def check(path, is_tiny):
    """Whether the outputs agree; prints how far they are apart."""
    levels = onnxruntime.GraphOptimizationLevel
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    symbols = symbols_of(session, is_tiny)
    arrays = inputs_of(session, symbols)
    expected, optimised = (run(path, level, arrays) for level in (levels.ORT_DISABLE_ALL, levels.ORT_ENABLE_ALL))
    try:
        results = tessera.compile(path, dims=symbols, search_effort=0 if is_tiny else 1)(arrays)
    except tessera.Error as error:
        print(f"{path.name}: REFUSED {error}")
        return False
    worst = 0.0
    for name, want in expected.items():
        extent = np.ptp(want) or 1.0
        bound = max(LEAST_BOUND, OPTIMISED_FACTOR * np.abs(optimised[name] - want).max() / extent)
        if results[name].shape != want.shape or not np.isfinite(want).all():
            print(f"{path.name}: {name} has shape {results[name].shape}, expected {want.shape} of finite numbers")
            return False
        worst = max(worst, np.abs(results[name] - want).max() / extent / bound)
    print(f"{path.name}: {'ok' if worst <= 1 else 'DIFFERS'}, {worst:.2f} of what is allowed", flush=True)
    return worst <= 1
