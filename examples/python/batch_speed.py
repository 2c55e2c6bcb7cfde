"""Tokens per second over the number of texts that are computed at one time: batch_speed.py [MODEL] [--out PICTURE]

A step reads all weights once, however many texts it continues; so batches are nearly free until computing takes as long
as reading. Cells (# %%) run one by one in an editor that knows them.
"""

# %% What to measure
import argparse
import time

import tessera

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("model", nargs="?", help="artefact, HuggingFace folder or GGUF file; default: the one that ships")
parser.add_argument("--batches", type=int, nargs="+", default=[1, 2, 4, 8, 16], help="numbers of texts")
parser.add_argument("--tokens", type=int, default=64, help="tokens of each text")
parser.add_argument("--out", help="write a picture there instead of showing it; needs matplotlib")
parser.add_argument("--text", action="store_true", help="print a table, also where matplotlib is there")
options = parser.parse_args()

# %% An engine computes many texts at one time. Its steps are the fastest that there are for them.
engine = tessera.Engine(options.model, context=16 + options.tokens, sequences=max(options.batches), batch_invariant=False)


def tokens_per_second(batch: int) -> float:
    """Of `batch` texts together, after one short text that warms up."""
    prompts = [engine.encode("1")[:1] + [3 + i] for i in range(batch)]
    engine.generate(prompts, max_tokens=2, past_end=True)
    start = time.perf_counter()
    texts = engine.generate(prompts, max_tokens=options.tokens, past_end=True)
    return sum(len(text.ids) for text in texts) / (time.perf_counter() - start)


speeds = [tokens_per_second(batch) for batch in options.batches]

# %% The picture, or a table where matplotlib is missing
try:
    if options.text:
        raise ImportError
    import matplotlib

    if options.out:
        matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    axes.plot(options.batches, speeds, marker="o")
    axes.set(xlabel="texts at one time", ylabel="tokens per second, all texts", title=engine.name, ylim=(0, None))
    axes.grid(alpha=0.3)
    if options.out:
        figure.savefig(options.out, dpi=150)
    else:
        plt.show()
except ImportError:
    print(f"# {engine.name}: texts, tokens per second")
    for batch, speed in zip(options.batches, speeds):
        print(f"{batch:5d} {speed:9.1f}  {'#' * round(50 * speed / max(speeds))}")
