"""The generated models of bench/models in their tiny size, and random graphs, beside onnx's reference implementation. It needs the
package onnx, which the gate does not have."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import tessera

onnx = pytest.importorskip("onnx", minversion="1.22")
root = Path(__file__).resolve().parents[2]
sys.path += [str(root / "bench" / "models"), str(root / "tests" / "import" / "onnx")]
SYMBOLS = {"batch": 2, "sequence": 7, "past": 5, "total": 12}


def generator():
    """bench/models as a module."""
    spec = importlib.util.spec_from_file_location("bench_models", root / "bench" / "models" / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NAMES = [name for name in generator().MODELS if name not in ("bert-base", "bert-large")]  # tiny they are bert-small


@pytest.mark.parametrize("form", ["decomposed", "fused"])
@pytest.mark.parametrize("name", NAMES)
def test_a_tiny_model_means_what_the_reference_says(name, form, tmp_path):
    from onnx.reference import ReferenceEvaluator

    path = generator().write(name, "tiny", form, tmp_path)
    random = np.random.default_rng(1)
    arrays, used = {}, {}
    for port in onnx.load(path).graph.input:
        extents = [dim.dim_param or dim.dim_value for dim in port.type.tensor_type.shape.dim]
        used.update({extent: SYMBOLS[extent] for extent in extents if isinstance(extent, str)})
        shape = [SYMBOLS.get(extent, extent) for extent in extents]
        is_float = port.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
        arrays[port.name] = random.standard_normal(shape).astype(np.float32) if is_float else random.integers(0, 2, shape)
    results = tessera.interpret(path, arrays, dims=used)
    reference = ReferenceEvaluator(str(path))
    for output, expected in zip(reference.output_names, reference.run(None, arrays)):
        np.testing.assert_allclose(results[output], expected, atol=1e-4 * np.abs(expected).max(), rtol=0)


def test_random_graphs_mean_what_the_reference_says(tmp_path):
    import random_graphs

    for seed in range(60):
        model, given, made = random_graphs.random_graph(seed, None)
        onnx.save(model, tmp_path / "model.onnx")
        results = tessera.interpret(tmp_path / "model.onnx", given)
        for name, expected in made.items():
            assert random_graphs.difference(results[name], expected) == "", f"seed {seed}, {name}"
