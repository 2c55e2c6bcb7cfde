"""BERT, GPT-2 and ViT."""

import numpy as np
from builder import Graph

BERT = {  # layers, width, heads, vocabulary, positions
    "bert-small": (4, 512, 8, 30522, 512),
    "bert-base": (12, 768, 12, 30522, 512),
    "bert-large": (24, 1024, 16, 30522, 512),
}
TINY_BERT = (2, 32, 4, 61, 24)
GPT2, TINY_GPT2 = (12, 768, 12, 50257, 1024), (2, 32, 4, 61, 24)
VIT, TINY_VIT = (12, 768, 12, 16, 224, 1000), (2, 32, 4, 4, 16, 10)  # layers, width, heads, patch, image, classes
LEAST = -10000.0  # added to scores of tokens that are not seen


def bert(name, form, is_tiny, seed):
    layers, width, heads, vocabulary, positions = TINY_BERT if is_tiny else BERT[name]
    g = Graph(name, form, seed)
    shape = ["batch", "sequence"]
    ids, types, mask = (g.input(n, "int64", shape) for n in ("input_ids", "token_type_ids", "attention_mask"))
    extent = g.op("Gather", g.op("Shape", ids), g.integers(1), axis=0)  # as exporters find it
    place = g.op("Slice", g.constant([range(positions)], np.int64), g.integers(0), extent, g.integers(1))
    x = g.op("Gather", g.weight(vocabulary, width, scale=0.02), ids)
    x = g.op("Add", x, g.op("Gather", g.weight(2, width, scale=0.02), types))
    x = g.op("Add", x, g.op("Gather", g.weight(positions, width, scale=0.02), place))
    x = g.layer_norm(x, width, 1e-12)
    seen = g.op("Cast", g.op("Unsqueeze", mask, g.integers(1, 2)), to=1)
    hidden = g.op("Mul", g.op("Sub", g.constant(1), seen), g.constant(LEAST))
    for _ in range(layers):
        q, k, v = (g.heads(g.linear(x, width, width), heads, width // heads) for _ in range(3))
        mixed = g.attend(q, k, v, width // heads, hidden)
        x = g.layer_norm(g.op("Add", g.linear(mixed, width, width), x), width, 1e-12)
        inner = g.linear(g.gelu(g.linear(x, width, 4 * width)), 4 * width, width)
        x = g.layer_norm(g.op("Add", inner, x), width, 1e-12)
    g.output(x, "last_hidden_state", "float", ["batch", "sequence", width])
    first = g.op("Gather", x, g.constant(0, np.int64), axis=1)
    g.output(g.op("Tanh", g.linear(first, width, width)), "pooler_output", "float", ["batch", width])
    return g.model()


def gpt2(name, form, is_tiny, seed):
    """With a cache: `past.0.key` and the like are [batch, heads, past, width of a head], `present.0.key` has the new tokens
    behind them, and the mask is of all tokens."""
    has_cache = name == "gpt2-cache"
    layers, width, heads, vocabulary, positions = TINY_GPT2 if is_tiny else GPT2
    head = width // heads
    g = Graph(name, form, seed)
    ids = g.input("input_ids", "int64", ["batch", "sequence"])
    place = g.input("position_ids", "int64", ["batch", "sequence"])
    mask = g.input("attention_mask", "int64", ["batch", "total" if has_cache else "sequence"])
    past = [
        [g.input(f"past.{i}.{kind}", "float", ["batch", heads, "past", head]) for kind in ("key", "value")]
        for i in range(layers if has_cache else 0)
    ]
    table = g.weight(vocabulary, width, scale=0.02)
    x = g.op("Add", g.op("Gather", table, ids), g.op("Gather", g.weight(positions, width, scale=0.02), place))
    seen = g.op("Cast", g.op("Unsqueeze", mask, g.integers(1, 2)), to=1)
    hidden = g.op("Mul", g.op("Sub", g.constant(1), seen), g.constant(LEAST))
    # Token i sees what is not behind place i: a column for each token that there is.
    columns = g.op("Range", g.constant(0, np.int64), g.op("Squeeze", g.op("Gather", g.op("Shape", mask), g.integers(1))),
                   g.constant(1, np.int64))
    later = g.op("Greater", columns, g.op("Unsqueeze", place, g.integers(1, 3)))
    hidden = g.op("Where", later, g.constant(LEAST), hidden)
    present = []
    for i in range(layers):
        both = g.linear(g.layer_norm(x, width), width, 3 * width)
        parts = g.op("Split", both, g.integers(width, width, width), axis=2, outputs=3)
        q, k, v = (g.heads(part, heads, head) for part in parts)
        if has_cache:
            k, v = (g.op("Concat", old, new, axis=2) for old, new in zip(past[i], (k, v)))
            present.append((k, v))
        x = g.op("Add", x, g.linear(g.attend(q, k, v, head, hidden), width, width))
        inner = g.gelu(g.linear(g.layer_norm(x, width), width, 4 * width), "tanh")
        x = g.op("Add", x, g.linear(inner, 4 * width, width))
    logits = g.op("MatMul", g.layer_norm(x, width), g.op("Transpose", table, perm=[1, 0]))
    g.output(logits, "logits", "float", ["batch", "sequence", vocabulary])
    for i, both in enumerate(present):
        for kind, value in zip(("key", "value"), both):
            g.output(value, f"present.{i}.{kind}", "float", ["batch", heads, "total", head])
    return g.model()


def vit(name, form, is_tiny, seed):
    layers, width, heads, patch, image, classes = TINY_VIT if is_tiny else VIT
    tokens = (image // patch) ** 2
    g = Graph(name, form, seed)
    x = g.input("pixel_values", "float", ["batch", 3, image, image])
    extent = g.op("Gather", g.op("Shape", x), g.integers(0), axis=0)
    x = g.conv(x, 3, width, patch, patch, pad=0, bias=True)
    x = g.op("Transpose", g.op("Reshape", x, g.integers(0, width, tokens)), perm=[0, 2, 1])
    shape = g.op("Concat", extent, g.integers(1, width), axis=0)
    first = g.op("Expand", g.weight(1, 1, width, scale=0.02), shape)
    x = g.op("Add", g.op("Concat", first, x, axis=1), g.weight(1, tokens + 1, width, scale=0.02))
    for _ in range(layers):
        normed = g.layer_norm(x, width)
        q, k, v = (g.heads(g.linear(normed, width, width), heads, width // heads) for _ in range(3))
        x = g.op("Add", x, g.linear(g.attend(q, k, v, width // heads), width, width))
        x = g.op("Add", x, g.linear(g.gelu(g.linear(g.layer_norm(x, width), width, 4 * width)), 4 * width, width))
    first = g.op("Gather", g.layer_norm(x, width), g.constant(0, np.int64), axis=1)
    g.output(g.linear(first, width, classes), "logits", "float", ["batch", classes])
    return g.model()
