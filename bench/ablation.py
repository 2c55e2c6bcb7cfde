"""What each part of the searches brings: programs compiled with one part left out at a time, on this machine.

    python3 bench/ablation.py                                  # the chains of bench/chains and the shipped model
    python3 bench/ablation.py --only G10 --measure             # with measured times, in turns
    python3 bench/ablation.py --only SmolLM2 model.gguf        # a checkpoint, too
    python3 bench/ablation.py --ablations "--without layouts" "--regions 1 --without growth"

Planning is the time of the passes that search, nothing being kept from earlier. Predicted are the times of `inspect --costs`, by the
same price for all rows, so that prices of other searches can be compared; there are none by roofs, which predict nothing: give
`--machine` the file of `tessera machine --measure`. Measured is the least of the rounds' medians: of a chain one
call, of a model a prompt and a token. Table and times go to build/bench/, which git ignores. Needs NumPy.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "chains"))

import kernel_runs  # noqa: E402
from chain_programs import Own, chains, program, write_arrays  # noqa: E402

PASSES = ("rewrite", "layouts", "plan")
PROMPT, TOKENS = 128, 16
TABLE = ["--search-effort 0", "--cost nncase", "--cost mcfuser", "--cost roofline", "--regions 1 --without growth", "--regions 2 --without growth",
         "--regions 3 --without growth", "--regions 4 --without growth", "--regions 6 --without growth", "--regions 1", "--regions 6",
         "--without padded-tiles --without large-tiles --without outer-sums --without reorder"]  # fmt: skip


def parts(tessera: Path) -> list[str]:
    """The names that --without takes, from the tool's own list."""
    refused = subprocess.run([tessera, "compile", "none.ir", "-o", "none.tsr", "--without", "?"], capture_output=True, text=True)
    return re.search(r"\{(.*?)\}", refused.stderr)[1].split(",")


