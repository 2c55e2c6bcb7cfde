#!/usr/bin/env python3
"""Logits of HuggingFace transformers for small random checkpoints, one JSON file for each variant beside this script.

Usage: make.py [NAME...]   (needs torch and transformers; development only)

A file says config.json and the shapes of all tensors. Their values follow from their names (`values`), so that the
tests make the same checkpoint without Python. `gguf` says how llama.cpp's converter would write the model: the
metadata, and for each tensor the one that it comes from and what is done to it.
"""

import copy
import json
import pathlib
import re
import sys
from statistics import NormalDist

import numpy as np
import torch
import transformers

# The models compute norms, rotations and the softmax in F32 whatever their type is: here all of it is float64.
torch.float32 = torch.float = torch.float64
torch.Tensor.float = torch.Tensor.double
torch.set_default_dtype(torch.float64)

TOKENS = [(i * 5 + 3) % 23 for i in range(21)]
COMMON = dict(vocab_size=23, max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=None)
LLAMA = dict(COMMON, hidden_size=30, intermediate_size=13, num_hidden_layers=2, num_attention_heads=6,
             num_key_value_heads=2, head_dim=6)  # fmt: skip
GEMMA = dict(LLAMA, head_dim=10, query_pre_attn_scalar=10, sliding_window=5)
PLAIN = dict(COMMON, num_attention_heads=3, num_hidden_layers=2)
LONG = {"rope_type": "longrope", "rope_theta": 100.0, "short_factor": [1.0, 1.25, 1.5], "long_factor": [1.5, 3.0, 7.0]}
PHI3 = dict(LLAMA, hidden_size=36)
del PHI3["head_dim"]

