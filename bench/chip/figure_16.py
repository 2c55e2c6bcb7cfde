"""Figure 16 of paper 003, the time of planning, and table 2: SVG, and Markdown on stdout.

    python bench/chip/figure_16.py TESSERA FOLDER

CPU seconds of `chip plan --design elk-full` on the IPU-POD4 with HBM; decode, sequence 2,048. The paper takes up to five minutes on 32
cores. Ends with exit code 1 where a plan takes longer than that on one.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys

from figures_5_to_8 import CHIP, HERE, draw

MODELS = ("llama-2-13b", "gemma-2-27b", "opt-30b", "llama-2-70b", "dit-xl")
BATCHES = (16, 32, 64)
PUBLISHED = {"llama-2-13b": (6, 6, 66, 88, 1928), "gemma-2-27b": (6, 6, 206, 128, 2216), "opt-30b": (5, 6, 58, 46, 2269),
             "llama-2-70b": (6, 6, 168, 86, 3808), "dit-xl": (4, 4, 123, 136, 1521)}
MOST_SECONDS = 300


def planned(tessera, model, batch):
    """CPU seconds, and the numbers of table 2; none where a batch has no plan."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([tessera, "chip", "plan", HERE / f"{model}.json", "--chip", CHIP, "--batch", str(batch), "--design", "elk-full",
                          "--work", "0", "--json"], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (seconds, json.loads(run.stdout)["space"]) if run.returncode == 0 else None


def main():
    tessera, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    print("| model | " + " | ".join(f"batch {batch}" for batch in BATCHES) + " | C H P K N | paper |")
    print("|-" * (len(BATCHES) + 3) + "|")
    lines, slow = {}, False
    for model in MODELS:
        cells, space = [], None
        for batch in BATCHES:
            found = planned(tessera, model, batch)
            cells.append(f"{found[0]:.1f} s" if found else "-")
            if found:
                lines.setdefault(model, []).append((batch, found[0]))
                slow = slow or found[0] > MOST_SECONDS
                space = found[1] if batch == 32 or space is None else space
        numbers = " ".join(f"{space[key]:,}" for key in "CHPKN") if space else "-"
        print(f"| {model} | {' | '.join(cells)} | {numbers} | {' '.join(f'{n:,}' for n in PUBLISHED[model])} |")
    draw(folder / "figure-16.svg", "CPU seconds of planning (paper 003, figure 16)", [("all-to-all", lines)], "batch", "s", marks=True)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
