#!/usr/bin/env bash
# transformers 5.24.0, torch 2.6.0, both on a CPU. Situation: a Falcon of the first kind, whose positions are ALiBi's (`alibi: true`, as
# Falcon-RW has), computes logits with `attn_implementation` "eager" and "sdpa". Guess: both give the same logits, up to rounding, as they
# do with rotary positions. Seen: with ALiBi they differ by more than a hundredth of the range, so that one of the two is another model.
source "$(dirname "$0")/setup.sh"
install torch==2.6.0 transformers==5.24.0
expect $'rotary same\nalibi differ' <<'PYTHON'
import torch
from transformers import FalconConfig, FalconForCausalLM

for positions in ("rotary", "alibi"):
    torch.manual_seed(0)
    config = FalconConfig(vocab_size=71, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, multi_query=False,
                          parallel_attn=False, bias=True, alibi=positions == "alibi")
    weights = FalconForCausalLM(config).state_dict()
    ids = torch.randint(0, 71, (1, 10))
    logits = []
    for attention in ("eager", "sdpa"):
        model = FalconForCausalLM._from_config(config, attn_implementation=attention).eval()
        model.load_state_dict(weights)
        with torch.no_grad():
            logits.append(model(ids).logits[0])
    difference = float((logits[0] - logits[1]).abs().max() / (logits[0].max() - logits[0].min()))
    print(positions, "same" if difference < 1e-5 else "differ" if difference > 1e-2 else difference)
PYTHON
