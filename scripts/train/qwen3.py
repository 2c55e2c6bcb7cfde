"""Qwen3 in PyTorch, and its checkpoints in HuggingFace form.

The arithmetic is that of `Qwen3ForCausalLM` (HuggingFace transformers): blocks
normalised before, RMSNorm over the head dimension of q and k before the
rotation, rotation of halves, grouped query heads, SwiGLU, no biases, tied
embeddings. Parameter names are those of the checkpoint, so that the state
dictionary is the file.
"""

import json
import math
import struct
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy
import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Config:
    """The fields of `config.json` that decide the arithmetic."""

    vocab_size: int
    hidden_size: int = 128
    intermediate_size: int = 384
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    head_dim: int = 32
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10_000.0
    max_position_embeddings: int = 256

    def to_json(self, end_of_text: int) -> str:
        fields = {
            "architectures": ["Qwen3ForCausalLM"],
            "model_type": "qwen3",
            **asdict(self),
            "hidden_act": "silu",
            "attention_bias": False,
            "attention_dropout": 0.0,
            "rope_scaling": None,
            "sliding_window": None,
            "use_sliding_window": False,
            "tie_word_embeddings": True,
            "bos_token_id": end_of_text,
            "eos_token_id": end_of_text,
            "pad_token_id": end_of_text,
            "torch_dtype": "float32",
        }
        return json.dumps(fields, indent=2) + "\n"

    @staticmethod
    def from_json(text: str) -> "Config":
        fields = json.loads(text)
        return Config(**{name: fields[name] for name in Config.__dataclass_fields__})


class RMSNorm(nn.Module):
    def __init__(self, size: int, epsilon: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.epsilon))


def rotations(config: Config, tokens: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Cosines and sines of positions [0, tokens), each [tokens, head_dim]."""
    exponents = torch.arange(0, config.head_dim, 2, dtype=torch.float64) / config.head_dim
    angles = torch.outer(torch.arange(tokens, dtype=torch.float64), config.rope_theta**-exponents)
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos().to(like.dtype), angles.sin().to(like.dtype)


def rotate(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cosines + torch.cat((-second, first), dim=-1) * sines


class Attention(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.head_dim = config.head_dim
        self.groups = config.num_attention_heads // config.num_key_value_heads
        queries = config.num_attention_heads * config.head_dim
        keys = config.num_key_value_heads * config.head_dim
        self.q_proj = nn.Linear(config.hidden_size, queries, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, keys, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, keys, bias=False)
        self.o_proj = nn.Linear(queries, config.hidden_size, bias=False)
        self.q_norm = RMSNorm(config.head_dim, config.rms_norm_eps)
        self.k_norm = RMSNorm(config.head_dim, config.rms_norm_eps)

    def forward(self, x: Tensor, cosines: Tensor, sines: Tensor, mask: Tensor) -> Tensor:
        batch, tokens, _ = x.shape

        def heads(projection: nn.Linear) -> Tensor:
            return projection(x).view(batch, tokens, -1, self.head_dim)

        q = rotate(self.q_norm(heads(self.q_proj)).transpose(1, 2), cosines, sines)
        k = rotate(self.k_norm(heads(self.k_proj)).transpose(1, 2), cosines, sines)
        v = heads(self.v_proj).transpose(1, 2)
        k = k.repeat_interleave(self.groups, dim=1)
        v = v.repeat_interleave(self.groups, dim=1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim) + mask
        attended = scores.softmax(dim=-1) @ v
        return self.o_proj(attended.transpose(1, 2).reshape(batch, tokens, -1))


class MLP(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = MLP(config)

    def forward(self, x: Tensor, cosines: Tensor, sines: Tensor, mask: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cosines, sines, mask)
        return x + self.mlp(self.post_attention_layernorm(x))


class Body(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)


class Qwen3(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.model = Body(config)
        residual_writes = 2 * config.num_hidden_layers
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)
            if name.endswith(("o_proj.weight", "down_proj.weight")):
                parameter.data /= math.sqrt(residual_writes)  # Radford et al. 2019, section 2.3

    def hidden(self, ids: Tensor) -> Tensor:
        """Normalised states [batch, tokens, hidden] of ids [batch, tokens]."""
        x = self.model.embed_tokens(ids)
        tokens = ids.shape[1]
        cosines, sines = rotations(self.config, tokens, x)
        mask = torch.full((tokens, tokens), float("-inf"), dtype=x.dtype).triu(1)
        for layer in self.model.layers:
            x = layer(x, cosines, sines, mask)
        return self.model.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        return hidden @ self.model.embed_tokens.weight.T

    def forward(self, ids: Tensor) -> Tensor:
        return self.logits(self.hidden(ids))

    @torch.no_grad()
    def generate(self, prompts: list[list[int]], end: int, at_most: int) -> list[list[int]]:
        """Greedy continuations, each up to and without `end`. Recomputes the
        whole prefix for every token; prompts of one length run together."""
        results: list[list[int]] = [[] for _ in prompts]
        by_length: dict[int, list[int]] = {}
        for i, prompt in enumerate(prompts):
            by_length.setdefault(len(prompt), []).append(i)
        for members in by_length.values():
            for _ in range(at_most):
                ids = torch.tensor([prompts[i] + results[i] for i in members])
                tokens = self.logits(self.hidden(ids)[:, -1]).argmax(-1).tolist()
                going = []
                for i, token in zip(members, tokens):
                    if token != end:
                        results[i].append(token)
                        going.append(i)
                members = going
                if not members:
                    break
        return results


def save_safetensors(path: Path, tensors: dict[str, Tensor]) -> None:
    """Header length (u64, little-endian), JSON header, data; F32, row-major."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name in sorted(tensors):
        size = 4 * tensors[name].numel()
        header[name] = {
            "dtype": "F32",
            "shape": list(tensors[name].shape),
            "data_offsets": [offset, offset + size],
        }
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # data begins at a multiple of 8
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in sorted(tensors):
            file.write(tensors[name].detach().contiguous().numpy().astype("<f4").tobytes())


def load_safetensors(path: Path) -> dict[str, Tensor]:
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        values = numpy.frombuffer(content[begin:end], dtype="<f4").reshape(entry["shape"])
        tensors[name] = torch.from_numpy(values.copy())
    return tensors


def load(folder: Path) -> Qwen3:
    model = Qwen3(Config.from_json((folder / "config.json").read_text()))
    model.load_state_dict(load_safetensors(folder / "model.safetensors"))
    return model.eval()
