#!/usr/bin/env python3
"""What a model computes with where its settings say nothing: facts for default_settings_test.cpp, printed as JSON.

Usage: make.py > transformers-VERSION.json   (needs transformers, but no torch; development only)
       make.py --saved ../../../architectures > saved-VERSION.jsonl

Each class of HuggingFace transformers is made with no setting at all, and asked for what its code then reads. The
values are resolved: the width of a head is a number also where the class divides for it. The defaults of llama.cpp are
in llama.cpp.json beside this script; they were read in its sources, llama-hparams.h and load_arch_hparams of each model.

With --saved: the config.json of each architecture that has a text, as this version writes it, a line each. What is published
was written by one version or another, with all settings that its class had then.
"""

import json
import sys
import tempfile
from pathlib import Path

import transformers
from transformers import CONFIG_MAPPING, AutoConfig

KINDS = ["llama", "mistral", "qwen2", "qwen3", "qwen3_moe", "mixtral", "gemma2", "gemma3_text", "phi3", "smollm3", "olmo2",
         "opt", "gpt2"]  # fmt: skip


def theta(config, layer_type):
    """Of version 5 in `rope_parameters`, before in settings of their own."""
    parameters = getattr(config, "rope_parameters", None)
    if parameters is None:
        name = "rope_local_base_freq" if layer_type == "sliding_attention" else "rope_theta"
        return getattr(config, name, None)
    return parameters.get(layer_type, parameters).get("rope_theta")


def facts(kind):
    config = AutoConfig.for_model(kind)
    get = lambda *names: next((v for n in names if (v := getattr(config, n, None)) is not None), None)  # noqa: E731
    hidden, heads, layers = get("hidden_size"), get("num_attention_heads"), get("num_hidden_layers")
    window = get("sliding_window") or 0
    types = getattr(config, "layer_types", None)
    result = {
        "vocabulary": get("vocab_size"),
        "hidden": hidden,
        "feed_forward": get("intermediate_size", "ffn_dim", "n_inner") or 4 * hidden,
        "layers": layers,
        "heads": heads,
        "cache_heads": get("num_key_value_heads") or heads,
        "head_width": get("head_dim") or hidden // heads,
        "positions": get("max_position_embeddings"),
        # torch.nn.LayerNorm has 1e-5 where a class hands it none.
        "epsilon": get("rms_norm_eps", "layer_norm_epsilon") or 1e-5,
        "activation": get("hidden_activation", "hidden_act", "activation_function"),
        "is_tied": config.tie_word_embeddings,
        "window": window,
        "windowed": [window > 0 and (types is None or types[i] == "sliding_attention") for i in range(layers)],
        "attention_scale": get("query_pre_attn_scalar") and config.query_pre_attn_scalar**-0.5,
        "logits_cap": get("final_logit_softcapping") or 0,
        # The class of Gemma 3 keeps the setting and does not read it.
        "attention_cap": get("attn_logit_softcapping") or 0,
        "has_attention_bias": bool(get("attention_bias")),
        "rope_base": theta(config, "full_attention"),
        "local_rope_base": theta(config, "sliding_attention") if kind == "gemma3_text" else None,
        "rotated": getattr(config, "no_rope_layers", None),
        "experts": get("num_local_experts", "num_experts") or 0,
        "experts_chosen": get("num_experts_per_tok") or 0,
        "expert_width": get("moe_intermediate_size") or (get("num_local_experts") and config.intermediate_size) or 0,
        "original_context": get("original_max_position_embeddings"),
    }
    if result["experts"]:
        # The class of Mixtral divides by the sum whatever the setting says.
        result["shares_of_chosen"] = bool(getattr(config, "norm_topk_prob", kind == "mixtral"))
    return result


def print_saved(texts):
    for kind in sorted(path.stem for path in Path(texts).glob("*.arch")):
        if kind not in CONFIG_MAPPING:
            continue
        with tempfile.TemporaryDirectory() as folder:
            AutoConfig.for_model(kind).save_pretrained(folder)
            saved = json.loads((Path(folder) / "config.json").read_text())
        del saved["transformers_version"]
        print(json.dumps(saved, separators=(",", ":"), sort_keys=True))


if __name__ == "__main__" and sys.argv[1:2] == ["--saved"]:
    print_saved(sys.argv[2])
elif __name__ == "__main__":
    classes = {kind: facts(kind) for kind in KINDS}
    lines = [f"  {json.dumps(kind)}: {json.dumps(values)}" for kind, values in classes.items()]
    print('{"made with": ' + json.dumps(f"transformers {transformers.__version__}") + ', "classes": {')
    print(",\n".join(lines) + "\n}}")
