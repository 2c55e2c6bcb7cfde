"""What the search loses on chains against nests drawn over the whole space, and how far the prices of these are off.

    python3 bench/chains/regret.py                      # by a quick measurement of this machine, as a first compilation has
    python3 bench/chains/regret.py --only G10 --drawn 60 --machine host.toml

Each chain of bench/chains is compiled as the search has it, by nests stated by hand, by the cheapest of 300 drawn ones, and by others
drawn among those with a price of at most six times theirs. All run in turns. The regret is the time of the search's choice by that of
the fastest; a time is the least of the rounds' medians. Table and times go to build/bench/, which git ignores. Needs NumPy.
"""

import json
import random
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import kernel_runs  # noqa: E402
from chain_programs import Chain, Own, chains, one_by_one, program, write_arrays  # noqa: E402

DRAWS = 300
CHEAPEST = 4
MOST_TIMES = 6.0  # a drawn nest may cost, of the cheapest one
BY_HAND = ["m:96 n:64", "m:96 n:128", "m:192 n:128", "m:48 n:256", "m:96", "m:24"]

Plan = tuple[str, ...]  # nests


def tiles(extent: int, multiple: int) -> list[int]:
    sizes = [2**i for i in range(14)] + [12 * 2**i for i in range(9)]
    return [size for size in sizes if size < extent and size % multiple == 0]


def loops(axes: list[tuple[str, int, int]], draw: random.Random) -> str:
    chosen = [(x, draw.choice(sizes)) for x, extent, lanes in axes if (sizes := tiles(extent, lanes)) and draw.random() < 0.6]
    draw.shuffle(chosen)
    return " ".join(f"{x}:{tile}" for x, tile in chosen)


def with_rest(chain: Chain, nests: list[str]) -> Plan:
    batch = "b:1 " if chain.batch > 1 else ""
    return tuple(batch + nest for nest in nests + (["m:64 { normalise }"] if chain.is_attention else []))


def drawn_plan(chain: Chain, draw: random.Random) -> Plan:
    rows, columns, values = ("m", chain.m, 1), ("n", chain.n, 16), ("h", chain.h, 16)
    kind = draw.choice(["apart", "merged", "merged", "deep"])
    if kind == "apart":
        return with_rest(chain, [f"{loops([rows, columns], draw)} {{ first }}", f"{loops([rows, values], draw)} {{ second }}"])
    outer, inner = loops([rows, columns], draw), loops([rows, columns], draw)
    first = f"{inner} {{ first }}" if kind == "deep" and inner else "first"
    return with_rest(chain, [f"{outer} {{ {first}; second }}"])


def stated(plan: Plan) -> str:
    return "".join(f'[[kernel]]\nnest = "{nest}"\n' for nest in plan)


def prices(tool: list, folder: Path, plans: list[Plan]) -> dict[Plan, float]:
    """Seconds of the legal ones."""
    nests = sorted({nest for plan in plans for nest in plan})
    (folder / "drawn.toml").write_text(stated(tuple(nests)))
    command = [tool[0], "price", folder / "chain.ir", "--kernels", folder / "drawn.toml", "--json", *tool[1:]]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    seconds = {each["stated"]: each["seconds"] for each in answer["nests"] if each.get("seconds") is not None}
    return {plan: sum(seconds[nest] for nest in plan) for plan in plans if all(nest in seconds for nest in plan)}