RAW = {"is_raw": True}
VARIANTS = {
    "mistral_window": ("mistral", dict(LLAMA, sliding_window=5), {}),
    "mistral_yarn": ("mistral", dict(LLAMA, sliding_window=None, head_dim=12, rope_parameters={
        "rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0, "original_max_position_embeddings": 16}), {}),
    "llama_gelu": ("llama", dict(LLAMA, hidden_act="gelu"), {}),
    "qwen3_yarn": ("qwen3", dict(LLAMA, head_dim=12, rope_parameters={
        "rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0, "original_max_position_embeddings": 16,
        "beta_fast": 8.0, "beta_slow": 2.0, "attention_factor": 1.5}), {}),
    "gemma2": ("gemma2", dict(GEMMA, num_hidden_layers=3, attn_logit_softcapping=4.0, final_logit_softcapping=6.0), {}),
    "gemma2_scale": ("gemma2", dict(GEMMA, query_pre_attn_scalar=7, attn_logit_softcapping=None), {}),
    "gemma3": ("gemma3_text", dict(GEMMA, num_hidden_layers=7, rope_parameters={
        "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 1000.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 50.0}}), {}),
    # Caches that layers share, wider heads whose pairs turn in part, inputs of each layer.
    "gemma4": ("gemma4_text", dict(LLAMA, num_hidden_layers=4, layer_types=["sliding_attention", "full_attention"] * 2, sliding_window=5,
        global_head_dim=8, hidden_size_per_layer_input=4, vocab_size_per_layer_input=23, num_kv_shared_layers=2,
        use_double_wide_mlp=True, final_logit_softcapping=6.0, rope_parameters={
            "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.5, "rope_theta": 1000.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 50.0}}), {}),
    # Keys that are values, experts beside the feed-forward.
    "gemma4_moe": ("gemma4_text", dict(LLAMA, num_hidden_layers=2, layer_types=["sliding_attention", "full_attention"], sliding_window=5,
        global_head_dim=8, num_global_key_value_heads=1, attention_k_eq_v=True, hidden_size_per_layer_input=0, enable_moe_block=True,
        num_experts=4, top_k_experts=2, moe_intermediate_size=9), {}),
    "gemma3n": ("gemma3n_text", dict(LLAMA, intermediate_size=[13] * 4, num_hidden_layers=4,
        layer_types=["sliding_attention", "full_attention"] * 2, sliding_window=5, hidden_size_per_layer_input=4,
        vocab_size_per_layer_input=23, num_kv_shared_layers=2, laurel_rank=64, activation_sparsity_pattern=[0.9, 0.5, 0.3, 0.2]), {}),
    "olmo2": ("olmo2", {k: v for k, v in dict(LLAMA, hidden_size=24, num_attention_heads=4).items() if k != "head_dim"}, {}),
    "phi3_window": ("phi3", dict(PHI3, sliding_window=7), {}),
    "phi3_long": ("phi3", dict(PHI3, rope_parameters=dict(LONG, original_max_position_embeddings=8),
                               original_max_position_embeddings=8), {}),
    "phi3_short": ("phi3", dict(PHI3, rope_parameters=dict(LONG, original_max_position_embeddings=32),
                                original_max_position_embeddings=32), {"context": 32}),
    "smollm3": ("smollm3", {k: v for k, v in dict(LLAMA, hidden_size=36, num_hidden_layers=5).items() if k != "head_dim"}, {}),
    "qwen3_moe": ("qwen3_moe", dict(LLAMA, hidden_size=36, moe_intermediate_size=9, num_experts=5, num_experts_per_tok=3,
                                     norm_topk_prob=True), {}),
    "qwen3_moe_all": ("qwen3_moe", dict(LLAMA, moe_intermediate_size=32, num_experts=4, num_experts_per_tok=1), {}),
    "mixtral": ("mixtral", dict(LLAMA, num_local_experts=6, num_experts_per_tok=2, sliding_window=None), {}),
    "gpt2": ("gpt2", dict(vocab_size=23, n_positions=64, n_embd=21, n_layer=2, n_head=3, bos_token_id=1, eos_token_id=2), {}),
    "opt": ("opt", dict(PLAIN, hidden_size=21, word_embed_proj_dim=21, ffn_dim=13), {}),
    "opt_behind": ("opt", dict(PLAIN, hidden_size=21, word_embed_proj_dim=7, ffn_dim=13, do_layer_norm_before=False), {}),
    "opt_bare": ("opt", dict(PLAIN, hidden_size=21, word_embed_proj_dim=21, ffn_dim=13, enable_bias=False,
        layer_norm_elementwise_affine=False), {}),
    # Latent attention, with groups of experts and a scaled rotation; its GGUF form has the halves of kv_b_proj apart.
    "deepseek_v3": ("deepseek_v3", dict({k: v for k, v in LLAMA.items() if k != "head_dim"}, num_hidden_layers=3, num_key_value_heads=6,
        q_lora_rank=12, kv_lora_rank=8, qk_nope_head_dim=4, qk_rope_head_dim=2, v_head_dim=5, n_routed_experts=8, num_experts_per_tok=3,
        n_group=4, topk_group=2, moe_intermediate_size=9, n_shared_experts=1, first_k_dense_replace=1, routed_scaling_factor=1.5,
        rope_parameters={"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0, "original_max_position_embeddings": 16,
                         "mscale": 1.0, "mscale_all_dim": 1.0}), {}),
    # Blocks that layers share by turns, with matrices of low rank of each layer's own.
    "zamba2": ("zamba2", dict(COMMON, hidden_size=12, intermediate_size=13, num_hidden_layers=3, num_attention_heads=6, num_mem_blocks=2,
        layers_block_type=["hybrid","hybrid","hybrid"], n_mamba_heads=4, mamba_ngroups=2, mamba_d_state=5, rms_norm_eps=0.3,
        time_step_min=1e-9, adapter_rank=3, use_shared_attention_adapter=True, use_mem_rope=True), {}),
    # Rows of one convolution that are stored apart.
    "olmo_hybrid": ("olmo_hybrid", dict(COMMON, hidden_size=24, intermediate_size=13, num_attention_heads=4, num_hidden_layers=2, layer_types=["linear_attention", "full_attention"],
        linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=3, linear_value_head_dim=5), {}),
    "kimi_linear": ("kimi_linear", dict(LLAMA, hidden_size=24, num_key_value_heads=6, num_hidden_layers=3, moe_intermediate_size=9,
        num_experts=4, num_experts_per_token=2, num_expert_group=1, linear_num_heads=2, linear_head_dim=6, kv_lora_rank=8,
        qk_nope_head_dim=4, qk_rope_head_dim=2, v_head_dim=5, layer_types=["linear_attention", "full_attention", "linear_attention"]), {}),
    "lfm3": ("lfm3", dict(LLAMA, num_hidden_layers=3, sliding_window=5,
        layer_types=["conv", "full_attention", "sliding_attention"]), {}),
    # The file holds these settings as they stand here, and leaves the rest to the defaults of the classes.
    "stated_mixtral": ("mixtral", dict(LLAMA, num_local_experts=6, sliding_window=None), RAW),
    "stated_llama_yarn": ("llama", dict(LLAMA, head_dim=12, rope_theta=100.0, original_max_position_embeddings=16,
                                        rope_scaling={"type": "yarn", "factor": 4.0}), RAW),
    "stated_llama3": ("llama", dict(LLAMA, head_dim=12, rope_theta=100.0, original_max_position_embeddings=16, rope_scaling={
        "rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}), RAW),
    "stated_phi3_long": ("phi3", dict(PHI3, rope_theta=100.0, original_max_position_embeddings=8, rope_scaling=dict(
        LONG, original_max_position_embeddings=64)), RAW),
    "stated_phi3_part": ("phi3", dict(PHI3, hidden_size=48, rope_theta=100.0, partial_rotary_factor=0.75), RAW),
    "stated_phi3_odd_part": ("phi3", dict(PHI3, hidden_size=48, rope_theta=100.0, partial_rotary_factor=0.65), RAW),
    "stated_gemma3_cap": ("gemma3_text", dict(GEMMA, num_hidden_layers=7, attn_logit_softcapping=2.0, sliding_window_pattern=3,
                                              rope_theta=1000.0, rope_local_base_freq=50.0), RAW),
    "stated_qwen2_window": ("qwen2", dict(LLAMA, num_hidden_layers=3, use_sliding_window=True, sliding_window=5,
                                          max_window_layers=1), RAW),
    "stated_qwen3_moe_window": ("qwen3_moe", dict(LLAMA, hidden_size=36, moe_intermediate_size=9, num_experts=5,
                                                  num_experts_per_tok=3, use_sliding_window=True, sliding_window=5), RAW),
    "stated_gpt2": ("gpt2", dict(vocab_size=23, max_position_embeddings=64, hidden_size=21, num_hidden_layers=2,
                                 num_attention_heads=3, activation_function="gelu_fast"), RAW),
}  # fmt: skip


def values(name, shape, center):
    """Between -1/2 and 1/2, for the scales of norms half of that around a center: splitmix64, seeded by FNV-1a of the name."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = (seed ^ byte) * 0x100000001B3 % 2**64
    count = int(np.prod(shape))
    with np.errstate(over="ignore"):
        x = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * np.arange(1, count + 1, dtype=np.uint64)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    y = (x >> np.uint64(40)).astype(np.float32) / np.float32(2**24) - np.float32(0.5)
    is_scale = len(shape) == 1 and name.endswith(("weight", "layer_scalar"))
    return ((np.float32(center) + np.float32(0.5) * y) if is_scale else y).reshape(shape)


def convolved_rows(kind, tensor):
    """Rows of q, k and v in a convolution of all of them."""
    rows = 2 * 3 if kind == "olmo_hybrid" else tensor.shape[0] // 3
    return ("q", rows), ("k", rows), ("v", tensor.shape[0] - 2 * rows)


def stored_experts(kind, state):
    """The tensors as they are stored, and a function that gives the model's own ones. transformers 5 keeps the experts of a
    layer together, [experts, outputs, inputs], gates before ups; the files have them one by one."""
    names = ("w1", "w3", "w2") if kind == "mixtral" else ("gate_proj", "up_proj", "down_proj")
    base = "block_sparse_moe" if kind == "mixtral" else "mlp"
    shapes, parts = {}, {}
    for name, tensor in state.items():
        if kind in ("kimi_linear", "olmo_hybrid") and name.endswith("conv1d.weight"):
            own = {name.replace("conv1d", f"{part}_conv1d"): rows for part, rows in convolved_rows(kind, tensor)}
            parts[name] = [list(own)]
            shapes.update({each: [rows, *tensor.shape[1:]] for each, rows in own.items()})
            continue
        if not name.endswith(("gate_up_proj", "down_proj")) or ".experts." not in name or kind == "gemma4_text":
            stored = name.replace(".mlp.gate.", f".{base}.gate.")
            shapes[stored], parts[name] = list(tensor.shape), [[stored]]
            continue
        experts, outputs, inputs = tensor.shape
        prefix = name.split(".mlp.")[0] + f".{base}.experts."
        own = names[:2] if name.endswith("gate_up_proj") else names[2:]
        parts[name] = [[f"{prefix}{e}.{part}.weight" for part in own] for e in range(experts)]
        for group in parts[name]:
            for part in group:
                shapes[part] = [outputs // len(own), inputs]
    return shapes, parts


def gguf_form(kind, config, names):
    """As convert_hf_to_gguf.py of llama.cpp writes it; None where llama.cpp has no such model."""
    import gguf

    arch = {"deepseek_v3": "deepseek2", "gemma3_text": "gemma3", "gemma3n_text": "gemma3n", "gemma4_text": "gemma4", "mistral": "llama", "mixtral": "llama", "qwen3_moe": "qwen3moe"}.get(kind, kind)
    number = {v: k for k, v in gguf.MODEL_ARCH_NAMES.items()}.get(arch)
    if kind == "qwen3_moe" and not config.get("norm_topk_prob"):
        return None
    if number is None or config.get("hidden_act") == "gelu" or (kind in ("mistral", "phi3") and config.get("sliding_window")):
        return None
    if config.get("query_pre_attn_scalar", config.get("head_dim")) != config.get("head_dim"):
        return None
    flat = config.get("rope_parameters") or {}
    if config.get("use_sliding_window") or flat.get("partial_rotary_factor") == 0.65 or flat.get("rope_type") == "llama3":
        return None
    get = lambda *keys: next(config[k] for k in keys if config.get(k) is not None)  # noqa: E731
    hidden, heads = get("hidden_size", "n_embd"), get("num_attention_heads", "n_head")
    width = config.get("head_dim") or hidden // heads
    layers = get("num_hidden_layers", "n_layer")
    rope = config.get("rope_parameters") or {}
    full = rope.get("full_attention", rope)
    meta = {
        "block_count": layers,
        "context_length": get("max_position_embeddings", "n_positions"),
        "embedding_length": hidden,
        "feed_forward_length": np.max(config.get("intermediate_size") or 4 * hidden).item(),
        "attention.head_count": heads,
        "attention.head_count_kv": config.get("num_key_value_heads") or heads,
    }
    if kind == "gpt2":
        meta["attention.layer_norm_epsilon"] = config["layer_norm_epsilon"]
    else:
        meta["attention.layer_norm_rms_epsilon"] = config["rms_norm_eps"]
        meta["rope.freq_base"] = float(full["rope_theta"])
        meta["attention.key_length"] = meta["attention.value_length"] = width
        meta["rope.dimension_count"] = int(width * (full.get("partial_rotary_factor") or 1))
    if kind == "qwen3_moe":
        meta["expert_count"] = config.get("num_experts") or config["num_local_experts"]
        meta["expert_used_count"] = config["num_experts_per_tok"]
        meta["expert_feed_forward_length"] = config["moe_intermediate_size"]
    if kind == "mixtral":
        meta["expert_count"] = config["num_local_experts"]
        meta["expert_used_count"] = config["num_experts_per_tok"]
    if arch == "deepseek2":
        rank, turning = config["kv_lora_rank"], config["qk_rope_head_dim"]
        meta |= {
            "attention.head_count_kv": 1, "attention.q_lora_rank": config["q_lora_rank"], "attention.kv_lora_rank": rank,
            "attention.key_length": rank + turning, "attention.value_length": rank, "rope.dimension_count": turning,
            "attention.key_length_mla": config["qk_nope_head_dim"] + turning, "attention.value_length_mla": config["v_head_dim"],
            "expert_count": config["n_routed_experts"], "expert_used_count": config["num_experts_per_tok"],
            "expert_group_count": config["n_group"], "expert_group_used_count": config["topk_group"], "expert_gating_func": 2,
            "leading_dense_block_count": config["first_k_dense_replace"], "expert_feed_forward_length": config["moe_intermediate_size"],
            "expert_shared_count": config["n_shared_experts"], "expert_weights_scale": config["routed_scaling_factor"],
            "expert_weights_norm": True, "rope.scaling.yarn_log_multiplier": 0.1 * rope["mscale_all_dim"],
        }  # fmt: skip
    if "sliding_attention" in rope:
        meta["rope.freq_base_swa"] = float(rope["sliding_attention"]["rope_theta"])
    if config.get("sliding_window"):
        meta["attention.sliding_window"] = config["sliding_window"]
    if config.get("_sliding_window_pattern", 6) != 6:
        meta["attention.sliding_window_pattern"] = config["_sliding_window_pattern"]
    for cap in "attn_logit_softcapping", "final_logit_softcapping":
        if config.get(cap):
            meta[cap] = float(config[cap])
    extra = {}
    if full.get("rope_type") in ("linear", "yarn"):
        meta["rope.scaling.type"] = full["rope_type"]
        meta["rope.scaling.factor"] = float(full["factor"])
    if full.get("rope_type") == "yarn":
        meta["rope.scaling.original_context_length"] = full["original_max_position_embeddings"]
        for key in "beta_fast", "beta_slow":
            if full.get(key):
                meta["rope.scaling.yarn_" + key] = float(full[key])
        if full.get("attention_factor"):  # llama.cpp multiplies its own scale by this
            own = 1 + 0.1 * float(np.log(full["factor"]))
            meta["rope.scaling.attn_factor"] = full["attention_factor"] / own
    if full.get("rope_type") == "longrope":
        original = full["original_max_position_embeddings"]
        scale = config["max_position_embeddings"] / original
        meta["rope.scaling.original_context_length"] = original
        meta["rope.scaling.attn_factor"] = float(np.sqrt(1 + np.log(scale) / np.log(original)))
        extra = {f"rope_factors_{k}.weight": full[k + "_factor"] for k in ("short", "long")}
    is_shared = arch in ("gemma3n", "gemma4")
    if is_shared:
        meta["attention.sliding_window_pattern"] = [each == "sliding_attention" for each in config["layer_types"]]
        meta["attention.shared_kv_layers"] = config["num_kv_shared_layers"]
        meta["embedding_length_per_layer_input"] = config["hidden_size_per_layer_input"]
    if arch == "gemma3n":
        meta["altup.num_inputs"], meta["altup.active_idx"] = config["altup_num_inputs"], config["altup_active_idx"]
        meta["activation_sparsity_scale"] = [NormalDist().inv_cdf(each) for each in config["activation_sparsity_pattern"]]
    if arch == "gemma4":
        own = next(iter(config["per_layer_config"].values()))
        wide = own["head_dim"]
        meta["attention.key_length_swa"] = meta["attention.value_length_swa"] = meta["rope.dimension_count_swa"] = width
        meta["attention.key_length"] = meta["attention.value_length"] = meta["rope.dimension_count"] = wide
        turning = int(wide * full["partial_rotary_factor"]) // 2
        extra = {"rope_freqs.weight": [1.0] * turning + [1e30] * (wide // 2 - turning)}
        if config["use_double_wide_mlp"]:
            later = layers - config["num_kv_shared_layers"]
            meta["feed_forward_length"] = [config["intermediate_size"] * (2 if i >= later else 1) for i in range(layers)]
        if config["attention_k_eq_v"]:
            meta["attention.head_count_kv"] = [config["num_key_value_heads"] if each == "sliding_attention" else
                                               own["num_key_value_heads"] for each in config["layer_types"]]
        if config["enable_moe_block"]:
            meta["expert_count"], meta["expert_used_count"] = config["num_experts"], config["top_k_experts"]
            meta["expert_feed_forward_length"] = config["moe_intermediate_size"]
    mapping = gguf.get_tensor_name_map(number, layers)
    tensors = {}
    for name in names:
        if name == "lm_head.weight" and config.get("tie_word_embeddings"):
            continue
        if ".mlp.experts." in name or ".block_sparse_moe.experts." in name:  # put together: only the first one is named here
            head, number, tail = re.match(r"(.*\.experts\.)(\d+)\.(.*)\.weight", name).groups()
            if number == "0":
                tensors[mapping.get_name(head + tail) + ".weight"] = [name, f"stack of {meta['expert_count']}"]
            continue
        if ".altup_" in name:  # put together
            head, number = re.match(r"(.*)\.(\d+)\.weight", name).groups()
            if number == "0":
                tensors[mapping.get_name(head) + ".weight"] = [name, f"stack of {config['altup_num_inputs'] - 1}"]
            continue
        if name.endswith("kv_b_proj.weight"):  # keys and values apart; what makes keys is turned
            keys, layer = config["qk_nope_head_dim"], name.split(".")[2]
            tensors[f"blk.{layer}.attn_k_b.weight"] = [name, f"turned rows 0 to {keys} of {heads}"]
            tensors[f"blk.{layer}.attn_v_b.weight"] = [name, f"rows {keys} to {keys + config['v_head_dim']} of {heads}"]
            continue
        is_bare = is_shared and not name.endswith(".weight")
        to = mapping.get_name(name + ".weight" if is_bare else name.replace("correction_bias", "correction.bias"), try_suffixes=(".weight", ".bias"))
        for scale, tensor in (("router.scale", "ffn_gate_inp.scale"), ("router.per_expert_scale", "ffn_down_exps.scale")):
            if name.endswith(scale):
                to = f"blk.{name.split('.')[2]}.{tensor}"
        assert to, name
        how = ""
        if kind == "gpt2" and name.endswith((".c_attn.weight", ".c_proj.weight", ".c_fc.weight")):
            how = "transposed"
        if kind.startswith("gemma") and not is_shared and name.endswith("norm.weight"):
            how = "plus one"
        if kind in ("llama", "smollm3", "mistral", "mixtral") and ".q_proj." in name:
            how = f"pairs of {heads}"
        if kind in ("llama", "smollm3", "mistral", "mixtral") and ".k_proj." in name:
            how = f"pairs of {meta['attention.head_count_kv']}"
        tensors[to] = [name, how]
    return {"architecture": arch, "metadata": meta, "tensors": tensors, "values": extra}


def expected(name):
    kind, settings, more = VARIANTS[name]
    config = transformers.AutoConfig.for_model(kind, **copy.deepcopy(settings))
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config).double().eval()
    is_first = {}  # of names for one tensor the first is stored
    state = {k: v for k, v in model.state_dict().items() if is_first.setdefault(v.data_ptr(), k) == k}
    center = 0 if kind in ("gemma2", "gemma3_text") else 1
    shapes, parts = stored_experts(kind, state)
    for k, v in state.items():
        groups = [np.concatenate([values(n, shapes[n], center) for n in group]) for group in parts[k]]
        whole = np.stack(groups) if len(groups) > 1 else groups[0]
        v.copy_(torch.from_numpy(whole.reshape(v.shape).copy()).to(v.dtype))
    with torch.no_grad():
        logits = model(torch.tensor([TOKENS])).logits[0].double().numpy()
    written = whole = json.loads(config.to_json_string(use_diff=False))
    if more.get("is_raw"):
        written = dict(settings, model_type=kind)
    written["architectures"] = [type(model).__name__]
    result = {
        "made with": f"transformers {transformers.__version__}, torch {torch.__version__}",
        "config": written,
        **more,
        "center": center,
        "tensors": shapes,
        "gguf": gguf_form(kind, whole, shapes),
        "tokens": TOKENS,
        "logits": [float(f"{x:.8g}") for x in logits.ravel()],
    }
    return result


def write(result, path):
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in result.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent
    for each in sys.argv[1:] or VARIANTS:
        write(expected(each), folder / f"{each}.json")
        print(each)
