"""What is printed of the raw times."""

import statistics

PROGRAMS = ("tessera", "llama")


def quartiles(values: list[float]) -> tuple[float, float, float]:
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def limit(run: dict, threads: int, what: str) -> float:
    """Of the two programs that measured the machine beside this run, the one that found it faster."""
    own = statistics.median(limits[what] for limits in run["tessera"]["limits"])
    return max(own, run["limits"][what].get(threads, 0)) if "limits" in run else own


def bytes_moved(tessera: dict) -> int:
    return tessera["weight_bytes"] + tessera["cache_bytes_read"] + tessera["cache_bytes_written"]


LIMITED_BY = {"decode": "bytes_per_second", "prefill": "multiply_adds_per_second"}


def speeds(cell: dict, program: str) -> list[float]:
    """Tokens per second, of every run."""
    return [cell["tokens"] / seconds for run in cell["runs"] for seconds in run[program]["seconds"]]


def row(cell: dict) -> list[str]:
    runs = cell["runs"]
    tessera, llama = (quartiles(speeds(cell, program)) for program in PROGRAMS)
    seconds = {program: [statistics.median(run[program]["seconds"]) for run in runs] for program in PROGRAMS}
    ratios = quartiles([llama / tessera for tessera, llama in zip(seconds["tessera"], seconds["llama"])])
    is_decode = cell["kind"] == "decode"
    amount = bytes_moved(runs[0]["tessera"]) if is_decode else runs[0]["tessera"]["multiply_adds"]
    others = statistics.median(max(run[program]["others"] for program in PROGRAMS) for run in runs)
    limits = [limit(run, cell["threads"], LIMITED_BY[cell["kind"]]) for run in runs]

    def share(program: str) -> str:
        return f"{100 * statistics.median(amount / each / limit for each, limit in zip(seconds[program], limits)):.0f} %"

    return [
        cell["model"], str(cell["threads"]), cell["test"],
        f"{tessera[1]:.2f}", f"{tessera[0]:.2f} .. {tessera[2]:.2f}", f"{llama[1]:.2f}", f"{llama[0]:.2f} .. {llama[2]:.2f}",
        f"{ratios[1]:.2f}", f"{ratios[0]:.2f} .. {ratios[2]:.2f}",
        share("tessera"), share("llama"), f"{statistics.median(limits) / 1e9:.0f} {'GB/s' if is_decode else 'GFLOP/s F32'}",
        f"{100 * others:.0f} %",
    ]  # fmt: skip


HEAD = ["model", "threads", "test", "tessera t/s", "quartiles", "llama.cpp t/s", "quartiles", "ratio", "quartiles",
        "tessera", "llama.cpp", "of", "others"]  # fmt: skip


def table(cells: list[dict]) -> str:
    """Markdown. Speeds are medians of all times, ratios and shares medians over the pairs of values from the same pair."""
    rows = [HEAD] + [row(cell) for cell in cells if cell["runs"]]
    widths = [max(len(line[column]) for line in rows) for column in range(len(HEAD))]
    lines = ["| " + " | ".join(text.ljust(width) for text, width in zip(line, widths)) + " |" for line in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines) + "\n"


def scaling_table(cells: list[dict]) -> str:
    """How much faster Tessera is with more threads than with the fewest, and the machine's limits beside them."""
    lines = []
    for cell in cells:
        few = next(other for other in cells if (other["model"], other["test"]) == (cell["model"], cell["test"]))
        pairs = list(zip(few["runs"], cell["runs"]))
        if cell is few or not pairs:
            continue
        what = LIMITED_BY[cell["kind"]]
        times = [statistics.median(a["tessera"]["seconds"]) / statistics.median(b["tessera"]["seconds"]) for a, b in pairs]
        limits = [limit(b, cell["threads"], what) / limit(a, few["threads"], what) for a, b in pairs]
        low, middle, high = quartiles([100 * time / each for time, each in zip(times, limits)])
        lines.append(f"{cell['model']}, {cell['test']}: with {cell['threads']} threads {statistics.median(times):.2f} times "
                     f"as fast as with {few['threads']}, the limits {statistics.median(limits):.2f} times: "
                     f"{middle:.0f} % (quartiles {low:.0f} .. {high:.0f})")  # fmt: skip
    return "\n".join(lines) + ("\n" if lines else "")


def gemm_table(gemms: list[dict]) -> str:
    lines = []
    for gemm in gemms:
        rates = [gemm["multiply_adds"] / seconds / 1e9 for seconds in gemm["seconds"]]
        low, middle, high = quartiles(rates)
        lines.append(f"oneDNN, the products of a layer of {gemm['shape']} with {gemm['rows']} rows, {gemm['type']}, "
                     f"{gemm['threads']} thread(s): {middle:.0f} GFLOP/s (quartiles {low:.0f} .. {high:.0f})")  # fmt: skip
    return "\n".join(lines) + ("\n" if lines else "")


def peaks_table(peaks: dict[str, list[float]]) -> str:
    return "".join(f"{name}: {one / 1e9:.0f} GFLOP/s with one thread, {two / 1e9:.0f} with two\n" for name, (one, two) in peaks.items())


def document(result: dict) -> str:
    pairs = max((len(cell["runs"]) for cell in result["cells"]), default=0)
    head = f"{result['date']}, {result['machine']['cpu']}, up to {pairs} pair(s), tessera {result['tessera']}, {result['llama.cpp']}\n"
    parts = [head, table(result["cells"]), scaling_table(result["cells"]), gemm_table(result["gemms"]), peaks_table(result["peaks"])]
    return "\n".join(part for part in parts if part)
