"""Paper 003, figure 17, from a table of `tessera chip explore`: Markdown on stdout.

    python bench/chip/figure_17.py FOLDER/figure-17.csv

Milliseconds of each model, batch and sequence, the share of the ideal's speed that Elk-Full reaches, and its gains beside those
that the paper states. Ends with exit code 1 if Elk-Full is slower than Static, or the search than Elk-Full, in any cell.
"""

import csv
import sys

DESIGNS = ("basic", "static", "elk-dyn", "elk-full", "search", "ideal")
PAPER = {"basic": "1.87 (at most 1.93)", "static": "1.37 (at most 1.49)", "ideal": "94.84 %"}


def mean(numbers):
    return sum(numbers) / len(numbers)


def main():
    cells = {}
    with open(sys.argv[1], newline="") as file:
        for row in csv.DictReader(file):
            key = (row["model"].removesuffix(".json"), int(row["batch"]), int(row["sequence"]))
            cells.setdefault(key, {})[row["design"]] = float(row["ms"]) if row["ms"] else None
    print("| model, batch, sequence | " + " | ".join(DESIGNS) + " | Elk-Full of the ideal |")
    print("|-" * (len(DESIGNS) + 2) + "|")
    ratios, slower = {}, []
    for key, ms in cells.items():
        if not ms["ideal"]:
            continue
        shown = " | ".join(f"{ms[each]:.2f}" if ms[each] else "-" for each in DESIGNS)
        print(f"| {', '.join(map(str, key))} | {shown} | {100 * ms['ideal'] / ms['elk-full']:.1f} % |")
        for each in DESIGNS:
            if ms[each]:
                ratios.setdefault(each, []).append(ms[each] / ms["elk-full"])
        if (ms["static"] or ms["elk-full"]) < ms["elk-full"] or ms["elk-full"] < ms["search"]:
            slower.append(key)
    print("\n| Elk-Full | paper | here, in the mean | at least | at most |")
    print("|-|-|-|-|-|")
    for each in ("basic", "static"):
        of = ratios[each]
        print(f"| times as fast as {each} | {PAPER[each]} | {mean(of):.2f} | {min(of):.2f} | {max(of):.2f} |")
    of = [100 * ratio for ratio in ratios["ideal"]]
    print(f"| of the ideal's speed | {PAPER['ideal']} | {mean(of):.2f} % | {min(of):.2f} % | {max(of):.2f} % |")
    of = [100 * ratio for ratio in ratios["search"]]
    print(f"| time of the search | - | {mean(of):.2f} % | {min(of):.2f} % | {max(of):.2f} % |")
    for key in slower:
        print(f"Elk-Full is slower than Static, or the search than Elk-Full: {key}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
