"""What the benches of single kernels share: whose rates they take, how they run, where results go."""

import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def parser(name: str, description: str) -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        prog=f"bench/{name}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--build", type=Path, default=ROOT / "build/release")
    options.add_argument("--machine", type=Path, help="a measured machine file (default: this machine is measured now)")
    options.add_argument("--only", default="", help="instances with this in their names")
    options.add_argument("--out", type=Path, default=ROOT / "build/bench", help="folder for table and raw times (build/bench)")
    return options


def take_priority() -> None:
    try:
        Path("/proc/self/autogroup").write_text("-20")
    except OSError:
        print("others may disturb the measurement: no right to run above them", file=sys.stderr)


def measured_machine(options: argparse.Namespace, folder: Path) -> Path:
    """The file of --machine, or that of this machine, measured now."""
    if options.machine:
        return options.machine
    machine = folder / "host.toml"
    own_cache = os.environ | {"XDG_CACHE_HOME": str(folder.resolve())}  # what the user measured stays
    subprocess.run([options.build / "tessera", "machine", "--refresh", "--out", machine], check=True, env=own_cache)
    return machine


def run(name: str, options: argparse.Namespace) -> dict:
    """Runs NAME_bench by the rates of the machine; what it prints."""
    take_priority()
    cache = options.build / name
    cache.mkdir(parents=True, exist_ok=True)
    machine = measured_machine(options, cache)
    done = subprocess.run(
        [options.build / f"bench/{name}/{name}_bench", machine, ROOT / "include", cache, options.only],
        check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def ranks(values: list[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    for rank, index in enumerate(order):
        found[index] = rank
    return found


def correlation(estimated: list[float], measured: list[float]) -> float:
    """The rank correlation (Spearman)."""
    return statistics.correlation(ranks(estimated), ranks(measured)) if len(estimated) > 2 else float("nan")


def keep(name: str, options: argparse.Namespace, summary: str, text: str, result: dict) -> None:
    """Prints date, machine, summary and text, and writes them and the result to the folder --out."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    cpu = re.search(r"^model name\s*: (.*)$", info, re.M)
    date = datetime.datetime.now(datetime.timezone.utc)
    head = f"{date.isoformat(timespec='seconds')}, {cpu[1] if cpu else 'unknown machine'}: {summary}"
    print(f"{head}\n\n{text}")
    options.out.mkdir(parents=True, exist_ok=True)
    machine = re.sub(r"[^a-z0-9]+", "-", (cpu[1] if cpu else "unknown").lower()).strip("-")
    stem = options.out / f"{date:%Y-%m-%d-%H%M}-{machine}-{name}"
    stem.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    stem.with_suffix(".md").write_text(f"{head}\n\n{text}")
