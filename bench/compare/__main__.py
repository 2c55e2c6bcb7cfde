"""Tessera against llama.cpp, oneDNN and the machine, measured in alternation.

    python3 bench/compare                                             # Qwen3-0.6B and 1.7B, six types: half a day
    python3 bench/compare --shape qwen3-0.6b --types bf16,q4_0 --depth 0 --pairs 3
    python3 bench/compare --gguf SmolLM2-135M-Instruct.Q4_1.gguf --threads 1
    python3 bench/compare --shape tiny --types bf16 --decode 8 --prefill 64 --depth 0 --pairs 1    # does it work here?

Builds llama.cpp of a pinned version (from the source package of llama-cpp-python on PyPI), and the oneDNN benchmark where
libdnnl-dev is installed; takes `tessera` from build/release. In each of the pairs every test runs once with each program, the
order turning round from pair to pair, and the machine's limits are measured beside it. The table goes to stdout; table, chart and
raw times go to build/bench/, which git ignores. What is worth keeping is summarised in docs/measurements/. Needs g++, cmake, ninja,
pip and python3-numpy; as root it runs above what else the machine does.
"""

import argparse
import contextlib
import datetime
import itertools
import json
import os
import platform
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import chart
import models
import programs
import report
from programs import ROOT, call, say
from runs import LlamaAtDepth, Test, run_gemm, run_limits, run_llama, run_peaks, run_tessera, take_priority


def words(text: str) -> list[str]:
    return text.split(",")


def numbers(text: str) -> list[int]:
    return [int(word) for word in words(text)]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shape", type=words, help="of random weights (default, without --gguf: qwen3-0.6b,qwen3-1.7b)")
    parser.add_argument("--types", type=words, default=words("f32,f16,bf16,q8_0,q4_0,q4_k_m"), help="of these weights (all six)")
    parser.add_argument("--policy", type=words, default=["default"],
                        help="of Tessera's rounding, each beside llama.cpp: default, exact, fast (default)")  # fmt: skip
    parser.add_argument("--gguf", type=Path, action="append", default=[], help="a model as it is; may be repeated")
    parser.add_argument("--threads", type=numbers, default=[1, 2], help="of both programs (1,2)")
    parser.add_argument("--depth", type=numbers, default=[0, 4096], help="tokens in the cache before those of decode (0,4096)")
    parser.add_argument("--prefill", type=numbers, default=[512], help="tokens computed at once; 0: none (512)")
    parser.add_argument("--decode", type=int, default=32, help="tokens computed one by one; 0: none (32)")
    parser.add_argument("--pairs", type=int, default=9, help="turns of the two programs (9)")
    parser.add_argument("--repeat", type=int, default=1, help="times in each turn (1)")
    parser.add_argument("--tessera", type=Path, default=ROOT / "build/release/tessera")
    parser.add_argument("--limits", type=Path, default=ROOT.parent / "shared/bench/limits.cpp",
                        help="source of a program that gives a second opinion on the machine, if it exists")  # fmt: skip
    parser.add_argument("--cache", type=Path, default=ROOT / "build/compare", help="for programs and models (build/compare)")
    parser.add_argument("--keep", action="store_true", help="keep all models for the next time, not only those in BF16")
    parser.add_argument("--out", type=Path, default=ROOT / "build/bench", help="folder for table and raw times (build/bench)")
    options = parser.parse_args()
    if not options.tessera.exists():
        parser.error(f"{options.tessera} is missing: scripts/build.sh release")
    if not options.shape:
        options.shape = [] if options.gguf else ["qwen3-0.6b", "qwen3-1.7b"]
    return options


def machine() -> dict:
    info = Path("/proc/cpuinfo").read_text()
    name = re.search(r"^model name\s*: (.*)$", info, re.M)
    flags = re.search(r"^flags\s*: (.*)$", info, re.M)
    wanted = ("avx2", "fma", "avx512f", "avx512_bf16", "avx512_vnni", "amx_tile", "amx_bf16", "amx_int8")
    return {
        "cpu": name[1] if name else platform.machine(),
        "features": [flag for flag in wanted if flags and flag in flags[1].split()],
        "processors": info.count("processor\t"),
        "kernel": platform.release(),
    }


def commit() -> str:
    done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


