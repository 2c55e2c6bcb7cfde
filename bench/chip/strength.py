"""How strong the search and Elk-Full are, beside the bound: Markdown on stdout.

    python bench/chip/strength.py TESSERA FOLDER [--workers N] [--published PROBLEMS]

Plans five models on 1,472 and on 5,888 cores, all-to-all and on the mesh, with 4 to 16 TB/s of HBM (strength-*.toml); the tables are
kept in FOLDER, and a run goes on where one was stopped. The paper's own program has given schedules for tables of its own alone:
PROBLEMS is a folder with NAME.problem.json, and beside each NAME.anchors.json with its schedule's total and bytes
(`elk_full_as_published`). Ends with exit code 1 where a total is below the bound, or where the search is slower than Elk-Full.
"""

import argparse
import csv
import json
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


def scheduled(tessera, problem, *options):
    command = [tessera, "chip", "schedule", problem, "--json", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def published_lines(tessera, folder):
    """A line for each problem whose published schedule is known; it may hold more bytes than there are."""
    for path in sorted(folder.glob("*.anchors.json")):
        published = json.loads(path.read_text())["elk_full_as_published"]
        if not published:
            continue
        file = path.with_name(path.name.replace(".anchors.", ".problem."))
        problem = json.loads(file.read_text())
        search, full = scheduled(tessera, file), scheduled(tessera, file, "--design", "elk-full", "--work", "0")
        per_cycle, sram = 1e3 / problem["clock_hz"], problem["sram_bytes"]
        totals = [each["total"] for each in (published, full, search)] + [search["bound"]]
        over = f"{100 * (published['sram_peak'] / sram - 1):.1f} % for {100 * published['sram_over_cycles'] / published['total']:.1f} %"
        cells = [f"{total * per_cycle:.3f}" for total in totals]
        gaps = [f"{100 * (total / search['bound'] - 1):.2f} %" for total in totals[1:3]]
        rate = problem["hbm_bytes_per_second"] / 1e12
        print(f"| {problem['cores']:,}, all-to-all, {path.name.split('.')[0]}, {rate:.1f} TB/s | {cells[0]} | {over} | {' | '.join(cells[1:] + gaps)} | - |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tessera")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--workers", default="2")
    parser.add_argument("--published", type=pathlib.Path)
    arguments = parser.parse_args()
    tessera, folder, workers = arguments.tessera, arguments.folder, arguments.workers
    folder.mkdir(parents=True, exist_ok=True)
    print("| cores, network, model, HBM | published | its bytes beyond the SRAM, of its time | elk-full | search | bound "
          "| elk-full to the bound | search to the bound | search of the ideal |")
    print("|-|-|-|-|-|-|-|-|-|")
    if arguments.published:
        published_lines(tessera, arguments.published)
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
            print(f"| {name} | - | - | {' | '.join(cells)} |")
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
