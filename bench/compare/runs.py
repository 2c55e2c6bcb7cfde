"""One measurement of each program. What comes back is as raw as the program gives it."""

import atexit
import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

NICE = -15


@dataclass(frozen=True)
class Test:
    """`tokens` of prefill at once, or decoded one by one, after `depth` others."""

    kind: str
    tokens: int
    depth: int

    def name(self) -> str:
        return f"{self.kind} {self.tokens}" + (f" @ {self.depth}" if self.depth else "")


def take_priority() -> None:
    """Above everything else that runs here, where that is allowed: this process and what it starts."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, NICE)
        # Linux weighs the processes of a session against each other, and sessions by a value of their own.
        group = Path("/proc/self/autogroup")
        if group.exists():
            atexit.register(group.write_text, group.read_text().split()[-1])
            group.write_text(str(NICE))
    except OSError:
        pass


def output(command: list[object]) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}\nended with exit code {done.returncode}:\n{done.stderr[-4000:]}")
    return done.stdout


def run_tessera(tessera: Path, artefact: Path, test: Test, repeat: int) -> dict:
    """Its seconds, what it has to do for them, and the limits that it measured just before."""
    prefill, decode = (test.tokens, 0) if test.kind == "prefill" else (0, test.tokens)
    text = output([tessera, "bench", artefact, "--prefill", prefill, "--decode", decode, "--depth", test.depth,
                   "--repeat", repeat, "--limits", "--json", "-"])  # fmt: skip
    return json.loads(text)["cases"][0]


def run_llama(llama: Path, model: Path, threads: int, test: Test, repeat: int) -> list[float]:
    """Seconds."""
    prefill, decode = (test.tokens, 0) if test.kind == "prefill" else (0, test.tokens)
    text = output([llama / "llama-bench", "-m", model, "-p", prefill, "-n", decode, "-d", test.depth, "-t", threads,
                   "-r", repeat, "-o", "json"])  # fmt: skip
    return [nanoseconds * 1e-9 for nanoseconds in json.loads(text)[0]["samples_ns"]]


def run_limits(limits: Path) -> dict:
    """The short probe of limits.cpp: F32 multiply-adds of two threads, reading by one and two."""
    line = output([limits, "probe"]).split("GB/s")[-1].split("\n")[1]
    _, peak, _, one, two = map(float, line.split())
    return {"multiply_adds_per_second": {1: peak * 0.5e9, 2: peak * 1e9}, "bytes_per_second": {1: one * 1e9, 2: two * 1e9}}


def run_peaks(limits: Path) -> dict[str, list[float]]:
    """All arithmetic peaks that limits.cpp knows, medians of one and two threads, operations per second."""
    peaks, above = {}, ""
    number = r"[\d.]+ \(\s*([\d.]+)\)"
    for indent, name, one, two in re.findall(rf"^( +)(\S.*?) +1T +{number} +2T +{number} +G(?:FL)?OP/s", output([limits, "flops"]), re.M):
        # What is indented further is a variant of what stands above it.
        if len(indent) == 2:
            above = name
        peaks[name if len(indent) == 2 else f"{above}, {name}"] = [float(one) * 1e9, float(two) * 1e9]
    return peaks


def run_gemm(gemm: Path, threads: int, rows: int, kind: str, passes: int, products: list[str]) -> dict:
    return json.loads(output([gemm, rows, passes, threads, kind, *products]))
