#!/usr/bin/env bash
# sentencepiece 0.2.1. Situation: a text is decoded that begins with a blank, once as the piece U+2581 and once as the byte piece
# <0x20>, of a model with `add_dummy_prefix` and byte fallback. Guess: the leading blank is stripped in both, or in neither. Seen:
# the mark is stripped, the byte is not, and a mark behind it is then no leading one. Two spellings of one text decode to two texts.
source "$(dirname "$0")/setup.sh"
install sentencepiece==0.2.1
expect $'mark ""\nbyte " "\nmark, the "the"\nbyte, the " the"' <<'PYTHON'
import sentencepiece
with open("text.txt", "w") as file:
    file.writelines(f"the cat and the dog {word} the hat\n" for word in ("saw", "ate", "hid", "had", "met", "led"))
sentencepiece.SentencePieceTrainer.train(input="text.txt", model_prefix="m", vocab_size=290, byte_fallback=True, model_type="bpe",
                                         hard_vocab_limit=False, minloglevel=2)
model = sentencepiece.SentencePieceProcessor(model_file="m.model")
mark, byte = model.piece_to_id("\u2581"), model.piece_to_id("<0x20>")
the = [model.piece_to_id(one) for one in ("t", "h", "e")]
for name, ids in {"mark": [mark], "byte": [byte], "mark, the": [mark, *the], "byte, the": [byte, *the]}.items():
    print(f'{name} "{model.decode(ids)}"')
PYTHON
