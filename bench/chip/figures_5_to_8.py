"""Figures 5 to 8 of paper 003 from the tables of plans: SVG, and the paper's trends as Markdown on stdout.

    python bench/chip/figures_5_to_8.py TESSERA FOLDER

Decode, batch 32, sequence 2,048, on the IPU-POD4 with HBM; DiT-XL is left out, as in the paper. Ends with exit code 1 where a
trend of the paper does not hold.

    5   execution times of the plans of an operator, over their space
    6   the least HBM rate at every moment with which no execute waits, for some preload spaces
    7   traffic between cores over the time of the execute, for the smallest and the largest preloads
    8   the same, with the traffic of the preload over the time in which the HBM delivers it
"""

import html
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CHIP = HERE.parents[1] / "machines/chips/ipu-pod4-hbm.toml"
MODELS = ("llama-2-13b", "gemma-2-27b", "opt-30b")
SPACES = (64, 128, 256, 512)  # KiB of each core
OPERATORS = 6  # of figure 5: those with the most time
COLOURS = ("#1b6ca8", "#d1495b", "#2a9d55", "#e09f3e", "#7b4fa3", "#5c6670")


class Tables:
    """The problem of a model, and what Static takes of it."""

    def __init__(self, tessera, model):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            command = [tessera, "chip", "plan", HERE / f"{model}.json", "--chip", CHIP, "--batch", "32", "--sequence", "2048",
                       "--tables", file.name, "--design", "elk-dyn", "--work", "0", "--json"]
            self.plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            self.problem = json.load(open(file.name))
        self.operators = self.problem["operators"]
        self.sequence = []
        for entry in self.problem["sequence"]:
            self.sequence += entry["of"] * entry["repeat"] if isinstance(entry, dict) else [entry]
        self.hbm = self.problem["hbm_bytes_per_second"] / self.problem["clock_hz"]
        self.link = self.problem["link_bytes_per_second"] / self.problem["clock_hz"]

    def hbm_bytes(self, o):
        return self.operators[o]["min_preload_bytes"] * self.problem["cores"]

    def rows(self, space, largest):
        """Of each operator the fastest execute within the space, with its smallest or largest preload."""
        chosen = []
        for operator in self.operators:
            within = [row for row in operator["rows"] if row["exec_bytes"] <= space] or operator["rows"]
            best = min(row["compute"] + row["shift"] for row in within)
            same = [row for row in within if row["compute"] + row["shift"] == best]
            chosen.append((max if largest else min)(same, key=lambda row: row["preload_bytes"]))
        return chosen

    def layer(self):
        """Positions of two layers in the middle of the model, which are like all others."""
        repeat = max((e for e in self.problem["sequence"] if isinstance(e, dict)), key=lambda e: len(e["of"]) * e["repeat"])
        first = sum(len(e["of"]) * e["repeat"] if isinstance(e, dict) else 1
                    for e in self.problem["sequence"][: self.problem["sequence"].index(repeat)])
        first += repeat["repeat"] // 2 * len(repeat["of"])
        return range(first, first + 2 * len(repeat["of"]))


def execute(row):
    return row["compute"] + row["shift"] + row["distribute"]


def least_rates(deadlines, ends, space):
    """The rate of each interval between deadlines: what has been read by then is at least what has been due, and at most that and
    the space. The shortest line between these two curves has the least greatest rate, in every part of it."""
    due, total = [], 0
    for size in deadlines:
        total += size
        due.append(total)
    due = [0] + due
    upper = [min(total, value + space) for value in due]
    upper[0], lower = 0, list(due)
    times, lower[-1] = [0] + list(ends), total
    path, at = [(0, 0)], 0
    while at < len(times) - 1:  # the farthest point that a straight line reaches, then the corner that stops it
        x, y = path[-1]
        low, high, corner = -1e30, 1e30, None
        low_at = high_at = at + 1
        for k in range(at + 1, len(times)):
            width = max(times[k] - x, 1e-9)
            if (lower[k] - y) / width > high:
                corner = (high_at, upper[high_at])
                break
            if (upper[k] - y) / width < low:
                corner = (low_at, lower[low_at])
                break
            if (lower[k] - y) / width >= low:
                low, low_at = (lower[k] - y) / width, k
            if (upper[k] - y) / width <= high:
                high, high_at = (upper[k] - y) / width, k
        if corner is None:
            corner = (len(times) - 1, total)
        at = corner[0]
        path.append((times[at], corner[1]))
    return path


