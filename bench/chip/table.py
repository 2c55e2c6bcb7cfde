"""The table of five designs from a table of `tessera chip explore`: Markdown on stdout.

    python bench/chip/table.py FOLDER/figures-18-to-21.csv

Milliseconds of each point, and shares of the ideal. Ends with exit code 1 if the search is slower than Elk-Full in any cell.
"""

import csv
import sys

DESIGNS = ("basic", "static", "elk-dyn", "elk-full", "search")
MODULES = 16  # of the pod


def main():
    points = {}
    with open(sys.argv[1], newline="") as file:
        for row in csv.DictReader(file):
            key = (row["chip"], row["model"].removesuffix(".json"), float(row["hbm.bytes_per_second"]))
            points.setdefault(key, {})[row["design"]] = row
    print("| chip, model, HBM of all chips | " + " | ".join(DESIGNS) + " | bound | ideal | search of ideal | "
          "search: preload, execute, overlapped, stalled |")
    print("|-" * (len(DESIGNS) + 5) + "|")
    shares, slower, gains = {}, [], {}
    for (chip, model, rate), found in points.items():
        if not found["ideal"]["ms"]:
            print(f"| {chip}, {model}, {rate * MODULES / 1e12:g} TB/s | {found['ideal']['problem']} |")
            continue
        ms = {design: float(row["ms"]) if row["ms"] else None for design, row in found.items()}
        per_cycle = ms["ideal"] / float(found["ideal"]["cycles"])
        bound = float(found["search"]["bound"]) * per_cycle
        parts = " ".join(f"{100 * float(found['search'][part + '_ms']) / ms['search']:.1f}"
                         for part in ("preload", "execute", "overlapped", "stalled"))
        cells = " | ".join(f"{ms[d]:.2f}" if ms[d] else "-" for d in DESIGNS)
        print(f"| {chip.removeprefix('ipu-pod4-')}, {model}, {rate * MODULES / 1e12:g} TB/s | {cells} | {bound:.2f} | "
              f"{ms['ideal']:.2f} | {100 * ms['ideal'] / ms['search']:.2f} % | {parts} |")
        for design in DESIGNS:
            if ms[design]:
                shares.setdefault(design, {})[(chip, model, rate)] = ms["ideal"] / ms[design]
                gains.setdefault(design, []).append(ms[design] / ms["search"])
        if ms["elk-full"] and ms["search"] > ms["elk-full"] * (1 + 1e-9):
            slower.append((chip, model, rate))
    print()
    for design, of in shares.items():
        few = [share for (_, _, rate), share in of.items() if rate <= 1e12]
        print(f"{design}: {100 * sum(few) / len(few):.2f} % of the ideal's speed in the mean at 8 to 16 TB/s, "
              f"{100 * min(few):.2f} % at least; {100 * sum(of.values()) / len(of):.2f} % over all; the search is "
              f"{sum(gains[design]) / len(gains[design]):.2f} times as fast")
    for cell in slower:
        print(f"slower than Elk-Full: {cell}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
