"""What the search for layouts loses against the best layouts, on this machine.

    python3 bench/regret                       # measures the machine, then what a block does with 1, 8 and 512 rows
    python3 bench/regret --machine host.toml --only "Q4_K"

Every operator of a block of Qwen3-0.6B, products with several kinds of weights, is compiled with its tensors in every layout that the
planner and the verifier let pass (as by `tessera compile --plan`), and as the search has it; those that are not far off run in turns,
and then the choice and the fastest other one in 27 turns of their own, which are taken up to eight times, until the confidence interval
of the median (99 %) lies on one side of 1.05. The regret is the time of the choice by that of the other, the median over these turns:
at most 1.05 is a good choice, and much less than 1 that nothing else is near. The table goes to stdout, table and raw times to
build/bench/, which git ignores. Needs a build with -DTESSERA_BENCH=ON; as root it runs above what else the machine does.
"""

import collections
import re
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import kernel_runs  # noqa: E402


def microseconds(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1e6:.4g}"


def table(instances: list[dict], good: float) -> tuple[str, dict]:
    text = "| operator | in turns, slower, not run, refused | chosen | us | fastest other | us | chosen by other | turns |\n"
    text += "|-|-|-|-|-|-|-|-|\n"
    ratios = []
    for each in instances:
        choice, other = each["chosen"], each.get("fastest_other")
        counts = f"{len(each.get('in_turns', [])) + 1}, {len(each.get('slower', []))}, {each['not_run']}, {len(each['refused'])}"
        text += f"| {each['name']} | {counts} | {choice['layouts']} |"
        if not other:
            text += f" {microseconds(choice['turn_seconds'])} | none within twice | | | |\n"
            ratios.append(0.0)
            continue
        seconds, others = other["chosen_seconds"], other["other_seconds"]
        ratios.append(statistics.median(a / b for a, b in zip(seconds, others)))
        text += f" {microseconds(seconds)} | {other['layouts']} | {microseconds(others)} | {ratios[-1]:.3f} | {len(seconds)} |\n"
    return text, {"instances": len(ratios), "worst": max(ratios), "within_5_percent": sum(each <= good for each in ratios)}


def reasons(instances: list[dict]) -> str:
    """Why layouts were refused, without the numbers and names of the case."""
    counts = collections.Counter()
    for each in instances:
        for reason in each["refused"]:
            counts[re.sub(r"\d+", "N", re.sub(r"`[^`]*`", "`..`", reason.split(": ", 1)[-1]))] += 1
    if not counts:
        return ""
    return "\n| refused | reason |\n|-|-|\n" + "".join(f"| {count} | {reason} |\n" for reason, count in counts.most_common())


def main() -> None:
    options = kernel_runs.parser("regret", __doc__).parse_args()
    result = kernel_runs.run("regret", options)
    text, summary = table(result["instances"], result["good"])
    head = f"{summary['within_5_percent']} of {summary['instances']} choices within 5 % of the fastest layouts, "
    head += f"the worst takes {summary['worst']:.3f} times its time"
    kernel_runs.keep("regret", options, head, text + reasons(result["instances"]), {"summary": summary} | result)


if __name__ == "__main__":
    main()
