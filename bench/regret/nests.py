"""What the search for kernels loses against choices drawn over its whole space, by the log of `tessera tune --samples`.

    build/release/tessera tune model.gguf --samples 60 --log log.json
    python3 bench/regret/nests.py log.json

For each kernel: the time of the search's choice, of the fastest one, and their ratio, the regret; and the rank correlation (Spearman)
of estimated and measured times over all choices. The last line has the rank correlation over all kernels together.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kernel_runs import correlation  # noqa: E402


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        kernels = json.load(file)["kernels"]
    print("| kernel | choices | search us | fastest us | regret | estimate us | rank correlation |\n|-|-|-|-|-|-|-|")
    everything: tuple[list[float], list[float]] = ([], [])
    regrets = []
    for kernel in kernels:
        choices = kernel["choices"]
        estimated = [choice["estimated_us"] for choice in choices]
        measured = [choice["measured_us"] for choice in choices]
        search = next((choice for choice in choices if choice.get("planned")), None)
        if search is None:
            continue  # it could not be compiled alone
        regrets.append(search["measured_us"] / min(measured))
        everything[0].extend(estimated)
        everything[1].extend(measured)
        name = f"{kernel['specialisation']}: {' '.join(kernel['operators'])}"
        print(
            f"| {name} | {len(choices)} | {search['measured_us']:.4g} | {min(measured):.4g} | {regrets[-1]:.3f} "
            f"| {search['estimated_us']:.4g} | {correlation(estimated, measured):.2f} |"
        )
    good = sum(regret <= 1.05 for regret in regrets)
    print(f"\n{good} of {len(regrets)} within 5 %; rank correlation over all {correlation(*everything):.3f}")


if __name__ == "__main__":
    main()
