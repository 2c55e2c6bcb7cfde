#!/usr/bin/env python3
"""Makes the small tokenizers in this folder and the ids that are expected of them.

    pip install tokenizers==0.23.3 sentencepiece==0.2.3 protobuf
    ./make_tokenizers.py [NAME..]

Every folder has a tokenizer in HuggingFace form and a `cases.json`: texts, their ids, the ids with the special tokens
that the model expects around a text, and the decoded text. The ids come from the `tokenizers` and `sentencepiece`
libraries, not from Tessera. The corpus below is all that the vocabularies are trained on.
"""

import io
import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent

CORPUS = """
The king rides through the forest, and the miller's daughter doesn't see him. It's 1789; there are 12,345 men.
Il était une fois une forêt près de la mer. Über den Wolken muß die Freiheit wohl grenzenlos sein: 3.14159!
def merge(left, right):\n    return left + right  # joins two symbols\n\n\tif x == 10: x += 1\n
Жили-были старик со старухой у самого синего моря. Они жили в ветхой землянке ровно тридцать лет и три года.
むかしむかし、あるところに、おじいさんとおばあさんがいました。 我想在 apple 工作 1314151 天～
The king's men ride, the king's horses ride, they'll ride; we've seen them ride, I'd say. THE KING DOESN'T RIDE!
"""

CASES = [
    "",
    " ",
    "   ",
    "\n",
    "\n\n \t\n",
    "The king rides through the forest.",
    " leading and trailing  ",
    "don't DON'T we've WE'VE i'm it'S they'll",
    "1 12 123 1234 12345 3.14159 ½ ² Ⅷ ٣",
    "def f(x):\n    return x + 1\n\n\n    # done\r\n",
    "Жили-были старик",
    "むかし、おじいさん",
    "naïve café nai\u0308ve cafe\u0301 \u212b ﬁ",
    "🦙 and 👩\u200d👩\u200d👧 🚀🚀",
    "a\u00a0b\u3000c\u2028d\u180ee\u0085f\ufeffg",
    "\x00\x01\x7f",
    "▁under▁score▁",
    "ſ'ſ K'K",
    "<|begin|>The king<|end|>",
    "the <mask> king",
    "kings king the king",
    "<s>The</s> king",
    "x" * 50,
]
# For the kinds that came later; the others would get other random texts.
MORE_CASES = ["<unk> [UNK] [CLS] <0x41> ## ##s </w> <pad>", "＜t＞ ＡＢＣ ｱ ㍿ ½\r\n", "\u0301The  king\u200b\u00ad", "x" * 101,
              "我想在 apple 工作", "Do not ride! They do n't . 's"]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTIONS + r"\p{N}{1,3}" + REST
QWEN2 = CONTRACTIONS + r"\p{N}" + REST


def random_texts(count, seed):
    """Strings over every kind of character, without surrogates."""
    generator = random.Random(seed)
    ranges = [(0x20, 0x7E), (0x20, 0x7E), (0, 0x2FF), (0x300, 0x36F), (0x400, 0x4FF), (0x3040, 0x30FF), (0x2000, 0x206F)]
    return ["".join(chr(generator.randint(*generator.choice(ranges))) for _ in range(generator.randint(1, 24)))
            for _ in range(count)]


def split(pattern):
    return pre_tokenizers.Split(Regex(pattern), "isolated")


