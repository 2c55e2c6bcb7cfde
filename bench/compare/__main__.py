"""Tessera against llama.cpp, oneDNN and the machine, measured in alternation.

    python3 bench/compare                                             # Qwen3-0.6B and 1.7B, six types: hours
    python3 bench/compare --shape qwen3-0.6b --types bf16,q4_0 --depth 0 --pairs 3
    python3 bench/compare --gguf SmolLM2-135M-Instruct.Q4_1.gguf

Builds llama.cpp of a pinned version (from the source package of llama-cpp-python on PyPI), and the oneDNN benchmark where
libdnnl-dev is installed; takes `tessera` from build/release. In each of the pairs every test runs once with each program, the
order turning round from pair to pair, and the machine's limits are measured beside it. The table goes to stdout, everything
raw to bench/results/. Needs g++, cmake, ninja, pip and python3-numpy.
"""

import argparse
import datetime
import json
import platform
import re
import subprocess
import sys
from pathlib import Path

import models
import programs
import report
from programs import ROOT, say
from runs import Test, run_gemm, run_limits, run_llama, run_peaks, run_tessera


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def words(text: str) -> list[str]:
    return text.split(",")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", type=words, help="of random weights (default, without --gguf: qwen3-0.6b,qwen3-1.7b)")
    parser.add_argument("--types", type=words, default=words("f32,f16,bf16,q8_0,q4_0,q4_k_m"), help="of these weights")
    parser.add_argument("--gguf", type=Path, action="append", default=[], help="a model as it is; may be repeated")
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--depth", type=numbers, default=[0, 4096], help="of the decode tests")
    parser.add_argument("--prefill", type=numbers, default=[512], help="0: none")
    parser.add_argument("--decode", type=int, default=32, help="tokens; 0: none")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--tessera", type=Path, default=ROOT / "build/release/tessera")
    parser.add_argument("--limits", type=Path, default=ROOT.parent / "shared/bench/limits.cpp", help="source of a second opinion on the machine")
    parser.add_argument("--cache", type=Path, default=ROOT / "build/compare")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results")
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


def list_cells(options: argparse.Namespace, llama: Path) -> list[dict]:
    files = [(f"{shape} {kind}", models.random_gguf(shape, kind, options.cache, llama)) for shape in options.shape for kind in options.types]
    files += [(file.stem, file) for file in options.gguf]
    tests = [Test("prefill", tokens, 0) for tokens in options.prefill if tokens]
    tests += [Test("decode", options.decode, depth) for depth in options.depth if options.decode]
    return [
        {"model": name, "gguf": file, "artefact": models.artefact(options.tessera, file, threads, options.cache),
         "threads": threads, "test": test, "runs": []}
        for name, file in files for threads in options.threads for test in tests
    ]  # fmt: skip


def measure(cell: dict, pair: int, options: argparse.Namespace, llama: Path, limits: Path | None) -> dict:
    run: dict = {"limits": run_limits(limits)} if limits else {}
    for program in ("tessera", "llama") if pair % 2 == 0 else ("llama", "tessera"):
        if program == "tessera":
            run["tessera"] = run_tessera(options.tessera, cell["artefact"], cell["test"])
        else:
            run["llama"] = run_llama(llama, cell["gguf"], cell["threads"], cell["test"])
    return run


def main() -> None:
    options = parse()
    options.cache.mkdir(parents=True, exist_ok=True)
    llama = programs.build_llama(options.cache)
    gemm = programs.build_gemm(options.cache)
    limits = programs.compile_program(options.limits, options.cache / "limits") if options.limits.exists() else None
    cells = list_cells(options, llama)
    date = datetime.datetime.now(datetime.timezone.utc)
    result = {
        "date": date.isoformat(timespec="seconds"), "machine": machine(), "tessera": commit(),
        "llama.cpp": f"llama-cpp-python {programs.LLAMA_VERSION}, sha256 {programs.LLAMA_SHA256}",
        "peaks": run_peaks(limits) if limits else {}, "gemms": [], "cells": [],
    }  # fmt: skip
    options.out.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^a-z0-9]+", "-", result["machine"]["cpu"].lower()).strip("-")
    out = options.out / f"{date:%Y-%m-%d-%H%M}-{name}"

    def shown() -> list[dict]:
        return [{key: value for key, value in cell.items() if key not in ("gguf", "artefact", "test")} |
                {"test": cell["test"].name(), "kind": cell["test"].kind, "tokens": cell["test"].tokens,
                 "depth": cell["test"].depth} for cell in cells]  # fmt: skip

    for pair in range(options.pairs):
        for i, cell in enumerate(cells):
            say(f"pair {pair + 1} of {options.pairs}, test {i + 1} of {len(cells)}: {cell['model']}, "
                f"{cell['threads']} thread(s), {cell['test'].name()}")  # fmt: skip
            cell["runs"].append(measure(cell, pair, options, llama, limits))
        if gemm:
            result["gemms"] += [
                {"shape": shape, "rows": rows, "type": kind, "threads": threads}
                | run_gemm(gemm, threads, rows, kind, models.layer_products(shape))
                for shape in options.shape for rows in options.prefill if rows for kind in ("bf16", "f32") for threads in options.threads
            ]  # fmt: skip
        # After every pair: what an interruption leaves is whole.
        result["cells"] = shown()
        out.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
        text = f"{result['date']}, {result['machine']['cpu']}, {pair + 1} pair(s), tessera {result['tessera']}\n\n"
        out.with_suffix(".md").write_text(text + report.table(shown()) + "\n" + report.gemm_table(result["gemms"]))
    print(out.with_suffix(".md").read_text(), end="")
    say(f"raw: {out.with_suffix('.json')}")


if __name__ == "__main__":
    main()
