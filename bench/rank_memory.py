#!/usr/bin/env python3
"""Tightens the memory of a rank step by step: the plan goes from weights that every rank has whole to split ones, its cost
never falls, and the last step is refused. At every step a run's proportional set size is compared with the prediction.

    bench/rank_memory.py build/release/tessera MODEL --ranks 2 --out table.md

MODEL should have 500 MB or more (bench/random_checkpoint.py), beside which the program itself is small. Links are described as
slow (--latency), so that without a limit nothing that is read often is split. Exit code 1 where one of the claims fails.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

CLUSTER = """name = "ranks with slow links"

[[level]]
name = "rank"
count = {ranks}
bytes_per_second = 1e10
links = {{ topology = "all-to-all", bytes_per_second = 1e9, latency_seconds = {latency} }}

[[unit]]
name = "device"
kind = "vector"
operations_per_second = 5e10
"""
TOLERANCE = 0.10


def proportional_set_size(pid):
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Steps:
    def __init__(self, arguments):
        self.arguments, self.folder = arguments, pathlib.Path(tempfile.mkdtemp(prefix="tessera-rank-memory-"))
        self.cluster = self.folder / "cluster.toml"
        self.cluster.write_text(CLUSTER.format(ranks=arguments.ranks, latency=arguments.latency))
        self.artefact = self.folder / "ranks.tsr"
        self.failures = []

    def compile(self, limit):
        words = [self.arguments.tessera, "compile", self.arguments.model, "-o", self.artefact, "-q", "--workers", 1,
                 "--ranks", self.arguments.ranks, "--cluster", self.cluster, "--context", self.arguments.context,
                 "--search-effort", 0]  # fmt: skip
        if limit:
            words += ["--rank-memory", limit]
        return subprocess.run([*map(str, words)], capture_output=True, text=True)

    def account(self):
        done = subprocess.run([self.arguments.tessera, "inspect", self.artefact, "--distribution", "--json"],
                              capture_output=True, text=True, check=True)  # fmt: skip
        return json.loads(done.stdout)

    def measured(self):
        """The largest set of each rank while it fills its cache and computes tokens."""
        half, ranks = self.arguments.context // 2, self.arguments.ranks
        # As on machines of their own: pages of one file that all have would count in parts.
        copies = [shutil.copyfile(self.artefact, self.folder / f"{rank}.tsr") for rank in range(ranks)]
        bench = f'exec "{self.arguments.tessera}" bench "{self.folder}/$OMPI_COMM_WORLD_RANK.tsr" --prefill {half * 2} ' \
                f"--decode {half} --repeat 1000000"  # fmt: skip
        run = subprocess.Popen(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks), "sh", "-c", bench],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        most = []
        try:
            end = time.monotonic() + self.arguments.seconds
            while time.monotonic() < end and run.poll() is None:
                time.sleep(0.5)
                sizes = [proportional_set_size(pid) for pid in children(run.pid)]
                if len(sizes) == self.arguments.ranks:
                    most = [max(a, b) for a, b in zip(most, sizes)] if most else sizes
        finally:
            run.terminate()
            run.wait()
            for copy in copies:
                copy.unlink()
        return most

    def expect(self, holds, what):
        if not holds:
            self.failures.append(what)
            print("FAILED:", what, flush=True)

    def row(self, limit):
        account = self.account()
        held = account["held"]
        predicted = held["weights"] + held["states"] + held["activations"]
        tensors = [tensor for group in account["groups"] for tensor in group["tensors"]]
        weights = [tensor for tensor in tensors if tensor["kind"] == "constant"]
        split = [tensor for tensor in weights if any(entry.startswith("S") for entry in tensor["form"])]
        boxes = sum(box["collective"] != "slice" for tensor in tensors for box in tensor["boxes"])
        sizes = self.measured()
        self.expect(len(sizes) == self.arguments.ranks, f"limit {limit}: the ranks did not run")
        worst = max((abs(size / predicted - 1) for size in sizes), default=1)
        self.expect(worst <= TOLERANCE, f"limit {limit}: measured {sizes}, predicted {predicted:.0f}")
        return {"limit": limit, "cost": account["cost"], "predicted": predicted, "sizes": sizes, "worst": worst,
                "split": sum(t["bytes"] for t in split) / sum(t["bytes"] for t in weights), "boxes": boxes}  # fmt: skip

    def run(self):
        rows, limit = [], None
        while True:
            done = self.compile(limit)
            if done.returncode != 0:
                self.expect("does not fit on" in done.stderr and "least memory" in done.stderr, done.stderr)
                least = re.search(r"least memory\s+(\d+) bytes of", done.stderr)
                print(f"at {limit} bytes: refused, {least.group(1) if least else '?'} are the least")
                return rows, limit, int(least.group(1)) if least else 0
            rows.append(self.row(limit))
            row = rows[-1]
            print(f"limit {limit}: {row['cost'] * 1e3:.4g} ms, predicted {row['predicted'] / 1e6:.1f} MB, measured "
                  f"{', '.join(f'{size / 1e6:.1f}' for size in row['sizes'])} MB ({row['worst']:.1%}), "
                  f"{row['split']:.0%} of the weights split, {row['boxes']} boxes", flush=True)  # fmt: skip
            limit = int(row["predicted"] * self.arguments.factor)

    def table(self, rows, limit, least):
        lines = ["| limit of a rank | predicted cost | predicted memory | measured, rank by rank | off by | weights that are split | boxes |",
                 "|-|-|-|-|-|-|-|"]  # fmt: skip
        for row in rows:
            sizes = ", ".join(f"{size / 1e6:.1f}" for size in row["sizes"])
            lines.append(f"| {'none' if row['limit'] is None else format(row['limit'] / 1e6, '.1f') + ' MB'} "
                         f"| {row['cost'] * 1e3:.4g} ms | {row['predicted'] / 1e6:.1f} MB | {sizes} MB "
                         f"| {row['worst']:.1%} | {row['split']:.0%} | {row['boxes']} |")  # fmt: skip
        lines.append(f"| {limit / 1e6:.1f} MB | refused: {least / 1e6:.1f} MB are the least | | | | | |")
        return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tessera", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--latency", type=float, default=2e-3, help="seconds of a message, as the search has it")
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--factor", type=float, default=0.85, help="of the memory of the last step: the next limit")
    parser.add_argument("--seconds", type=float, default=20, help="of each run")
    parser.add_argument("--out", type=pathlib.Path, help="the table, in Markdown")
    arguments = parser.parse_args()
    steps = Steps(arguments)
    rows, limit, least = steps.run()
    costs = [row["cost"] for row in rows]
    steps.expect(all(a <= b * (1 + 1e-9) for a, b in zip(costs, costs[1:])), f"costs fall: {costs}")
    steps.expect(len(rows) >= 3, f"only {len(rows)} steps before the refusal")
    steps.expect(rows[0]["split"] < rows[-1]["split"], "no more is split at the end than at the beginning")
    table = steps.table(rows, limit, least)
    print(table)
    if arguments.out:
        arguments.out.write_text(table)
    steps.artefact.unlink(missing_ok=True)
    steps.cluster.unlink()
    steps.folder.rmdir()
    return 1 if steps.failures else 0


if __name__ == "__main__":
    sys.exit(main())
