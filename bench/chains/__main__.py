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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import kernel_runs  # noqa: E402
import onednn  # noqa: E402
from chain_programs import Chain, Own, chains, one_by_one, program, write_arrays  # noqa: E402


PAUSE = 0.3  # seconds in which the threads of the form before stop to look for work


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


def measure(chain: Chain, options, folder: Path, machine: Path) -> dict:
    tessera = options.build / "tessera"
    arrays, files = write_arrays(chain, folder)
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
