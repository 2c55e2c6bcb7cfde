"""Predicted beside measured times of kernels, on this machine.

    python3 bench/predict                       # measures the machine, then about a hundred kernels: three minutes
    python3 bench/predict --machine host.toml   # by the rates of this file

Every instance is one kernel of a model, compiled by the product; what it should take follows from its plan and the machine's file
alone (src/cost). The table goes to stdout, table and raw times to build/bench/, which git ignores, and with --plot a picture to
this file. Needs a build with -DTESSERA_BENCH=ON; as root it runs above what else the machine does.
"""

import math
import re
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import kernel_runs  # noqa: E402


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
    parser = kernel_runs.parser("predict", __doc__)
    parser.add_argument("--plot", type=Path, help="write the picture to this file")
    options = parser.parse_args()
    result = kernel_runs.run("predict", options)
    text, summary = table(result["instances"])
    head = f"one thread, {summary['instances']} kernels over {summary['decades']:.1f} decades, rank correlation "
    head += f"{summary['rank_correlation']:.3f}, median error {summary['median_error'] * 100:.0f} %"
    kernel_runs.keep("predict", options, head, text, {"summary": summary} | result)
    if options.plot:
        options.plot.write_text(plot(result["instances"]))


if __name__ == "__main__":
    main()
