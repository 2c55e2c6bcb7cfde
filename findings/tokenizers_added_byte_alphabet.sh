#!/usr/bin/env bash
# tokenizers 0.23.1. Situation: a byte-level vocabulary, whose pieces are spelled in an alphabet of 256 characters, and an added token "é",
# which is matched in the text as it stands. Guess: an added token is decoded to its own text. Seen: its characters are taken for letters of
# that alphabet, where each stands for a byte: "é" is decoded to the byte E9, which is no UTF-8, and so to U+FFFD. An added token with one
# character outside of the alphabet, such as "é ", comes back whole.
source "$(dirname "$0")/setup.sh"
install tokenizers==0.23.1
expect $'"é" one token, decoded "\ufffd"\n"é " one token, decoded "é "' <<'PYTHON'
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
alphabet = {letter: id for id, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
for text in ("é", "é "):
    tokenizer = Tokenizer(models.BPE(alphabet, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens([AddedToken(text, normalized=False)])
    ids = tokenizer.encode(text).ids
    print(f'"{text}" {"one token" if len(ids) == 1 else ids}, decoded "{tokenizer.decode(ids)}"')
PYTHON
