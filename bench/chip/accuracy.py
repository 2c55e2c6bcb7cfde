"""Costs of the planner against the simulator, operator by operator (figure 12 of paper 003): Markdown on stdout.

    python bench/chip/accuracy.py TESSERA FOLDER [--simulate]

draws figure-12-CHIP-MODEL.svg in FOLDER for the five models on both networks, in some minutes. With --simulate every step is run
packet by packet, too. Ends with exit code 1 if a median error is above 10 %, a correlation below 0.95, or a step takes more
than 5 % more or less than planned.
"""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CHIPS = (("all-to-all", "ipu-pod4-hbm"), ("mesh", "ipu-pod4-mesh"))
MODELS = ("llama-2-13b", "gemma-2-27b", "opt-30b", "llama-2-70b", "dit-xl")


def planned(tessera, chip, model, picture, simulates):
    command = [tessera, "chip", "plan", HERE / f"{model}.json", "--chip", HERE.parents[1] / f"machines/chips/{chip}.toml"]
    command += ["--batch", "32", "--accuracy", picture, "--json"]
    if model != "dit-xl":
        command += ["--sequence", "2048"]
    if simulates:
        command += ["--simulate"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    simulates = "--simulate" in sys.argv
    arguments = [each for each in sys.argv[1:] if each != "--simulate"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    tessera, folder = arguments[0], pathlib.Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    print("| network, model | rows | executes: median error, correlation | preloads: the same |" + (" step |" if simulates else ""))
    print("|-|-|-|-|" + ("-|" if simulates else ""))
    holds = True
    for network, chip in CHIPS:
        for model in MODELS:
            plan = planned(tessera, chip, model, folder / f"figure-12-{network}-{model}.svg", simulates)
            cells = []
            for kind in ("executes", "preloads"):
                error, correlation = (plan["accuracy"][kind][key] for key in ("median_error", "correlation"))
                cells.append(f"{100 * error:.1f} %, {correlation:.3f}")
                holds = holds and error <= 0.10 and correlation >= 0.95
            if simulates:
                more = plan["simulated"] / plan["total"] - 1
                cells.append(f"{100 * more:+.1f} %")
                holds = holds and abs(more) <= 0.05
            rows = len(plan["accuracy"]["operators"])
            print(f"| {network}, {model} | {rows} | {' | '.join(cells)} |", flush=True)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
