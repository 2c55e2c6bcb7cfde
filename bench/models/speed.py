"""One ONNX model on its inputs by tessera, onnxruntime and OpenVINO, in turns on the same threads.

    python3 bench/models/speed.py det.onnx --input x=image.npy --dim H=320 --dim W=320 --threads 1,2

Each turn calls every engine --calls times; the least time of all turns counts, in microseconds, with its ratio to ours. Stop what else
runs on the machine. OpenVINO computes in F32 and quantises nothing by itself. Needs the package onnxruntime; openvino joins in
if it is there.
"""

import argparse
import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np


class Tessera:
    def __init__(self, options, threads, folder):
        artefact = Path(folder) / f"{threads}.tsr"
        compiling = [options.tessera, "compile", options.model, "-o", artefact, "-q", "--workers", str(threads)]
        for flag in ("dim", "constant"):
            for value in getattr(options, flag):
                compiling += [f"--{flag}", value]
        subprocess.run(compiling, check=True)
        self.command = [options.tessera, "run", artefact, "--threads", str(threads), "--times", str(options.calls)]
        known = {constant.split("=")[0] for constant in options.constant}
        for given in options.input:
            if given.split("=")[0] not in known:
                self.command += ["--input", given]

    def least(self, calls):
        printed = subprocess.run(self.command, check=True, capture_output=True, text=True)
        return float(re.search(r"fastest ([0-9.]+) us", printed.stdout + printed.stderr)[1])


class Called:
    """An engine in this process, as a function of no arguments."""

    def __init__(self, call):
        self.call = call

    def least(self, calls):
        self.call()
        times = []
        for _ in range(calls):
            begin = time.perf_counter()
            self.call()
            times.append(time.perf_counter() - begin)
        return min(times) * 1e6


def onnxruntime(options, threads, arrays):
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(options.model, settings, providers=["CPUExecutionProvider"])
    return Called(lambda: session.run(None, arrays))


def openvino(options, threads, arrays):
    import openvino

    core = openvino.Core()
    model = core.read_model(options.model)
    model.reshape({name: list(array.shape) for name, array in arrays.items()})
    settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32",
                "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0}
    request = core.compile_model(model, "CPU", settings).create_infer_request()
    for name, array in arrays.items():
        request.set_tensor(name, openvino.Tensor(array))
    return Called(request.infer)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=FILE.npy")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--constant", action="append", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--threads", default="1", metavar="N,...")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--calls", type=int, default=15)
    parser.add_argument("--tessera", default="tessera", help="the program")
    options = parser.parse_args()
    arrays = {name: np.load(path) for name, _, path in (given.partition("=") for given in options.input)}
    for threads in map(int, options.threads.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            engines = {"tessera": Tessera(options, threads, folder)}
            for make in (onnxruntime, openvino):
                try:
                    engines[make.__name__] = make(options, threads, arrays)
                except Exception as error:  # not installed, or it cannot read the model
                    print(f"{make.__name__}: left out: {str(error).strip().splitlines()[0]}")
            times = {name: [] for name in engines}
            for _ in range(options.turns):
                for name, engine in engines.items():
                    times[name].append(engine.least(options.calls))
        ours = min(times["tessera"])
        found = [f"{name} {min(each):.0f} us ({min(each) / ours:.2f})" for name, each in times.items()]
        print(f"{threads} threads:", ", ".join(found))


if __name__ == "__main__":
    main()