def measure(chain: Chain, options, folder: Path, machine: Path) -> dict:
    draw = random.Random(options.seed)
    tool = [options.build / "tessera", "--workers", str(options.threads), "--machine", machine]
    _, files = write_arrays(chain, folder)
    (folder / "chain.ir").write_text(program(chain, options.type))
    by_hand = [with_rest(chain, [f"{loops} {{ first; second }}"]) for loops in BY_HAND]
    price = prices(tool, folder, list(dict.fromkeys(by_hand + [drawn_plan(chain, draw) for _ in range(DRAWS)])))
    order = sorted(price, key=price.get)
    chosen = list(dict.fromkeys(order[:CHEAPEST] + [plan for plan in by_hand if plan in price]))
    rest = [plan for plan in order if plan not in chosen and price[plan] < MOST_TIMES * price[order[0]]]
    draw.shuffle(rest)
    forms: dict[str, list] = {"searched": [], "effort 0": ["--search-effort", "0"], "apart": ["--kernels", folder / "apart.toml"]}
    (folder / "apart.toml").write_text(one_by_one(chain))
    predicted = {}
    for number, plan in enumerate(chosen + rest[: options.drawn]):
        kernels = folder / f"{number}.toml"
        kernels.write_text(stated(plan))
        forms[" ".join(plan)] = ["--kernels", kernels]
        predicted[" ".join(plan)] = price[plan]
    runs = {}
    for number, (name, arguments) in enumerate(forms.items()):
        artefact = folder / f"{number}.tsr"
        subprocess.run([tool[0], "compile", folder / "chain.ir", "-q", "-o", artefact, *tool[1:], *arguments], check=True)
        runs[name] = Own(tool[0], artefact, files)
    times = max(5, min(60, int(0.06 * 100e9 / chain.operations)))
    rounds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(options.rounds):
        for name, run in runs.items():
            rounds[name].append(run(times))
    return {"name": chain.name, "seconds": {name: min(each) for name, each in rounds.items()}, "predicted": predicted}


def row(result: dict) -> tuple[str, float]:
    seconds, predicted = result["seconds"], result["predicted"]
    fastest = min(seconds, key=seconds.get)
    own = seconds["searched"]
    measured = [seconds[name] for name in predicted]
    error = statistics.median(abs(predicted[name] / seconds[name] - 1) for name in predicted)
    correlation = kernel_runs.correlation(list(predicted.values()), measured)
    text = f"| {result['name']} | {own * 1e6:.0f} | {seconds['effort 0'] / own:.2f} | {seconds['apart'] / own:.2f} | `{fastest}` "
    return text + f"| {own / seconds[fastest]:.3f} | {error * 100:.0f} % | {correlation:.2f} |\n", own / seconds[fastest]


def main() -> None:
    parser = kernel_runs.parser("chains/regret.py", __doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--type", choices=["f32", "bf16"], default="f32", help="of the operands")
    parser.add_argument("--drawn", type=int, default=8, help="plans that are timed besides those by hand and the cheapest")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    kernel_runs.take_priority()
    folder = options.build / "chains-regret"
    folder.mkdir(parents=True, exist_ok=True)
    machine = options.machine or folder / "quick.toml"
    if not options.machine:
        subprocess.run([options.build / "tessera", "machine", "--refresh", "--quick", "--out", machine], check=True)
    small = [Chain(f"M=N={n} K=H=32", 1, n, n, 32, 32) for n in (1024, 2048)]
    wanted = [chain for chain in chains() + small if options.only in chain.name]
    if not wanted:
        parser.error(f"no chain has {options.only!r} in its name; there are {', '.join(chain.name for chain in chains() + small)}")
    results = []
    for chain in wanted:
        print(f"\r{chain.name:40}", end="", file=sys.stderr)
        results.append(measure(chain, options, folder, machine))
    print(file=sys.stderr)
    text = "| chain | us | effort 0 / searched | apart / searched | fastest | regret | median error | rank correlation |\n" + "|-" * 8 + "|\n"
    rows = [row(result) for result in results]
    regrets = [regret for _, regret in rows]
    good, fair = (sum(regret <= most for regret in regrets) for most in (1.05, 1.15))
    head = f"{options.type}, {options.threads} threads: {good} of {len(regrets)} within 5 %, {fair} within 15 %, worst {max(regrets):.2f}"
    kernel_runs.keep("chains-regret", options, head, text + "".join(each for each, _ in rows), {"results": results})


if __name__ == "__main__":
    main()