def byte_level(*splits):
    return pre_tokenizers.Sequence([*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def train(tokenizer, alphabet, special, size):
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=special, initial_alphabet=alphabet,
                                  max_token_length=16, show_progress=False)
    tokenizer.train_from_iterator(CORPUS.splitlines(keepends=True), trainer)
    return tokenizer


def write(name, tokenizer, add_special):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    document = json.loads(path.read_text())
    # Training on single bytes adds byte tokens, which must not be found in the text.
    document["added_tokens"] = [t for t in document["added_tokens"] if not t["content"].startswith("<0x")]
    path.write_text(json.dumps(document, ensure_ascii=False, indent=None, separators=(",", ":")) + "\n")
    write_cases(folder, Tokenizer.from_file(str(path)), add_special)


def write_cases(folder, tokenizer, add_special):
    cases = []
    more = MORE_CASES if folder.name in ("unigram", "unigram_bytes", "word_piece", "bpe_words") else []
    for text in CASES + more + random_texts(40, folder.name):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        case = {"text": text, "ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False)}
        if add_special:
            case["ids_with_special"] = tokenizer.encode(text).ids
        cases.append(case)
    lines = ",\n".join(json.dumps(case) for case in cases)
    (folder / "cases.json").write_text(f"[\n{lines}\n]\n")


def gpt2():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    train(tokenizer, pre_tokenizers.ByteLevel.alphabet(), [], 400)
    tokenizer.add_special_tokens([AddedToken("<|end|>", special=True, normalized=False)])
    tokenizer.add_tokens([AddedToken("<mask>", lstrip=True, normalized=False), AddedToken("king", single_word=True)])
    write("gpt2", tokenizer, False)


def llama3():
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = byte_level(split(LLAMA3))
    tokenizer.decoder = decoders.ByteLevel()
    train(tokenizer, pre_tokenizers.ByteLevel.alphabet(), [], 420)
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in ("<|begin|>", "<|end|>")])
    begin = tokenizer.token_to_id("<|begin|>")
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin|> $A", pair="<|begin|> $A <|begin|> $B",
                                      special_tokens=[("<|begin|>", begin)])])
    write("llama3", tokenizer, True)


def smollm():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    train(tokenizer, pre_tokenizers.ByteLevel.alphabet(), ["<|end|>", "<s>"], 400)
    write("smollm", tokenizer, False)


def qwen2():
    """As vocab.json and merges.txt: the pattern and the normaliser follow from the class in tokenizer_config.json."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = byte_level(split(QWEN2))
    tokenizer.decoder = decoders.ByteLevel()
    train(tokenizer, pre_tokenizers.ByteLevel.alphabet(), [], 420)
    added = ["<|end|>", "<|begin|>"]
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in added])
    folder = HERE / "qwen2"
    folder.mkdir(exist_ok=True)
    model = json.loads(tokenizer.to_str())["model"]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"], ensure_ascii=False, separators=(",", ":")) + "\n")
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in model["merges"]))
    decoder = {str(tokenizer.token_to_id(text)): {"content": text, "lstrip": False, "normalized": False, "rstrip": False,
                                                  "single_word": False, "special": True} for text in added}
    config = {"add_prefix_space": False, "added_tokens_decoder": decoder, "bos_token": None, "eos_token": "<|end|>",
              "tokenizer_class": "Qwen2Tokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")
    write_cases(folder, tokenizer, False)


def all_merges(tokenizer):
    """Every split of every token into two tokens, best token first: what SentencePiece may merge by score."""
    document = json.loads(tokenizer.to_str())
    vocabulary = document["model"]["vocab"]
    merges = []
    for text, _ in sorted(vocabulary.items(), key=lambda item: item[1]):
        if text.startswith("<"):
            continue
        merges += [[text[:i], text[i:]] for i in range(1, len(text)) if text[:i] in vocabulary and text[i:] in vocabulary]
    document["model"]["merges"] = merges
    return Tokenizer.from_str(json.dumps(document))


def sentence_piece(name, normalizer, pre_tokenizer):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    else:  # words, for training only
        tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    train(tokenizer, [], ["<unk>", "<s>", "</s>"] + bytes_, 560)
    document = json.loads(all_merges(tokenizer).to_str())
    if not pre_tokenizer:
        document["pre_tokenizer"] = None
    for token in document["added_tokens"]:
        token["normalized"] = False
    tokenizer = Tokenizer.from_str(json.dumps(document))
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B",
                                                             special_tokens=[("<s>", 1)])
    write(name, tokenizer, True)


def tokenizer_model(name, **options):
    """A tokenizer.model, with ids and texts of its own library."""
    import sentencepiece

    folder = HERE / name
    folder.mkdir(exist_ok=True)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS.splitlines()), model_writer=open(folder / "tokenizer.model", "wb"), num_threads=1,
        hard_vocab_limit=False, minloglevel=2, **({"normalization_rule_name": "identity"} | options))
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
    cases = []
    for text in CASES + ["the <mask> king<mask><mask>s ride", "ride to the king", " <mask>"] + random_texts(60, name):
        ids = processor.encode(text)
        cases.append({"text": text, "ids": ids, "decoded": processor.decode(ids)})
    lines = ",\n".join(json.dumps(case) for case in cases)
    (folder / "cases.json").write_text(f"[\n{lines}\n]\n")


def character_rules():
    """A small map of characters in compiled form; those that SentencePiece ships have hundreds of kilobytes."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2 as proto

    rules = {"\t": " ", "\n": " ", "\r": " ", "\u00a0": " ", "\u3000": " ", "\u200b": "", "ﬁ": "fi", "½": "1\u20442", "\u212b": "\u00c5",
             "A\u030a": "\u00c5", "e\u0301": "\u00e9", "Ｔ": "T", "＜": "<", "＞": ">", "ｓ": "s", "㍿": "株式会社", "Ⅷ": "VIII", "\u00a8": " \u0308"}
    table = HERE / "rules.tsv"
    table.write_text("".join(" ".join(f"{ord(c):X}" for c in a) + "\t" + " ".join(f"{ord(c):X}" for c in b) + "\n"
                             for a, b in rules.items()))
    writer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS.splitlines()), model_writer=writer, vocab_size=200,
                                             normalization_rule_tsv=str(table), hard_vocab_limit=False, minloglevel=2,
                                             num_threads=1)
    table.unlink()
    model = proto.ModelProto()
    model.ParseFromString(writer.getvalue())
    return model.normalizer_spec.precompiled_charsmap


