"""How strong the search and Elk-Full are, beside the bound: Markdown on stdout.

    python bench/chip/strength.py TESSERA FOLDER [WORKERS]

Plans five models on 1,472 and on 5,888 cores, all-to-all and on the mesh, with 4 to 16 TB/s of HBM (strength-*.toml); the tables are
kept in FOLDER, and a run goes on where one was stopped. Ends with exit code 1 where a total is below the bound, or where the
search is slower than Elk-Full.
"""

import csv
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FIELD = "level.chip.module.bytes_per_second"
SPACES = ((1472, 4), (5888, 16))  # cores and modules


def points(table):
    """Rows by design, of each point of a table in its order."""
    found = {}
    with open(table, newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault((row["chip"], row["model"].removesuffix(".json"), float(row[FIELD])), {})[row["design"]] = row
    return found


def main():
    tessera, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    workers = sys.argv[3] if len(sys.argv) > 3 else "2"
    folder.mkdir(parents=True, exist_ok=True)
    print("| cores, network, model, HBM | elk-full | search | bound | elk-full to the bound | search to the bound | search of the ideal |")
    print("|-|-|-|-|-|-|-|")
    gaps, faults, unplanned = {"elk-full": [], "search": []}, [], {}
    for cores, modules in SPACES:
        table = folder / f"strength-{cores}.csv"
        subprocess.run([tessera, "chip", "explore", HERE / f"strength-{cores}.toml", "--out", table, "--workers", workers], check=True)
        for (chip, model, rate), designs in points(table).items():
            name = f"{cores:,}, {'mesh' if 'mesh' in chip else 'all-to-all'}, {model}, {rate * modules / 1e12:g} TB/s"
            if not designs["search"]["cycles"]:
                problem = designs["search"]["problem"].rsplit(".toml", 1)[-1].lstrip(":0 ")
                unplanned.setdefault((name.rsplit(", ", 1)[0], problem), []).append(f"{rate * modules / 1e12:g}")
                continue
            cycles = {design: float(row["cycles"]) for design, row in designs.items() if row["cycles"]}
            bound, per_cycle = float(designs["search"]["bound"]), float(designs["search"]["ms"]) / cycles["search"]
            cells = [f"{cycles['elk-full'] * per_cycle:.3f}" if "elk-full" in cycles else "-", f"{cycles['search'] * per_cycle:.3f}",
                     f"{bound * per_cycle:.3f}"]
            for design, all_gaps in gaps.items():
                if design not in cycles:
                    cells.append("-")
                    continue
                gap = cycles[design] / bound - 1
                all_gaps.append(gap)
                cells.append(f"{100 * gap:.2f} %")
                if gap < -1e-9:
                    faults.append(f"{name}: {design} is below the bound")
            cells.append(f"{100 * cycles['ideal'] / cycles['search']:.1f} %")
            if cycles.get("elk-full", float("inf")) < cycles["search"] * (1 - 1e-9):
                faults.append(f"{name}: the search is slower than Elk-Full")
            print(f"| {name} | {' | '.join(cells)} |")
    print()
    for design, all_gaps in gaps.items():
        print(f"{design}: {100 * sum(all_gaps) / len(all_gaps):.2f} % above the bound in the mean of {len(all_gaps)}, {100 * max(all_gaps):.2f} % at most")
    for (name, problem), rates in unplanned.items():
        print(f"{name}, {', '.join(rates)} TB/s: no plan: {problem}")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