class Comparison:
    """What is measured, and written after each pair: what an interruption leaves is whole."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        options.cache.mkdir(parents=True, exist_ok=True)
        self.llama = programs.build_llama(options.cache)
        self.llama_depth = programs.build_llama_depth(options.cache) if any(options.depth) else None
        self.gemm = programs.build_gemm(options.cache)
        host = machine()
        has_limits = options.limits.exists() and "avx512f" in host["features"]  # which limits.cpp is written in
        self.limits = programs.compile_program(options.limits, options.cache / "limits") if has_limits else None
        take_priority()
        # Measurements and compiled code of this run stay apart from the user's cache.
        os.environ["XDG_CACHE_HOME"] = str(options.cache / "tessera")
        say("measuring this machine, which Tessera plans for")
        call(options.tessera, "machine", "--measure")
        date = datetime.datetime.now(datetime.timezone.utc)
        self.result = {
            "date": date.isoformat(timespec="seconds"), "machine": host, "tessera": commit(),
            "llama.cpp": f"llama-cpp-python {programs.LLAMA_VERSION}, sha256 {programs.LLAMA_SHA256}",
            "peaks": {}, "gemms": [], "cells": [],
        }  # fmt: skip
        options.out.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^a-z0-9]+", "-", host["cpu"].lower()).strip("-")
        self.out = options.out / f"{date:%Y-%m-%d-%H%M}-{name}"

    def tests(self) -> list[Test]:
        options = self.options
        return [Test("prefill", tokens, 0) for tokens in options.prefill if tokens] + [
            Test("decode", options.decode, depth) for depth in options.depth if options.decode
        ]

    def measure_peaks(self) -> None:
        """Keeps the best: what else runs only lowers them."""
        peaks = self.result["peaks"]
        for name, rates in run_peaks(self.limits).items():
            peaks[name] = [max(pair) for pair in zip(rates, peaks.get(name, rates))]

    def measure(self, name: str, gguf: Path) -> None:
        if self.limits:
            self.measure_peaks()
        for policy in self.options.policy:
            self.measure_policy(name if policy == "default" else f"{name} {policy}", gguf, policy)

    def measure_policy(self, name: str, gguf: Path, policy: str) -> None:
        options = self.options
        artefacts = {
            threads: models.artefact(options.tessera, gguf, threads, policy, options.cache) for threads in options.threads
        }
        planned = [
            (test, {"model": name, "threads": threads, "test": test.name(), "kind": test.kind, "tokens": test.tokens,
                    "depth": test.depth, "runs": []})
            for threads in options.threads for test in self.tests()
        ]  # fmt: skip
        self.result["cells"] += [cell for _, cell in planned]
        with contextlib.ExitStack() as stack:
            timed = [(cell, self.run_of_llama(gguf, cell["threads"], test, stack), test) for test, cell in planned]
            for pair in range(options.pairs):
                for cell, run_of_llama, test in timed:
                    say(f"{name}, pair {pair + 1} of {options.pairs}: {cell['threads']} thread(s), {cell['test']}")
                    cell["runs"].append(self.run(pair, test, artefacts[cell["threads"]], run_of_llama))
                self.write()
        if not options.keep:
            for artefact in artefacts.values():
                artefact.unlink()

    def run_of_llama(self, gguf: Path, threads: int, test: Test, stack: contextlib.ExitStack) -> Callable[[], dict]:
        repeat = self.options.repeat
        if test.depth == 0:
            return lambda: run_llama(self.llama, gguf, threads, test, repeat)
        say(f"llama.cpp fills a cache with {test.depth} tokens, for {threads} thread(s)")
        llama = stack.enter_context(contextlib.closing(LlamaAtDepth(self.llama_depth, gguf, threads, test)))
        return lambda: llama.run(repeat)

    def run(self, pair: int, test: Test, artefact: Path, run_of_llama: Callable[[], dict]) -> dict:
        options = self.options
        run: dict = {"limits": run_limits(self.limits)} if self.limits else {}
        for program in report.PROGRAMS if pair % 2 == 0 else reversed(report.PROGRAMS):
            run[program] = run_tessera(options.tessera, artefact, test, options.repeat) if program == "tessera" else run_of_llama()
        return run

    def measure_gemms(self, shape: str) -> None:
        options = self.options
        for rows, kind, threads in itertools.product(filter(None, options.prefill), ("bf16", "f32"), options.threads):
            passes = options.pairs * options.repeat
            if times := run_gemm(self.gemm, threads, rows, kind, passes, models.layer_products(shape)):
                self.result["gemms"].append({"shape": shape, "rows": rows, "type": kind, "threads": threads} | times)
        self.write()

    def write(self) -> None:
        result = self.result
        self.out.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
        self.out.with_suffix(".md").write_text(report.document(result))
        if any(cell["runs"] for cell in result["cells"]):
            self.out.with_suffix(".svg").write_text(chart.of_result(result))


def main() -> None:
    options = parse()
    comparison = Comparison(options)
    for shape in options.shape:
        for kind in options.types:
            gguf = models.random_gguf(shape, kind, options.cache, comparison.llama)
            comparison.measure(f"{shape} {kind}", gguf)
            if kind != models.SOURCE_TYPE and not options.keep:
                gguf.unlink()
        if comparison.gemm:
            comparison.measure_gemms(shape)
    for file in options.gguf:
        comparison.measure(file.stem, file)
    print(comparison.out.with_suffix(".md").read_text(), end="")
    say(f"raw: {comparison.out.with_suffix('.json')}")


if __name__ == "__main__":
    main()
