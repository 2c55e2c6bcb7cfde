"""The chains that bench/chains measures, as programs (docs/programs.md) for the tool."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy


@dataclass
class Chain:
    """E = (A B) D of `batch` matrices, or softmax(A B) D."""

    name: str
    batch: int
    m: int
    n: int
    k: int
    h: int
    is_attention: bool = False

    @property
    def operations(self) -> float:
        return 2.0 * self.batch * self.m * self.n * (self.k + self.h)


PRODUCTS = [(1, 512, 256, 64, 64), (1, 512, 256, 64, 128), (1, 512, 256, 64, 256), (1, 512, 512, 256, 256), (1, 512, 512, 512, 256),
            (1, 512, 512, 1024, 256), (1, 512, 512, 128, 128), (1, 1024, 512, 128, 128), (1, 2048, 512, 128, 128),
            (1, 1024, 1024, 128, 128), (4, 1024, 1024, 128, 128), (8, 1024, 1024, 128, 128)]  # fmt: skip
ATTENTION = [(8, 512, 512, 64, 64), (12, 512, 512, 64, 64), (16, 512, 512, 64, 64), (12, 256, 256, 64, 64), (16, 256, 256, 64, 64),
             (16, 256, 256, 80, 80), (1, 512, 256, 64, 64), (1, 768, 384, 64, 64), (1, 1024, 512, 64, 64)]  # fmt: skip


def chains() -> list[Chain]:
    """The paper's tables II and III; then what a CPU without a matrix unit moves longer than it computes."""
    found = [Chain(f"G{i + 1}", *sizes) for i, sizes in enumerate(PRODUCTS)]
    found += [Chain(f"S{i + 1}", *sizes, is_attention=True) for i, sizes in enumerate(ATTENTION)]
    found += [Chain(f"M=N=4096 K=H={k}", 1, 4096, 4096, k, k) for k in (16, 32, 64)]
    found += [Chain(f"attention N=4096 K=H={k}", 1, 4096, 4096, k, k, True) for k in (16, 32, 64, 128)]
    return found


def program(chain: Chain, type: str) -> str:
    c = chain
    products = f"""graph "chain"

input A: {type}[{c.batch}, {c.m}, {c.k}]
input B: {type}[{c.batch}, {c.k}, {c.n}]
input D: {type}[{c.batch}, {c.n}, {c.h}]
value C: f32[{c.batch}, {c.m}, {c.n}]
value E: f32[{c.batch}, {c.m}, {c.h}]
"""
    first = f"""
block main
  node first(A, B) -> C
    op matmul(b: {c.batch}, m: {c.m}, n: {c.n}, k*: {c.k})
    in A {type}[b, m, k]
    in B {type}[b, k, n]
    out C f32[b, m, n] = sum(A * B)
"""
    second = f"""  node second(C, D) -> E
    op matmul(b: {c.batch}, m: {c.m}, h: {c.h}, n*: {c.n})
    in C f32[b, m, n]
    in D {type}[b, n, h]
    out E f32[b, m, h] = sum(C * D)
"""
    attend = f"""  node second(C, D) -> largest, weights, weighted
    op attend(b: {c.batch}, m: {c.m}, h: {c.h}, n*: {c.n})
    in C f32[b, m, n]
    in D {type}[b, n, h]
    out M f32[b, m], L f32[b, m], A f32[b, m, h] = softmax_sum(C, D)
  node normalise(weighted, weights) -> E
    op normalise(b: {c.batch}, m: {c.m}, h: {c.h})
    in A f32[b, m, h]
    in L f32[b, m]
    out E f32[b, m, h] = A / L
"""
    sums = "".join(f"value {name}: f32[{shape}]\n" for name, shape in
                   (("largest", f"{c.batch}, {c.m}"), ("weights", f"{c.batch}, {c.m}"), ("weighted", f"{c.batch}, {c.m}, {c.h}")))  # fmt: skip
    if c.is_attention:
        return products + sums + first + attend + "\noutput E\n"
    return products + first + second + "\noutput E\n"


def one_by_one(chain: Chain) -> str:
    names = ["first", "second"] + (["normalise"] if chain.is_attention else [])
    loops = {"first": "b:? m:? n:?", "second": "b:? m:?", "normalise": "b:? m:?"}
    return "".join(f'[[kernel]]\nnest = "{loops[name]} {{ {name} }}"\n' for name in names)


class Own:
    def __init__(self, tessera: Path, artefact: Path, arrays: dict[str, Path]) -> None:
        self.command = [tessera, "run", artefact] + [part for name, path in arrays.items() for part in ("--input", f"{name}={path}")]

    def __call__(self, times: int) -> float:
        done = subprocess.run([*self.command, "--times", str(times)], check=True, capture_output=True, text=True)
        return float((done.stdout + done.stderr).split("median of ")[1].split(": ")[1].split(" us")[0]) / 1e6


def write_arrays(chain: Chain, folder: Path) -> tuple[dict[str, numpy.ndarray], dict[str, Path]]:
    """Random inputs of the chain, and the files that they were written to."""
    random = numpy.random.default_rng(0)
    arrays, files = {}, {}
    for name, shape in {"A": (chain.m, chain.k), "B": (chain.k, chain.n), "D": (chain.n, chain.h)}.items():
        arrays[name] = random.standard_normal((chain.batch, *shape), dtype=numpy.float32)
        files[name] = folder / f"{name}.npy"
        numpy.save(files[name], arrays[name])
    return arrays, files