def train_unigram(tokenizer, special, size):
    trainer = trainers.UnigramTrainer(vocab_size=size, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(CORPUS.splitlines(), trainer)
    return tokenizer


def unigram():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Precompiled(character_rules()), normalizers.Strip(left=False),
                                                 normalizers.Replace(Regex(" {2,}"), "▁")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(),
                                                       pre_tokenizers.Metaspace(prepend_scheme="first")])
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    train_unigram(tokenizer, ["<pad>", "</s>", "<unk>"], 360)
    tokenizer.add_tokens([AddedToken("<mask>", lstrip=True)])
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    write("unigram", tokenizer, True)


def unigram_bytes():
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    train_unigram(tokenizer, ["<unk>", "<s>"] + bytes_, 560)
    document = json.loads(tokenizer.to_str())
    document["model"]["byte_fallback"] = True
    for piece in document["model"]["vocab"]:
        if piece[0].startswith("<0x"):
            piece[1] = -10000.0  # bytes are not to be found in a text
    write("unigram_bytes", Tokenizer.from_str(json.dumps(document)), False)


def word_piece():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], show_progress=False)
    tokenizer.train_from_iterator(CORPUS.splitlines(), trainer)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    write("word_piece", tokenizer, True)


def bpe_words():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.CharDelimiterSplit(" "), pre_tokenizers.Punctuation()])
    tokenizer.decoder = decoders.BPEDecoder()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<s>", "</s>", "<unk>"], end_of_word_suffix="</w>",
                                  show_progress=False)
    tokenizer.train_from_iterator(CORPUS.splitlines(), trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    write("bpe_words", tokenizer, True)


def spm_unigram():
    rules = HERE / "rules.tsv"
    rules.write_text("41\t61\nA\t20\n9\t20\nFB01\t66 69\n300 301\t\n3000\t20\nA8\t20 308\n2167\t56 49 49 49\n")
    tokenizer_model("spm_unigram", model_type="unigram", vocab_size=340, user_defined_symbols=["<mask>", "ﬁ"],
                    normalization_rule_tsv=str(rules))
    rules.unlink()


def main():
    makers = {
        "spm_bytes": lambda: tokenizer_model(
            "spm_bytes", model_type="bpe", vocab_size=620, byte_fallback=True, remove_extra_whitespaces=False,
            user_defined_symbols=["<mask>", "the", "king"], split_digits=True, allow_whitespace_only_pieces=True),
        "spm_unknown": lambda: tokenizer_model("spm_unknown", model_type="bpe", vocab_size=300, character_coverage=0.98),
        "spm_unigram": spm_unigram,
        "gpt2": gpt2,
        "llama3": llama3,
        "smollm": smollm,
        "qwen2": qwen2,
        "llama2": lambda: sentence_piece(
            "llama2", normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]), None),
        "metaspace": lambda: sentence_piece("metaspace", None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False)),
        "unigram": unigram,
        "unigram_bytes": unigram_bytes,
        "word_piece": word_piece,
        "bpe_words": bpe_words,
    }
    for name in sys.argv[1:] or makers:
        makers[name]()


if __name__ == "__main__":
    main()
