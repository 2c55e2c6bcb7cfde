#!/usr/bin/env bash
# transformers 5.24.0, torch 2.6.0, both on a CPU. Situation: a Mamba-2 configuration limits the time step (`time_step_limit`), a text is
# read whole and token by token with the cache. Guess: both give the same logits, up to rounding. Seen: they do without a limit; with one
# they differ, since only whole texts are limited, so that generated tokens follow another model than their prompt.
source "$(dirname "$0")/setup.sh"
install torch==2.6.0 transformers==5.24.0
expect $'(0.0, inf) same\n(0.0, 0.02) differ' <<'PYTHON'
import torch
from transformers import Mamba2Config, Mamba2ForCausalLM

for limit in ((0.0, float("inf")), (0.0, 0.02)):
    torch.manual_seed(0)
    config = Mamba2Config(vocab_size=61, hidden_size=32, num_hidden_layers=2, num_heads=8, head_dim=8, expand=2, state_size=8,
                          n_groups=1, chunk_size=4, time_step_limit=limit)
    model = Mamba2ForCausalLM(config).eval().double()
    ids = torch.randint(0, 61, (1, 12))
    with torch.no_grad():
        whole = model(ids, use_cache=False).logits[0]
        cache, rows = None, []
        for t in range(ids.shape[1]):
            step = model(ids[:, t : t + 1], cache_params=cache, use_cache=True)
            cache = step.cache_params
            rows.append(step.logits[0, -1])
    difference = float((whole - torch.stack(rows)).abs().max() / (whole.max() - whole.min()))
    print(limit, "same" if difference < 1e-5 else "differ" if difference > 1e-3 else difference)
PYTHON
