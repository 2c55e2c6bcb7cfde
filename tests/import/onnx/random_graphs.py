"""Random graphs of ONNX's operators, beside onnx's reference implementation.

    python3 tests/import/onnx/random_graphs.py --seeds 1000              # interpreted: the meaning of the imported graph
    python3 tests/import/onnx/random_graphs.py --seeds 100 --compile     # compiled
    python3 tests/import/onnx/random_graphs.py --first 17 --seeds 1 --keep DIR

A graph grows node by node: an operator, operands among the values so far, attributes by chance. The reference computes each
node at once; what it refuses, or where numbers become infinite, large or undefined, is drawn again. Every value is an output.
What jumps where numbers are near each other, such as Floor, reads inputs alone, which are far from all jumps. Needs the packages
onnx and numpy, and the package `tessera` on PYTHONPATH.
"""

import argparse
import collections
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from random_operators import FAMILIES

import tessera

OPSET, IR_VERSION = 23, 11
LARGEST = 1e4
MOST_ELEMENTS = 4096
TOLERANCE = 2e-4  # of the larger of 1 and the output's largest number
INPUTS = [("float32", 3), ("int64", 1), ("bool", 1), ("int32", 1), ("uint8", 1), ("float64", 1)]


class Values:
    """What a graph has so far: the contents of every value, and which of them are inputs."""

    def __init__(self, random):
        self.random, self.arrays, self.inputs, self.weights = random, {}, [], {}

    def add_input(self, dtype):
        """Numbers that are multiples of 1/8 and not of 1/4: no operator jumps at them."""
        name, shape = f"x{len(self.inputs)}", self.shape()
        if dtype == "bool":
            array = self.random.integers(0, 2, shape).astype(bool)
        elif np.dtype(dtype).kind == "f":
            array = (self.random.integers(-8, 8, shape) / 4 + 0.125).astype(dtype)
        else:
            array = self.random.integers(0 if dtype == "uint8" else -5, 6, shape).astype(dtype)
        self.arrays[name] = array
        self.inputs.append(name)
        return name

    def shape(self, least=0):
        rank = int(self.random.choice([least, 1, 2, 2, 3, 3, 4, 4])) if least < 2 else least
        return [int(self.random.integers(1, 6)) for _ in range(max(rank, least))]

    def chance(self, percent):
        return self.random.integers(100) < percent

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def find(self, kinds="f", rank=None, is_input=False):
        """A value of one of these kinds of numpy types, with as many axes, or an input of that kind; None: there is none."""
        from_all = self.inputs if is_input else list(self.arrays)
        fits = [
            name
            for name in from_all
            if self.arrays[name].dtype.kind in kinds and (rank is None or self.arrays[name].ndim in np.atleast_1d(rank))
        ]
        return fits[self.random.integers(len(fits))] if fits else None

    def weight(self, array):
        """The name of an initialiser."""
        name = f"w{len(self.weights)}"
        self.weights[name] = np.asarray(array)
        return name

    def normal(self, *shape, dtype=np.float32):
        return self.weight((self.random.integers(-8, 9, shape) / 8).astype(dtype))


def evaluate(node, values):
    """The results of the node by the reference, or None if it is to be drawn again."""
    known = {**values.arrays, **values.weights}
    inputs = [name for name in node.input if name]
    graph = helper.make_graph(
        [node],
        "one",
        [value_info(name, known[name]) for name in dict.fromkeys(inputs)],
        [onnx.ValueInfoProto(name=name) for name in node.output if name],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    try:
        with np.errstate(all="ignore"):
            results = ReferenceEvaluator(model).run(None, {name: known[name] for name in inputs})
    except Exception:  # noqa: BLE001: the reference raises whatever NumPy does
        return None
    for result in results:
        if not isinstance(result, (np.ndarray, np.generic)) or not 0 < np.size(result) <= MOST_ELEMENTS:
            return None
        if np.asarray(result).dtype.kind not in "fiub" or not np.isfinite(np.asarray(result, np.float64)).all():
            return None
        if np.abs(np.asarray(result, np.float64)).max() > LARGEST:
            return None
    return [np.asarray(result) for result in results]


def value_info(name, array):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def random_graph(seed, operators):
    """A model, and the contents of its inputs and outputs."""
    values = Values(np.random.default_rng(seed))
    for dtype, count in INPUTS:
        for _ in range(count):
            values.add_input(dtype)
    nodes, wanted = [], int(values.random.integers(3, 13))
    for attempt in range(40 * wanted):
        if len(nodes) == wanted:
            break
        family = FAMILIES[values.random.integers(len(FAMILIES))]
        weights = dict(values.weights)
        drawn = family(values)
        if drawn is None:
            continue
        op, inputs, outputs, attributes = drawn
        if operators and op not in operators:
            values.weights = weights
            continue
        names = [f"v{len(nodes)}" + (f"_{i}" if outputs > 1 else "") for i in range(outputs)]
        node = helper.make_node(op, inputs, names, name=f"n{len(nodes)}", **attributes)
        results = evaluate(node, values)
        if results is None:
            values.weights = weights
            continue
        nodes.append(node)
        values.arrays.update(zip(names, results))
    read = {name for node in nodes for name in node.input}
    given = {name: values.arrays[name] for name in values.inputs if name in read}
    made = {name: array for name, array in values.arrays.items() if name not in values.inputs}
    graph = helper.make_graph(
        nodes,
        f"seed_{seed}",
        [value_info(name, array) for name, array in given.items()],
        [value_info(name, array) for name, array in made.items()],
        [numpy_helper.from_array(array, name) for name, array in values.weights.items() if name in read],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    return model, given, made


def difference(found, wanted):
    """What is wrong with an output; empty: nothing."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"is {found.dtype}{list(found.shape)}, expected {wanted.dtype}{list(wanted.shape)}"
    apart = np.abs(found.astype(np.float64) - wanted.astype(np.float64)).max()
    bound = 0 if wanted.dtype.kind in "iub" else TOLERANCE * max(1, np.abs(wanted).max())
    return "" if apart <= bound else f"is {apart:.3g} off, {bound:.3g} is allowed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--compile", action="store_true", help="compile each; else its graph is interpreted")
    parser.add_argument("--operators", nargs="*", help="of these alone")
    parser.add_argument("--keep", type=Path, help="folder for the models that fail")
    options = parser.parse_args()
    counts, refused, failed = collections.Counter(), collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.seeds):
            model, given, made = random_graph(seed, options.operators)
            path = Path(folder) / f"{seed}.onnx"
            onnx.save(model, path)
            operator_of = {name: node.op_type for node in model.graph.node for name in node.output}
            counts.update(node.op_type for node in model.graph.node)
            try:
                if options.compile:
                    results = tessera.compile(path, search_effort=0, workers=1)(given)
                else:
                    results = tessera.interpret(path, given)
                problems = {name: difference(results[name], made[name]) for name in made}
                problems = {name: problem for name, problem in problems.items() if problem}
            except tessera.Error as error:
                problems = {}
                refused[str(error).partition(": ")[2][:150]] += 1
            if problems:
                failed += 1
                name, problem = next(iter(problems.items()))
                print(f"seed {seed}: {name}, made by {operator_of[name]}, {problem}", flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    path.rename(options.keep / path.name)
    for reason, count in refused.most_common():
        print(f"refused {count}: {reason}")
    print(f"{options.seeds} graphs of {len(counts)} operators, {sum(counts.values())} nodes: {failed} differ, "
          f"{sum(refused.values())} refused")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
