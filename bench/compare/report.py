"""What is printed of the raw times."""

import statistics


def quartiles(values: list[float]) -> tuple[float, float, float]:
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def limit(run: dict, threads: int, what: str) -> float:
    """Of the two programs that measured the machine beside this run, the one that found it faster."""
    own = run["tessera"]["limits"][what]
    return max(own, run["limits"][what].get(threads, 0)) if run.get("limits") else own


def bytes_moved(tessera: dict) -> int:
    return tessera["weight_bytes"] + tessera["cache_bytes_read"] + tessera["cache_bytes_written"]


def row(cell: dict) -> list[str]:
    runs, tokens = cell["runs"], cell["tokens"]
    low, middle, high = quartiles([tokens / run["tessera"]["seconds"] for run in runs])
    llama = [tokens / run["llama"] for run in runs]
    ratios = quartiles([run["llama"] / run["tessera"]["seconds"] for run in runs])
    is_decode = cell["kind"] == "decode"
    what = "bytes_per_second" if is_decode else "multiply_adds_per_second"

    def amount(run: dict) -> float:
        return bytes_moved(run["tessera"]) if is_decode else run["tessera"]["multiply_adds"]

    def share(seconds_of) -> float:
        return 100 * statistics.median(amount(run) / seconds_of(run) / limit(run, cell["threads"], what) for run in runs)

    return [
        cell["model"], str(cell["threads"]), cell["test"], f"{middle:.2f}", f"{low:.2f} .. {high:.2f}",
        f"{statistics.median(llama):.2f}", f"{ratios[1]:.2f}", f"{ratios[0]:.2f} .. {ratios[2]:.2f}",
        f"{share(lambda run: run['tessera']['seconds']):.0f} %", f"{share(lambda run: run['llama']):.0f} %",
        "bandwidth" if is_decode else "F32 peak",
    ]  # fmt: skip


HEAD = ["model", "threads", "test", "tessera t/s", "quartiles", "llama.cpp t/s", "ratio", "quartiles", "tessera", "llama.cpp", "of"]


def table(cells: list[dict]) -> str:
    """Markdown; every number is a median over the pairs, every share and ratio one of values from the same pair."""
    rows = [HEAD] + [row(cell) for cell in cells if cell["runs"]]
    widths = [max(len(line[column]) for line in rows) for column in range(len(HEAD))]
    lines = ["| " + " | ".join(text.ljust(width) for text, width in zip(line, widths)) + " |" for line in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines) + "\n"


def gemm_table(gemms: list[dict]) -> str:
    lines = []
    for gemm in gemms:
        rates = [gemm["multiply_adds"] / seconds / 1e9 for seconds in gemm["seconds"]]
        low, middle, high = quartiles(rates)
        lines.append(f"oneDNN, the products of a layer of {gemm['shape']} with {gemm['rows']} rows, {gemm['type']}, "
                     f"{gemm['threads']} thread(s): {middle:.0f} GFLOP/s (quartiles {low:.0f} .. {high:.0f})")  # fmt: skip
    return "\n".join(lines) + ("\n" if lines else "")
