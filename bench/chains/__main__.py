"""Chains of two products and attention against their operators one by one, on this machine.

    python3 bench/chains                       # tables II and III of MCFuser, and chains that are memory-bound on a CPU
    python3 bench/chains --only N=4096 --threads 2 --type bf16

Every chain is a program (docs/programs.md), compiled once as the search has it and once with a kernel for each operator (`--kernels`).
Both are called in alternation with onnxruntime and the primitives of oneDNN, where Python has them (`pip install onnxruntime onnx
onednn-cpu-gomp numpy`), on the same arrays. A time is the median of the rounds' medians. The table goes to stdout, table and times to build/bench/, which git ignores. Needs NumPy.
"""

import importlib.util
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import kernel_runs  # noqa: E402
import onednn  # noqa: E402


PAUSE = 0.3  # seconds in which the threads of the form before stop to look for work


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


class Peer:
    """The chain in onnxruntime; seconds of one call."""

    def __init__(self, chain: Chain, arrays: dict, threads: int) -> None:
        import onnx
        import onnxruntime
        from onnx import TensorProto, helper

        nodes = [helper.make_node("MatMul", ["A", "B"], ["C"])]
        if chain.is_attention:
            nodes.append(helper.make_node("Softmax", ["C"], ["P"], axis=-1))
        nodes.append(helper.make_node("MatMul", ["P" if chain.is_attention else "C", "D"], ["E"]))
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in arrays.items()]
        output = helper.make_tensor_value_info("E", TensorProto.FLOAT, [chain.batch, chain.m, chain.h])
        model = helper.make_model(helper.make_graph(nodes, "chain", inputs, [output]), opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 9
        onnx.checker.check_model(model)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        self.arrays = arrays

    def __call__(self, times: int) -> float:
        seconds = []
        for _ in range(times + 1):
            begin = time.perf_counter()
            self.result = self.session.run(None, self.arrays)[0]
            seconds.append(time.perf_counter() - begin)
        return statistics.median(seconds[1:])


class Own:
    def __init__(self, tessera: Path, artefact: Path, arrays: dict[str, Path]) -> None:
        self.command = [tessera, "run", artefact] + [part for name, path in arrays.items() for part in ("--input", f"{name}={path}")]

    def __call__(self, times: int) -> float:
        done = subprocess.run([*self.command, "--times", str(times)], check=True, capture_output=True, text=True)
        return float((done.stdout + done.stderr).split("median of ")[1].split(": ")[1].split(" us")[0]) / 1e6


def measure(chain: Chain, options, folder: Path, machine: Path) -> dict:
    tessera = options.build / "tessera"
    random = numpy.random.default_rng(0)
    shapes = {"A": (chain.m, chain.k), "B": (chain.k, chain.n), "D": (chain.n, chain.h)}
    arrays, files = {}, {}
    for name, shape in shapes.items():
        arrays[name] = random.standard_normal((chain.batch, *shape), dtype=numpy.float32)
        files[name] = folder / f"{name}.npy"
        numpy.save(files[name], arrays[name])
    (folder / "chain.ir").write_text(program(chain, options.type))
    (folder / "apart.toml").write_text(one_by_one(chain))
    compile = [tessera, "compile", folder / "chain.ir", "-q", "--workers", str(options.threads), "--machine", machine]
    begin = time.perf_counter()
    subprocess.run([*compile, "-o", folder / "searched.tsr"], check=True)
    seconds_of_compiling = time.perf_counter() - begin
    subprocess.run([*compile, "-o", folder / "apart.tsr", "--kernels", folder / "apart.toml"], check=True)
    plan = subprocess.run([tessera, "inspect", folder / "searched.tsr", "--plan"], check=True, capture_output=True, text=True).stdout
    forms = {"searched": Own(tessera, folder / "searched.tsr", files), "apart": Own(tessera, folder / "apart.tsr", files)}
    if "onnxruntime" in options.peers:
        forms["onnxruntime"] = Peer(chain, arrays, options.threads)
    if "oneDNN" in options.peers:
        forms["oneDNN"] = onednn.OneDnn(arrays["A"], arrays["B"], arrays["D"], chain.is_attention, options.threads)
    times = max(5, min(200, int(options.seconds / (chain.operations / 50e9))))
    rounds: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(options.rounds):
        for name, form in forms.items():
            time.sleep(PAUSE)
            rounds[name].append(form(times))
    return {"name": chain.name, "compile_seconds": seconds_of_compiling, "operations": chain.operations, "seconds": rounds,
            "nests": [line.split("nest = '")[1].split("'")[0] for line in plan.splitlines() if "nest = '" in line]}  # fmt: skip


def table(results: list[dict], peers: list[str]) -> str:
    others = ["apart", *peers]
    text = "| chain | us | Gflop/s |" + "".join(f" {other} / searched |" for other in others) + " kernels |\n"
    text += "|-|-|-|" + "-|" * len(others) + "-|\n"
    for each in results:
        median = {name: statistics.median(seconds) for name, seconds in each["seconds"].items()}
        own = median["searched"]
        text += f"| {each['name']} | {own * 1e6:.1f} | {each['operations'] / own / 1e9:.0f} |"
        text += "".join(f" {median[other] / own:.2f} |" for other in others) + f" {len(each['nests'])} |\n"
    return text


def main() -> None:
    parser = kernel_runs.parser("chains", __doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--type", choices=["f32", "bf16"], default="f32", help="of the operands; bf16 has no peers here")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.1, help="of the calls of one form in one round, about")
    options = parser.parse_args()
    options.peers = []
    if options.type == "f32":
        options.peers += ["onnxruntime"] if importlib.util.find_spec("onnxruntime") else []
        options.peers += ["oneDNN"] if onednn.find_library() else []
    kernel_runs.take_priority()
    folder = options.build / "chains"
    folder.mkdir(parents=True, exist_ok=True)
    machine = kernel_runs.measured_machine(options, folder)
    results = []
    for chain in chains():
        if options.only in chain.name:
            print(f"\r{chain.name:40}", end="", file=sys.stderr)
            results.append(measure(chain, options, folder, machine))
    print(file=sys.stderr)
    ratios = [statistics.median(each["seconds"]["apart"]) / statistics.median(each["seconds"]["searched"]) for each in results]
    head = f"{options.type}, {options.threads} threads: apart / searched {statistics.geometric_mean(ratios):.3f}"
    kernel_runs.keep("chains", options, head, table(results, options.peers), {"results": results})


if __name__ == "__main__":
    main()
