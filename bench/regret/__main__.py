"""What the search for layouts loses against the best layout, on this machine.

    python3 bench/regret                       # measures the machine, then ten products with 1, 8 and 512 rows
    python3 bench/regret --machine host.toml --only "T=8"

Every product of a block of Qwen3-0.6B, with BF16 and with F32 weights, is compiled with its weight in every layout that the planner
and the verifier let pass (as by `tessera compile --plan`), and in the one that the search chooses; those that are not far off run in
turns. The regret is the time of the choice by that of the fastest other layout, the median over the turns: at most 1.05 is a good
choice, and much less than 1 that nothing else is near. The table goes to stdout, everything raw to bench/results/. Needs a build with
-DTESSERA_BENCH=ON; as root it runs above what else the machine does.
"""

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import kernel_runs  # noqa: E402


def ratio(form: dict, other: dict) -> float:
    """Of their times, the median over the turns."""
    return statistics.median(a / b for a, b in zip(form["turn_seconds"], other["turn_seconds"]))


def table(instances: list[dict]) -> tuple[str, dict]:
    text = "| product | layouts in turns, slower, not run, refused | chosen | us | fastest other | us | chosen by other |\n"
    text += "|-|-|-|-|-|-|-|\n"
    ratios = []
    for each in instances:
        choice = each["chosen"][0]
        forced = [form for form in each["forced"] if "is_the_choice" not in form]
        turns = [form for form in forced if "turn_seconds" in form]
        slower, refused = sum(bool(form.get("call_seconds")) for form in forced), sum("refused" in form for form in forced)
        counts = f"{len(turns) + 1}, {slower}, {len(forced) - len(turns) - slower - refused}, {refused}"
        text += f"| {each['name']} | {counts} | {choice['layout']} | {statistics.median(choice['turn_seconds']) * 1e6:.4g} |"
        ratios.append(0.0)
        if turns:
            other = max(turns, key=lambda form: ratio(choice, form))
            ratios[-1] = ratio(choice, other)
            text += f" {other['layout']} | {statistics.median(other['turn_seconds']) * 1e6:.4g} | {ratios[-1]:.3f} |\n"
        else:
            text += " none within twice | | |\n"
    summary = {"instances": len(ratios), "worst": max(ratios), "within_5_percent": sum(each <= 1.05 for each in ratios)}
    return text, summary


def main() -> None:
    options = kernel_runs.parser("regret", __doc__).parse_args()
    result = kernel_runs.run("regret", options)
    text, summary = table(result["instances"])
    head = f"{summary['within_5_percent']} of {summary['instances']} choices within 5 % of the fastest layout, "
    head += f"the worst takes {summary['worst']:.3f} times its time"
    kernel_runs.keep("regret", options, head, text, {"summary": summary} | result)


if __name__ == "__main__":
    main()
