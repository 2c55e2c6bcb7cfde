"""One measurement of each program. What comes back is as raw as the program gives it."""

import atexit
import json
import os
import re
import resource
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

NICE = -20


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


def busy_seconds() -> float:
    """Of all processors together, what the host takes of a virtual one included."""
    user, nice, system, _idle, _wait, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split(maxsplit=9)[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime


def output(command: list[object]) -> tuple[str, float]:
    """And the share of the processors that other programs had meanwhile."""
    words = [str(word) for word in command]
    begin, busy, own = time.monotonic(), busy_seconds(), own_seconds()
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}\nended with exit code {done.returncode}:\n{done.stderr[-4000:]}")
    others = busy_seconds() - busy - (own_seconds() - own)
    return done.stdout, max(0.0, others / (time.monotonic() - begin) / os.cpu_count())


def run_tessera(tessera: Path, artefact: Path, test: Test, repeat: int) -> dict:
    """Its seconds, what it has to do for them, and the limits that it measured just before."""
    prefill, decode = (test.tokens, 0) if test.kind == "prefill" else (0, test.tokens)
    text, others = output([tessera, "bench", artefact, "--prefill", prefill, "--decode", decode, "--depth", test.depth,
                   "--repeat", repeat, "--limits", "--json", "-"])  # fmt: skip
    return json.loads(text)["cases"][0] | {"others": others}


def run_llama(llama: Path, model: Path, threads: int, test: Test, repeat: int) -> dict:
    """Its seconds."""
    prefill, decode = (test.tokens, 0) if test.kind == "prefill" else (0, test.tokens)
    text, others = output([llama / "llama-bench", "-m", model, "-p", prefill, "-n", decode, "-d", test.depth, "-t", threads,
                   "-r", repeat, "-o", "json"])  # fmt: skip
    return {"seconds": [nanoseconds * 1e-9 for nanoseconds in json.loads(text)[0]["samples_ns"]], "others": others}


class LlamaAtDepth:
    """A cache of llama.cpp that is filled once, for the turns of all pairs."""

    def __init__(self, program: Path, model: Path, threads: int, test: Test) -> None:
        command = [str(word) for word in (program, model, threads, test.depth, test.tokens)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.run(1)  # which waits until the cache is filled

    def run(self, repeat: int) -> dict:
        """As run_llama."""
        begin, busy, own, seconds = time.monotonic(), busy_seconds(), 0.0, []
        for _ in range(repeat):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f"{' '.join(self.process.args)}\nended with exit code {self.process.wait()}")
            turn, processors = map(float, line.split())
            seconds.append(turn)
            own += processors
        others = busy_seconds() - busy - own
        return {"seconds": seconds, "others": max(0.0, others / (time.monotonic() - begin) / os.cpu_count())}

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def run_limits(limits: Path) -> dict:
    """The short probe of limits.cpp: F32 multiply-adds of two threads, reading by one and two."""
    line = output([limits, "probe"])[0].split("GB/s")[-1].split("\n")[1]
    _, peak, _, one, two = map(float, line.split())
    return {"multiply_adds_per_second": {1: peak * 0.5e9, 2: peak * 1e9}, "bytes_per_second": {1: one * 1e9, 2: two * 1e9}}


def run_peaks(limits: Path) -> dict[str, list[float]]:
    """All arithmetic peaks that limits.cpp knows, medians of one and two threads, operations per second."""
    peaks, above = {}, ""
    number = r"[\d.]+ \(\s*([\d.]+)\)"
    line = re.compile(rf"^( +)(\S.*?) +1T +{number} +2T +{number} +G(?:FL)?OP/s", re.M)
    for indent, name, one, two in line.findall(output([limits, "flops"])[0]):
        # A line that is indented further is a variant of the one above it.
        if len(indent) == 2:
            above = name
        peaks[name if len(indent) == 2 else f"{above}, {name}"] = [float(one) * 1e9, float(two) * 1e9]
    return peaks


def run_gemm(gemm: Path, threads: int, rows: int, kind: str, passes: int, products: list[str]) -> dict | None:
    """None where oneDNN has no such product on this machine."""
    return json.loads(output([gemm, rows, passes, threads, kind, *products])[0])
