#!/usr/bin/env python3
"""Tokens per second of a model against what the machine can read and compute, measured in alternation in one run.

    bench/speed.py --artefact OUT.tsr [--limits ../shared/bench/limits.cpp] [--prefill 512] [--decode 16] [--pairs 5]

Decode reads every weight once a token, so its limit is the read bandwidth; prefill multiplies every weight by every token, so its
limit is the F32 multiply-add peak. Without a limits program only tokens per second are printed. Needs a release build with
-DTESSERA_BENCH=ON (build/release/bench/step/step_bench) and g++ for the limits.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def build_limits(source):
    """The limits program, compiled for this machine; None if there is no source."""
    if not source.exists():
        return None
    program = pathlib.Path(tempfile.gettempdir()) / "tessera-limits"
    subprocess.run(["g++", "-std=c++20", "-O3", "-march=native", "-pthread", str(source), "-o", str(program)], check=True)
    return program


def read_bandwidth(limits):
    """Best bandwidth of one thread, bytes per second."""
    text = subprocess.run([limits, "mem"], check=True, capture_output=True, text=True).stdout
    one_thread = re.findall(r"1 thread\(s\).*?=> best by median: ([\d.]+) GB/s", text, re.S)
    return max(map(float, one_thread)) * 1e9


def peak_flops(limits):
    """F32 multiply-add peak of one thread, floating-point operations per second; None if the program prints none."""
    text = subprocess.run([limits, "flops"], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"fp32[^\n]*?1T\s+([\d.]+)", text)
    return max(map(float, found)) * 1e9 if found else None


def quartiles(values):
    values = sorted(values)
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def row(name, tokens_per_second, shares, limit):
    low, middle, high = quartiles(tokens_per_second)
    text = f"{name:<12} {middle:9.2f} tokens/s  (quartiles {low:.2f} .. {high:.2f})"
    if shares:
        text += f"   {100 * statistics.median(shares):5.1f} % of {limit}"
    print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artefact", required=True, type=pathlib.Path)
    parser.add_argument("--limits", type=pathlib.Path, default=ROOT.parent / "shared/bench/limits.cpp")
    parser.add_argument("--step", type=pathlib.Path, default=ROOT / "build/release/bench/step/step_bench")
    parser.add_argument("--prefill", type=int, default=512)
    parser.add_argument("--decode", type=int, default=16)
    parser.add_argument("--pairs", type=int, default=5, help="measurements, each beside its limits")
    options = parser.parse_args()
    if not options.step.exists():
        sys.exit(f"{options.step} is missing: cmake --preset release -DTESSERA_BENCH=ON && cmake --build --preset release")
    limits = build_limits(options.limits)

    prefill, decode, bandwidth_shares, peak_shares = [], [], [], []
    for pair in range(options.pairs):
        bandwidth = read_bandwidth(limits) if limits else None
        peak = peak_flops(limits) if limits else None
        text = subprocess.run([options.step, options.artefact, str(options.prefill), str(options.decode), "2"],
                              check=True, capture_output=True, text=True).stdout
        times = json.loads(text)
        weights = times["constant_bytes"]
        step = statistics.median(times["decode_seconds"])
        whole = min(times["prefill_seconds"])                     # the first pass also reads the file
        decode.append(1 / step)
        prefill.append(times["prefill_tokens"] / whole)
        if bandwidth:
            bandwidth_shares.append(weights / step / bandwidth)
        if peak:                                                  # two operations for each weight and token
            peak_shares.append(2 * times["constant_elements"] * times["prefill_tokens"] / whole / peak)
        print(f"pair {pair + 1}: decode {decode[-1]:.2f}, prefill {prefill[-1]:.2f} tokens/s" +
              (f", {bandwidth / 1e9:.1f} GB/s" if bandwidth else "") + (f", {peak / 1e9:.0f} GFLOP/s" if peak else ""), file=sys.stderr)
    row("decode", decode, bandwidth_shares, "the read bandwidth: weights are read once a token")
    row(f"prefill {options.prefill}", prefill, peak_shares, "the F32 multiply-add peak (all weights counted, the head too)")


if __name__ == "__main__":
    main()