def deviation(values, weights):
    """The standard deviation over the mean, by time."""
    whole = sum(weights)
    mean = sum(v * w for v, w in zip(values, weights)) / whole
    return (sum(w * (v - mean) ** 2 for v, w in zip(values, weights)) / whole) ** 0.5 / mean if mean else 0


def steps(widths, heights):
    """Points of a line of steps."""
    points, x = [], 0.0
    for width, height in zip(widths, heights):
        points += [(x, height), (x + width, height)]
        x += width
    return points


def draw(path, title, panels, x_label, y_label, marks=False):
    """`panels`: (title, {series: points}). Each has axes of its own, which begin at 0."""
    wide, high, left, below = 360, 210, 60, 60
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{len(panels) * (wide + left) + 20}" height="{high + below + 150}" '
           f'font-family="sans-serif" font-size="11"><text x="10" y="18" font-size="14">{html.escape(title)}</text>']
    for p, (name, series) in enumerate(panels):
        x0, y0 = left + p * (wide + left), 50 + high
        most_x = max(x for points in series.values() for x, _ in points) or 1
        most_y = max(y for points in series.values() for _, y in points) * 1.05 or 1
        out.append(f'<text x="{x0}" y="40">{html.escape(name)}</text><path d="M{x0} 50V{y0}H{x0 + wide}" fill="none" stroke="#444"/>')
        for part in range(5):
            y, x = y0 - high * part / 4, x0 + wide * part / 4
            out.append(f'<text x="{x0 - 4}" y="{y + 4:.0f}" text-anchor="end">{most_y * part / 4:.3g}</text>'
                       f'<text x="{x:.0f}" y="{y0 + 14}" text-anchor="middle">{most_x * part / 4:.3g}</text>')
        out.append(f'<text x="{x0 + wide / 2}" y="{y0 + 30}" text-anchor="middle">{html.escape(x_label)}</text>'
                   f'<text x="{x0 - 46}" y="{50 + high / 2}" text-anchor="middle" '
                   f'transform="rotate(-90 {x0 - 46} {50 + high / 2})">{html.escape(y_label)}</text>')
        for s, (label, points) in enumerate(series.items()):
            colour = COLOURS[s % len(COLOURS)]
            at = [(x0 + wide * x / most_x, y0 - high * y / most_y) for x, y in points]
            if marks:
                out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="{colour}"/>' for x, y in at]
            out.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in at)}" fill="none" stroke="{colour}" '
                       f'stroke-width="1.2"/><text x="{x0 + s % 2 * wide / 2}" y="{y0 + 48 + s // 2 * 14}" fill="{colour}">'
                       f"{html.escape(label)}</text>")
    path.write_text("\n".join(out) + "\n</svg>\n")


def figure_5(tables):
    """Time over space of the operators with the most time; the table has the fastest plans for each space alone."""
    panels, gains = [], []
    for model, of in tables.items():
        time = {}
        for o in of.sequence:
            time[o] = time.get(o, 0) + min(execute(row) for row in of.operators[o]["rows"])
        series = {}
        for o in sorted(time, key=time.get, reverse=True):
            name = of.operators[o]["name"].removeprefix("layer_")
            least, points = 1e30, []
            for row in sorted(of.operators[o]["rows"], key=lambda row: (row["exec_bytes"], row["compute"] + row["shift"])):
                if row["compute"] + row["shift"] < least:
                    least = row["compute"] + row["shift"]
                    points.append((row["exec_bytes"] / 1024, least / 1e3))
            if len(points) > 2 and len(series) < OPERATORS:
                series[name] = points
                gains.append(points[0][1] / points[-1][1])
        panels.append((model, series))
    return panels, gains