class Model:
    """A checkpoint: seconds of a prompt and of a token."""

    def __init__(self, path: Path) -> None:
        self.name, self.source = path.stem, path

    def run(self, tessera: Path, artefact: Path) -> list[float]:
        command = [tessera, "bench", artefact, "--prefill", str(PROMPT), "--decode", str(TOKENS), "--repeat", "3", "--json", "-"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return [statistics.median(case["seconds"]) for case in json.loads(done.stdout)["cases"]]


class Program:
    """A chain: seconds of a call."""

    def __init__(self, chain, folder: Path, type: str) -> None:
        self.name, self.chain = chain.name, chain
        self.folder = folder / re.sub(r"\W+", "-", chain.name)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.source = self.folder / "chain.ir"
        self.source.write_text(program(chain, type))
        _, self.files = write_arrays(chain, self.folder)

    def run(self, tessera: Path, artefact: Path) -> list[float]:
        times = max(5, min(60, int(0.06 * 100e9 / self.chain.operations)))
        return [Own(tessera, artefact, self.files)(times)]


def compiled(source: Path, artefact: Path, ablation: str, options, folder: Path) -> dict:
    """Seconds of planning, and the predicted ones at each point of the graph."""
    cache = folder / "cache"
    shutil.rmtree(cache / "tessera", ignore_errors=True)  # plans are kept there
    own_cache = os.environ | {"XDG_CACHE_HOME": str(cache.resolve())}
    tool = [options.build / "tessera"]
    command = ["compile", source, "-o", artefact, "--machine", options.machine, "--workers", str(options.threads), *ablation.split()]
    done = subprocess.run(tool + command, check=True, capture_output=True, text=True, env=own_cache)
    planning = sum(float(seconds) for name, seconds in re.findall(r"^  (\S+) +([\d.]+) s", done.stderr, re.M) if name in PASSES)
    said = subprocess.run([*tool, "inspect", artefact, "--json", "--costs", "--machine", options.machine], check=True, capture_output=True, text=True)
    steps = json.loads(said.stdout)["costs"]["steps"]
    return {"planning": planning, "predicted": {step["point"]: step["seconds"] for step in steps}}


def measure(each, options, folder: Path, ablations: list[str]) -> dict:
    rows = {}
    for number, ablation in enumerate(["", *ablations]):
        print(f"\r{each.name} {ablation:60}", end="", file=sys.stderr)
        artefact = folder / f"{number}.tsr"
        rows[ablation] = compiled(each.source, artefact, ablation, options, folder)
        rows[ablation]["plan"] = subprocess.run([options.build / "tessera", "inspect", artefact, "--plan"], check=True, capture_output=True, text=True).stdout
    if options.measure:
        # Equal plans are one program, which runs once a round.
        first = {}
        for number, (ablation, row) in enumerate(rows.items()):
            first.setdefault(row["plan"], (number, []))
            row["runs"] = first[row["plan"]][1]
        for _ in range(options.rounds):
            for number, runs in first.values():
                runs.append(each.run(options.build / "tessera", folder / f"{number}.tsr"))
        for row in rows.values():
            row["measured"] = [min(times) for times in zip(*row.pop("runs"), strict=True)]
    return {"name": each.name, "rows": rows}


def ratio(of: list[float], by: list[float]) -> float:
    return statistics.geometric_mean(one / other for one, other in zip(of, by, strict=True))


def table(results: list[dict], ablations: list[str]) -> str:
    """By ablation the geometric means over all programs, times of it by those of the full search, and the worst."""
    text = "| left out | planning | predicted | worst | measured | worst | same plan |\n|-|-|-|-|-|-|-|\n"
    for ablation in ablations:
        columns: dict[str, list[tuple[float, str]]] = {"planning": [], "predicted": [], "measured": []}
        same = 0
        for each in results:
            full, row = each["rows"][""], each["rows"][ablation]
            same += full["plan"] == row["plan"]
            columns["planning"].append((row["planning"] / full["planning"], each["name"]))
            if row["predicted"]:
                columns["predicted"].append((ratio(list(row["predicted"].values()), list(full["predicted"].values())), each["name"]))
            if "measured" in row:
                columns["measured"].append((ratio(row["measured"], full["measured"]), each["name"]))
        cells = []
        for name, values in columns.items():
            cells.append(f"{statistics.geometric_mean(value for value, _ in values):.3f}" if values else "")
            if name != "planning":
                worst = max(values, default=None)
                cells.append(f"{worst[0]:.2f} ({worst[1]})" if worst else "")
        text += f"| `{ablation}` | {' | '.join(cells)} | {same} of {len(results)} |\n"
    return text


def main() -> None:
    parser = kernel_runs.parser("ablation.py", __doc__)
    parser.add_argument("models", nargs="*", type=Path, help="checkpoints beside the shipped model")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--type", choices=["f32", "bf16"], default="f32", help="of the operands of chains")
    parser.add_argument("--measure", action="store_true", help="run what was compiled, in turns")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ablations", nargs="+", help="flags of `tessera compile`, each an argument; default: every part, and a table of others")
    options = parser.parse_args()
    folder = options.build / "ablation"
    folder.mkdir(parents=True, exist_ok=True)
    options.machine = options.machine or folder / "quick.toml"
    if not options.machine.exists():
        subprocess.run([options.build / "tessera", "machine", "--refresh", "--quick", "--out", options.machine], check=True)
    ablations = options.ablations or [f"--without {part}" for part in parts(options.build / "tessera")] + TABLE
    if options.measure:
        kernel_runs.take_priority()
    subjects = [Program(chain, folder, options.type) for chain in chains() if options.only in chain.name]
    subjects += [Model(path) for path in [kernel_runs.ROOT / "models/tessera-tiny", *options.models] if options.only in path.stem]
    if not subjects:
        parser.error(f"no chain and no model has {options.only!r} in its name")
    results = [measure(each, options, folder, ablations) for each in subjects]
    print(file=sys.stderr)
    head = f"{options.type}, {options.threads} threads, {len(results)} programs: times with a part left out, by those of the full search"
    kernel_runs.keep("ablation", options, head, table(results, ablations), {"results": results})


if __name__ == "__main__":
    main()
