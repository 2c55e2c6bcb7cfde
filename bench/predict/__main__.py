"""Predicted beside measured times of kernels, on this machine.

    python3 bench/predict                       # measures the machine, then about a hundred kernels: three minutes
    python3 bench/predict --machine host.toml   # by the rates of this file

Every instance is one kernel of a model, compiled by the product; what it should take follows from its plan and the machine's file
alone (src/cost). The table goes to stdout, everything raw to bench/results/, and with --plot a picture to this file. Needs a build
with -DTESSERA_BENCH=ON; as root it runs above what else the machine does.
"""

import argparse
import datetime
import json
import math
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/predict", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--machine", type=Path, help="a measured machine file (default: this machine is measured now)")
    parser.add_argument("--only", default="", help="instances with this in their names")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results", help="folder of the results (bench/results)")
    parser.add_argument("--plot", type=Path, help="write the picture to this file")
    return parser.parse_args()


def take_priority() -> None:
    try:
        Path("/proc/self/autogroup").write_text("-20")
    except OSError:
        print("others may disturb the measurement: no right to run above them", file=sys.stderr)


def ranks(values: list[float]) -> list[float]:
    """From 1; the mean rank where values are equal."""
    order = sorted(values)
    return [(order.index(value) + len(order) - order[::-1].index(value) + 1) / 2 for value in values]


def table(instances: list[dict]) -> tuple[str, dict]:
    rows = []
    for each in instances:
        measured = statistics.median(each["measured_seconds"])
        rows.append((each["name"], measured, each["predicted_seconds"]))
    measured, predicted = [row[1] for row in rows], [row[2] for row in rows]
    errors = [abs(p / m - 1) for m, p in zip(measured, predicted)]
    summary = {
        "instances": len(rows),
        "decades": math.log10(max(measured) / min(measured)),
        "rank_correlation": statistics.correlation(ranks(measured), ranks(predicted)),
        "median_error": statistics.median(errors),
    }
    text = "| kernel | measured us | predicted us | error |\n|-|-|-|-|\n"
    for name, m, p in rows:
        text += f"| {name} | {m * 1e6:.4g} | {p * 1e6:.4g} | {(p / m - 1) * 100:+.0f} % |\n"
    return text, summary


def plot(instances: list[dict]) -> str:
    """Measured to the right, predicted upwards, both logarithmic; a line where they agree, and at a quarter more and less."""
    points = [(statistics.median(each["measured_seconds"]), each["predicted_seconds"], each["name"]) for each in instances]
    low = math.floor(math.log10(min(min(m, p) for m, p, _ in points)))
    high = math.ceil(math.log10(max(max(m, p) for m, p, _ in points)))
    size, margin = 520, 60

    def at(value: float) -> float:
        return (math.log10(value) - low) / (high - low) * size

    colours = {"attention": "#b5442e", "product": "#2b5d8c", "other": "#5b7d2b"}

    def kind(name: str) -> str:
        if name.startswith("attention"):
            return "attention"
        return "product" if re.match(r"[A-Z]+\d", name) else "other"

    def x(value: float) -> str:
        return f"{margin + at(value):.1f}"

    def y(value: float) -> str:
        return f"{20 + size - at(value):.1f}"

    def label(exponent: int) -> str:
        unit, name = next((u, n) for u, n in ((0, "s"), (-3, "ms"), (-6, "us"), (-9, "ns")) if exponent >= u)
        return f"{10 ** (exponent - unit)} {name}"

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size + margin + 30} {size + 80}" font-family="sans-serif" font-size="12">',
        f'<rect width="{size + margin + 30}" height="{size + 80}" fill="white"/>',
    ]
    for exponent in range(low, high + 1):
        value = 10.0**exponent
        lines.append(f'<path d="M{x(value)} 20V{size + 20}M{margin} {y(value)}H{margin + size}" stroke="#ddd"/>')
        lines.append(f'<text x="{x(value)}" y="{size + 38}" text-anchor="middle">{label(exponent)}</text>')
        lines.append(f'<text x="{margin - 6}" y="{y(value)}" text-anchor="end" dominant-baseline="middle">{label(exponent)}</text>')
    for factor, style in ((1, "#888"), (1.25, "#ccc"), (0.8, "#ccc")):
        first, last = 10.0**low * max(1, 1 / factor), 10.0**high * min(1, 1 / factor)
        lines.append(f'<path d="M{x(first)} {y(first * factor)}L{x(last)} {y(last * factor)}" stroke="{style}"/>')
    for measured, predicted, name in points:
        lines.append(f'<circle cx="{x(measured)}" cy="{y(predicted)}" r="3.5" fill="{colours[kind(name)]}" fill-opacity="0.7"><title>{name}</title></circle>')
    for i, (name, colour) in enumerate(colours.items()):
        lines.append(f'<circle cx="{margin + 16}" cy="{38 + 18 * i}" r="4" fill="{colour}"/><text x="{margin + 26}" y="{42 + 18 * i}">{name}</text>')
    lines.append(f'<text x="{margin + size / 2}" y="{size + 62}" text-anchor="middle">measured</text>')
    lines.append(f'<text x="14" y="{20 + size / 2}" text-anchor="middle" transform="rotate(-90 14 {20 + size / 2})">predicted</text></svg>')
    return "\n".join(lines) + "\n"


def main() -> None:
    options = parse()
    take_priority()
    cache = options.build / "predict"
    cache.mkdir(parents=True, exist_ok=True)
    machine = options.machine or cache / "host.toml"
    if not options.machine:
        own_cache = os.environ | {"XDG_CACHE_HOME": str(cache.resolve())}  # what the user measured stays
        subprocess.run([options.build / "tessera", "machine", "--refresh", "--out", machine], check=True, env=own_cache)
    done = subprocess.run(
        [options.build / "bench/predict/predict_bench", machine, ROOT / "include", cache, options.only],
        check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    result = json.loads(done.stdout)
    text, summary = table(result["instances"])
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    cpu = re.search(r"^model name\s*: (.*)$", info, re.M)
    date = datetime.datetime.now(datetime.timezone.utc)
    head = f"{date.isoformat(timespec='seconds')}, {cpu[1] if cpu else 'unknown machine'}, one thread: {summary['instances']} kernels over "
    head += f"{summary['decades']:.1f} decades, rank correlation {summary['rank_correlation']:.3f}, median error "
    head += f"{summary['median_error'] * 100:.0f} %"
    print(f"{head}\n\n{text}")
    options.out.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^a-z0-9]+", "-", (cpu[1] if cpu else "unknown").lower()).strip("-")
    stem = options.out / f"{date:%Y-%m-%d-%H%M}-{name}-predict"
    stem.with_suffix(".json").write_text(json.dumps({"summary": summary} | result, indent=1) + "\n")
    stem.with_suffix(".md").write_text(f"{head}\n\n{text}")
    if options.plot:
        options.plot.write_text(plot(result["instances"]))


if __name__ == "__main__":
    main()