def figure_6(tables):
    panels, kept = [], []
    for model, of in tables.items():
        rows = of.rows(of.problem["sram_bytes"] // 2, False)
        layer = of.layer()
        widths = [execute(rows[of.sequence[i]]) for i in layer]
        ends, x = [], 0
        for width in widths:
            x += width
            ends.append(x)
        sizes = [of.hbm_bytes(of.sequence[i]) for i in layer]
        series, spreads = {}, []
        for space in SPACES:
            path = least_rates(sizes[1:] + [0], ends, space * 1024 * of.problem["cores"])
            rates = [(b[1] - a[1]) / max(b[0] - a[0], 1e-9) for a, b in zip(path, path[1:])]
            durations = [b[0] - a[0] for a, b in zip(path, path[1:])]
            to_tb = of.problem["clock_hz"] / 1e12
            series[f"{space} KiB"] = [(x / 1e3, y * to_tb) for x, y in steps(durations, rates)]
            spreads.append(deviation(rates, durations))
        panels.append((model, series))
        kept.append((model, spreads))
    return panels, kept


def figures_7_8(tables):
    between, whole, kept = [], [], []
    for model, of in tables.items():
        series, series_whole, found = {}, {}, []
        for name, largest in (("MinPreload", False), ("MaxPreload", True)):
            rows = of.rows(of.problem["sram_bytes"] // 2, largest)
            chosen = [(of.sequence[i], rows[of.sequence[i]]) for i in of.layer()]
            widths = [execute(row) for _, row in chosen]
            to_gb = of.problem["clock_hz"] / 1e9
            inner = [(row["shift"] + row["distribute"]) * of.link / execute(row) * to_gb for _, row in chosen]
            outer = [row["preload_bytes"] / max(of.hbm_bytes(o) / of.hbm, 1e-9) * to_gb if of.hbm_bytes(o) else 0 for o, row in chosen]
            series[name] = [(x / 1e3, y) for x, y in steps(widths, inner)]
            series_whole[name] = [(x / 1e3, y) for x, y in steps(widths, [a + b for a, b in zip(inner, outer)])]
            found.append((sum(a * w for a, w in zip(inner, widths)) / sum(widths),
                          deviation([a + b for a, b in zip(inner, outer)], widths)))
        between.append((model, series))
        whole.append((model, series_whole))
        kept.append((model, found))
    return between, whole, kept


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    tables = {model: Tables(sys.argv[1], model) for model in MODELS}
    panels, gains = figure_5(tables)
    draw(folder / "figure-5.svg", "Execution times over execution space (paper 003, figure 5)", panels, "KiB of a core",
         "thousand cycles", marks=True)
    demand, spreads = figure_6(tables)
    draw(folder / "figure-6.svg", "HBM demand of two layers by preload space (paper 003, figure 6)", demand, "thousand cycles",
         "TB/s of a chip")
    between, whole, kept = figures_7_8(tables)
    draw(folder / "figure-7.svg", "Demand between cores of two layers (paper 003, figure 7)", between, "thousand cycles", "GB/s of a core")
    draw(folder / "figure-8.svg", "Demand of all links of two layers (paper 003, figure 8)", whole, "thousand cycles", "GB/s of a core")
    holds = True
    print("| figure | paper | here |\n|-|-|-|")
    print(f"| 5 | faster plans take more space | the fastest plan takes {min(gains):.2f} to {max(gains):.2f} times less than the smallest |")
    for model, values in spreads:
        shown = ", ".join(f"{space} KiB {value:.2f}" for space, value in zip(SPACES, values))
        print(f"| 6, {model} | more preload space smooths the demand | deviation over the mean: {shown} |")
        holds = holds and values[-1] <= values[0]
    for model, ((least, spread), (most, spread_most)) in kept:
        print(f"| 7, {model} | MaxPreload has less demand between cores | {least:.2f} GB/s in the mean, and {most:.2f} with MaxPreload |")
        print(f"| 8, {model} | MaxPreload fluctuates less | deviation over the mean {spread:.2f}, and {spread_most:.2f} with MaxPreload |")
        holds = holds and most <= least
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
