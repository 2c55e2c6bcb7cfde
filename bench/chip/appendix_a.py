"""Appendix A of paper 003 by numbers: SVG, and Markdown on stdout.

    python bench/chip/appendix_a.py TESSERA FOLDER

Random problems of six operators, once without traffic on the link in executes, as the appendix has them, and once with it. Every
program that keeps the order of the preloads is tried by the few lines below; Elk-Dyn, which is the induction, is beside the best of them. Ends
with exit code 1 where Elk-Dyn differs without traffic.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

from figures_5_to_8 import draw

PROBLEMS, OPERATORS, SRAM = 40, 6, 1000


def problem(seed, has_traffic):
    drawn = random.Random(seed)
    operators = []
    for o in range(OPERATORS):
        size = drawn.choice((0, 100, 200, 300, 500))
        shift = drawn.randrange(300) if has_traffic else 0
        operators.append({"name": f"op{o}", "min_preload_bytes": size, "rows": [
            {"preload_bytes": size, "exec_bytes": drawn.randrange(100, 900), "compute": drawn.randrange(20, 600), "shift": shift,
             "distribute": 0}]})
    return {"cores": 1, "sram_bytes": SRAM, "clock_hz": 1000, "hbm_bytes_per_second": 1000, "link_bytes_per_second": 1000,
            "share": "execute", "operators": operators, "sequence": list(range(OPERATORS))}


def programs(operators):
    """All non-decreasing slots with slots[i] <= i."""
    def extend(slots):
        if len(slots) == operators:
            yield slots
            return
        for slot in range(slots[-1] if slots else 0, len(slots) + 1):
            yield from extend(slots + [slot])
    return extend([])


def total_of(rows, slots):
    """The rules of docs/chip.md with preloads in order, and executes that come first on the link; None where the SRAM overflows."""
    n, now = len(rows), 0.0
    preload, execute = [row["preload_bytes"] for row in rows], [row["compute"] + row["shift"] for row in rows]
    begins, preloaded, executed, running, loading, held = [None] * n, 0, 0, False, False, 0
    while executed < n:
        changed = True
        while changed:
            changed = False
            if not loading and preloaded < n and slots[preloaded] <= executed:
                loading, left_preload, changed = True, preload[preloaded], True
                held += preload[preloaded]
            if loading and left_preload <= 1e-9:
                loading, preloaded, changed = False, preloaded + 1, True
            if not running and executed < n and preloaded > executed:
                running, left_execute, changed = True, execute[executed], True
                held += rows[executed]["exec_bytes"] - preload[executed]
        if held > SRAM:
            return None
        use = rows[executed]["shift"] / execute[executed] if running else 0
        speed = 1 - use
        ends = ([left_execute] if running else []) + ([left_preload / speed] if loading and speed > 0 else [])
        step = min(ends)
        now += step
        if loading:
            left_preload -= step * speed
        if running:
            left_execute -= step
            if left_execute <= 1e-9:
                running, executed = False, executed + 1
                held -= rows[executed - 1]["exec_bytes"]
    return now


def main():
    tessera, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    series, wrong = {}, 0
    print("| executes | problems | Elk-Dyn is optimal | above the optimum, mean | at most |")
    print("|-|-|-|-|-|")
    for has_traffic, name in ((False, "without traffic (appendix A)"), (True, "with traffic")):
        points = []
        for seed in range(PROBLEMS):
            made = problem(seed, has_traffic)
            rows = [operator["rows"][0] for operator in made["operators"]]
            best = min(filter(None, (total_of(rows, slots) for slots in programs(OPERATORS))))
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump(made, file)
                file.flush()
                out = subprocess.run([tessera, "chip", "schedule", file.name, "--design", "elk-dyn", "--work", "0", "--json"], check=True,
                                     capture_output=True, text=True).stdout
            points.append((best, json.loads(out)["total"]))
        gaps = [total / best - 1 for best, total in points]
        equal = sum(abs(gap) < 1e-9 for gap in gaps)
        wrong += min(gaps) < -1e-9 or (not has_traffic and equal < PROBLEMS)
        print(f"| {name} | {PROBLEMS} | {equal} | {100 * sum(gaps) / PROBLEMS:.2f} % | {100 * max(gaps):.2f} % |")
        series[name] = sorted(points)
    draw(folder / "appendix-a.svg", "Elk-Dyn over the best of all programs in order (paper 003, appendix A)",
         [(name, {"Elk-Dyn": points, "optimum": [(x, x) for x, _ in points]}) for name, points in series.items()],
         "optimum, cycles", "cycles", marks=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
