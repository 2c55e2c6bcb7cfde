#!/usr/bin/env python3
"""Makes `conversations.json` and `legacy.json`, from the tokenizers in this folder.

    pip install transformers==5.24 jinja2        ./make_conversations.py conversations
    pip install transformers==4.57.1 sentencepiece protobuf jinja2        ./make_conversations.py legacy

conversations: prompts of conversations that spell control tokens, as apply_chat_template(sanitize_control_tokens=True)
               encodes them. Of the tokens that are added to every tokenizer one alone is flagged special.
legacy:        ids of texts with added tokens by a tokenizer.model, with both values of `legacy`, and without a blank in
               front (`add_prefix_space`; with `legacy` true this class leaves that setting out), as LlamaTokenizer of
               version 4 without the `tokenizers` library.
"""

import json
import pathlib
import random
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
TEMPLATE = ("{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
            "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
ADDED = [("<|im_start|>", False), ("<|im_end|>", False), ("<tool>", False), ("<|bos|>", True)]
WORDS = ["hello", " world", "  ", "\n", "<|im_end|>", "<|im_start|>", "<tool>", "<|bos|>", "é", "a", "<", "|>", " x", "'s", "12"]
LEGACY_WORDS = ["the", "king", " ", "  ", "\n", "<s>", "</s>", "<|im_end|>", "▁", "▁▁", "hi", "<unk>", " x", "é", "ﬁ", "\u3000", "½",
                "\t", "a b", "<tool>", "!", "京", "  y "]


def flags(content, special):
    return {"content": content, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": special}


def some(rng, words, most):
    return "".join(rng.choice(words) for _ in range(rng.randint(0, most)))


def conversations():
    from transformers import PreTrainedTokenizerFast
    rng = random.Random(5)
    groups = []
    for name in ["gpt2", "llama2", "llama3", "smollm", "metaspace", "unigram", "unigram_bytes"]:
        document = json.loads((HERE / name / "tokenizer.json").read_text())
        first = max([len(document["model"]["vocab"]) - 1] + [token["id"] for token in document["added_tokens"]]) + 1
        for i, (content, special) in enumerate(ADDED):
            document["added_tokens"].append({"id": first + i, **flags(content, special)})
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "tokenizer.json").write_text(json.dumps(document))
            config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|bos|>", "chat_template": TEMPLATE}
            (pathlib.Path(folder) / "tokenizer_config.json").write_text(json.dumps(config))
            tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
        cases = []
        for _ in range(15):
            messages = [{"role": "user", "content": some(rng, WORDS, 6)}]
            if rng.random() < 0.4:
                messages += [{"role": "assistant", "content": some(rng, WORDS, 4)}, {"role": "user", "content": some(rng, WORDS, 1)}]
            ids = tokenizer.apply_chat_template(messages, sanitize_control_tokens=True, add_generation_prompt=True)
            cases.append({"messages": [m["content"] for m in messages], "ids": ids["input_ids"]})
        groups.append({"tokenizer": name, "first_added": first, "cases": cases})
    added = [{"content": content, "special": special} for content, special in ADDED]
    return {"template": TEMPLATE, "added": added, "groups": groups}


def differs(text, prefix):
    """What docs/tokenizers.md lists: added tokens at the beginning, and behind a blank there."""
    return text.startswith("<tool>") or (not prefix and text.lstrip(" ▁\u3000\n\t") != text)


def legacy():
    from transformers import LlamaTokenizer
    rng = random.Random(1)
    groups = []
    for name in ["spm_bytes", "spm_unknown", "spm_unigram"]:
        for is_legacy, prefix in [(False, True), (False, False), (True, True)]:
            tokens = {str(i): flags(content, True) for i, content in enumerate(["<unk>", "<s>", "</s>"])}
            config = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
                      "legacy": is_legacy, "add_prefix_space": prefix, "added_tokens_decoder": tokens}
            tokens["1000"], tokens["1001"] = flags("<|im_end|>", True), flags("<tool>", False)
            with tempfile.TemporaryDirectory() as folder:
                shutil.copy(HERE / name / "tokenizer.model", folder)
                (pathlib.Path(folder) / "tokenizer_config.json").write_text(json.dumps(config))
                tokenizer = LlamaTokenizer.from_pretrained(folder)
            texts = [text for text in (some(rng, LEGACY_WORDS, 7) for _ in range(60)) if not differs(text, prefix)][:30]
            groups.append({"tokenizer": name, "config": config, "cases": [
                {"text": text, "ids": tokenizer.encode(text, add_special_tokens=False)} for text in texts]})
    return groups


if __name__ == "__main__":
    made = {"conversations": conversations, "legacy": legacy}[sys.argv[1]]()
    (HERE / f"{sys.argv[1]}.json").write_text(json.dumps(made, ensure_ascii=False, indent=None) + "\n")
