#!/usr/bin/env python3
"""Tessera's tokenizers beside the `tokenizers` and `sentencepiece` libraries, on random texts.

    pip install tokenizers==0.23.3 sentencepiece==0.2.3 protobuf gguf==0.19.0
    cmake --build --preset test --target encode_texts
    bench/tokenizers/compare.py build/test/bench/tokenizers/encode_texts [KIND..] [--texts 100000] [--seed 1]

Each kind is a small tokenizer that is trained on random words and a little real text, with another choice of model,
normaliser, pre-tokeniser and decoder. Kinds gguf-.. are such tokenizers in the form that ggml's converters give them, with the
library's own form as the oracle. Ids and decoded texts must be equal. Prints the number of texts and of differences, with the
first three; the exit code is 1 if there are any.

Not compared: texts with characters whose properties the libraries take from another version of Unicode than Tessera
(AGE below). A decoded text of Tessera keeps bytes that are no UTF-8, the libraries write U+FFFD.
"""

import argparse
import io
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unicodedata

import gguf
import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

CORPUS = """The king rides through the forest, and the miller's daughter doesn't see him. It's 1789; there are 12,345 men.
Il était une fois une forêt près de la mer. Über den Wolken muß die Freiheit wohl grenzenlos sein: 3.14159!
Жили-были старик со старухой у самого синего моря. Они жили в ветхой землянке ровно тридцать лет и три года.
むかしむかし、あるところに、おじいさんとおばあさんがいました。 我想在 apple 工作 1314151 天～ 韓國의 漢字
def merge(left, right): return left + right  # joins two symbols x == 10: x += 1 naïve café ﬁne ½ Ⅷ ①②
The king's men ride, the king's horses ride, they'll ride; we've seen them ride, I'd say. THE KING DOESN'T RIDE! do not"""

# Assigned by Unicode 8, the version of the crates that `tokenizers` uses; later characters differ in a few properties.
RANGES = [(0x20, 0x7E)] * 4 + [(0, 0x2FF)] * 2 + [
    (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x52F), (0x590, 0x6FF), (0x900, 0x97F), (0xE00, 0xE5B), (0x1100, 0x11FF),
    (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x21FF), (0x2460, 0x24FF), (0x2500, 0x25FF), (0x3000, 0x30FF),
    (0x3200, 0x32FE), (0x3300, 0x33FF), (0x4E00, 0x9FCC), (0xAC00, 0xD7A3), (0xE000, 0xF8FF), (0xF900, 0xFA6D),
    (0xFB00, 0xFDFF), (0xFE20, 0xFEFF), (0xFF00, 0xFFFF), (0x1D400, 0x1D7FF), (0x1F300, 0x1F64F), (0x20000, 0x2A6D6),
    (0x2F800, 0x2FA1D), (0xE0020, 0xE007F), (0x10FF00, 0x10FFFD)]
YOUNGER = set([0x61D, 0x8E2, 0x1734]) | set(range(0x1DF6, 0x1DFB + 1))


def random_word(generator):
    if generator.random() < 0.5:
        return generator.choice(CORPUS.split())
    low, high = generator.choice(RANGES)
    return "".join(chr(generator.randint(low, high)) for _ in range(generator.randint(1, 5)))


def random_text(generator, specials):
    parts = []
    for _ in range(generator.randint(0, 8)):
        kind = generator.random()
        if kind < 0.45:
            parts.append(random_word(generator))
        elif kind < 0.75:
            parts.append("".join(chr(generator.randint(*generator.choice(RANGES))) for _ in range(generator.randint(1, 6))))
        elif kind < 0.8 and specials:
            parts.append(generator.choice(specials))
        elif kind < 0.85:
            parts.append(generator.choice(["▁", "▁▁", "##", "</w>", "<0x41>", "\r\n", "\u0301", "e\u0301", "ﬁ", "'s", " ."]))
        parts.append(generator.choice([" ", " ", " ", "", "", "  ", "\n", "\t", "\u00a0", "\u3000"]))
    return "".join(c for c in "".join(parts) if ord(c) not in YOUNGER and not 0xD800 <= ord(c) < 0xE000)


def corpus(generator):
    lines = CORPUS.splitlines() * 2
    lines += [" ".join(random_word(generator) for _ in range(8)) for _ in range(40)]
    return ["".join(c for c in line if not 0xD800 <= ord(c) < 0xE000 and c != "\0") for line in lines]


def trained(generator, model, trainer, normalizer=None, pre=None, decoder=None, post=None, added=()):
    tokenizer = Tokenizer(model)
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre:
        tokenizer.pre_tokenizer = pre
    if decoder:
        tokenizer.decoder = decoder
    if post:
        tokenizer.post_processor = post
    tokenizer.train_from_iterator(corpus(generator), trainer)
    if added:
        tokenizer.add_tokens(list(added))
    return tokenizer


def with_model(tokenizer, **options):
    document = json.loads(tokenizer.to_str())
    document["model"].update(options)
    return Tokenizer.from_str(json.dumps(document))


def unigram(generator, size=1500, specials=("<unk>", "<s>", "</s>", "<pad>"), unk="<unk>", **parts):
    trainer = trainers.UnigramTrainer(vocab_size=size, special_tokens=list(specials), unk_token=unk, show_progress=False)
    return trained(generator, models.Unigram(), trainer, **parts)


def byte_unigram(generator):
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer = unigram(generator, 1800, ["<unk>", "<s>"] + bytes_, pre=pre_tokenizers.Metaspace(),
                        decoder=decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                                   decoders.Strip(" ", 1, 0)]))
    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = [t for t in document["added_tokens"] if not t["content"].startswith("<0x")]
    document["model"]["byte_fallback"] = True
    # Bytes are not to be found in a text.
    for piece in document["model"]["vocab"]:
        if piece[0].startswith("<0x"):
            piece[1] = -1e4
    return Tokenizer.from_str(json.dumps(document))


def wordpiece(generator, size=400, **parts):
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[MASK]"],
                                        show_progress=False, limit_alphabet=300)
    return trained(generator, models.WordPiece(unk_token="[UNK]"), trainer, **parts)


def bpe(generator, size=400, options=None, trainer_options=None, **parts):
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=["<unk>", "<s>"], show_progress=False,
                                  limit_alphabet=300, **(trainer_options or {}))
    return trained(generator, models.BPE(unk_token="<unk>", **(options or {})), trainer, **parts)


def wordlevel(generator, size=400, **parts):
    trainer = trainers.WordLevelTrainer(vocab_size=size, special_tokens=["[UNK]", "[PAD]"], show_progress=False)
    return trained(generator, models.WordLevel(unk_token="[UNK]"), trainer, **parts)


def character_map(name):
    """The map of a rule that SentencePiece ships, in base 64."""
    writer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS.splitlines()), model_writer=writer, vocab_size=200,
                                             normalization_rule_name=name, hard_vocab_limit=False, minloglevel=2,
                                             num_threads=1)
    return piece_model(writer.getvalue()).normalizer_spec.precompiled_charsmap


def piece_model(document):
    from sentencepiece import sentencepiece_model_pb2 as proto
    model = proto.ModelProto()
    model.ParseFromString(document)
    return model


def precompiled(name):
    return normalizers.Precompiled(character_map(name))


N, P, D = normalizers, pre_tokenizers, decoders
KINDS = {
    "unigram-t5": lambda g: unigram(g, normalizer=N.Sequence([precompiled("nmt_nfkc"), N.Strip(left=False), N.Replace(Regex(" {2,}"), "▁")]),
                                    pre=P.Metaspace(), decoder=D.Metaspace()),
    "unigram-xlm": lambda g: unigram(g, normalizer=precompiled("nmt_nfkc"), pre=P.Sequence([P.WhitespaceSplit(), P.Metaspace()]),
                                     decoder=D.Metaspace(), added=[AddedToken("<mask>", lstrip=True), AddedToken("king")]),
    "unigram-albert": lambda g: unigram(g, normalizer=N.Sequence([N.Replace("``", '"'), N.NFKD(), N.StripAccents(), N.Lowercase(),
                                                                  precompiled("nfkc_cf")]),
                                        pre=P.Metaspace(prepend_scheme="first"), decoder=D.Metaspace(prepend_scheme="first")),
    "unigram-first": lambda g: unigram(g, normalizer=N.NFC(), pre=P.Sequence([P.WhitespaceSplit(), P.Metaspace(prepend_scheme="first")]),
                                       decoder=D.Metaspace(prepend_scheme="first")),
    "unigram-never": lambda g: unigram(g, normalizer=N.Nmt(), pre=P.Metaspace(prepend_scheme="never", split=False),
                                       decoder=D.Metaspace(prepend_scheme="never")),
    "unigram-bytes": byte_unigram,
    "unigram-digits": lambda g: unigram(g, pre=P.Sequence([P.Digits(individual_digits=True), P.Punctuation("merged_with_previous"), P.Metaspace()])),
    "unigram-byte-level": lambda g: unigram(g, normalizer=N.ByteLevel(), decoder=D.ByteLevel()),
    "wordpiece-bert": lambda g: wordpiece(g, normalizer=N.BertNormalizer(), pre=P.BertPreTokenizer(), decoder=D.WordPiece(),
                                          post=processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))),
    "wordpiece-cased": lambda g: wordpiece(g, normalizer=N.BertNormalizer(lowercase=False, strip_accents=None), pre=P.BertPreTokenizer(),
                                           decoder=D.WordPiece(cleanup=False)),
    "wordpiece-accents": lambda g: wordpiece(g, normalizer=N.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True,
                                                                            lowercase=False), pre=P.Whitespace(), decoder=D.WordPiece()),
    "wordpiece-split": lambda g: wordpiece(g, normalizer=N.Sequence([N.NFD(), N.StripAccents(), N.Lowercase()]),
                                           pre=P.Sequence([P.WhitespaceSplit(), P.Punctuation()]), decoder=D.WordPiece(),
                                           added=[AddedToken("King", normalized=True), AddedToken("ride", single_word=True)]),
    "wordpiece-short": lambda g: with_model(wordpiece(g, normalizer=N.NFKC(), pre=P.CharDelimiterSplit(" ")), max_input_chars_per_word=6),
    "bpe-plain": lambda g: bpe(g, normalizer=N.NFKC(), pre=P.Whitespace(), decoder=D.BPEDecoder()),
    "bpe-word-end": lambda g: bpe(g, options={"end_of_word_suffix": "</w>"}, trainer_options={"end_of_word_suffix": "</w>"},
                                  normalizer=N.BertNormalizer(), pre=P.BertPreTokenizer(), decoder=D.BPEDecoder()),
    "bpe-prefix": lambda g: bpe(g, options={"continuing_subword_prefix": "##"}, trainer_options={"continuing_subword_prefix": "##"},
                                normalizer=N.Lowercase(), pre=P.BertPreTokenizer(), decoder=D.WordPiece()),
    "bpe-metaspace": lambda g: bpe(g, options={"fuse_unk": True}, normalizer=N.Sequence([N.Strip(), N.NFC()]), pre=P.Metaspace(),
                                   decoder=D.Metaspace()),
    "bpe-bytes": lambda g: bpe(g, 500, normalizer=N.NFC(), trainer_options={"initial_alphabet": P.ByteLevel.alphabet()},
                               pre=P.ByteLevel(add_prefix_space=True), decoder=D.ByteLevel(),
                               post=processors.RobertaProcessing(("</s>", 1), ("<s>", 0))),
    "wordlevel": lambda g: wordlevel(g, normalizer=N.NFC(), pre=P.Whitespace()),
    "wordlevel-lower": lambda g: wordlevel(g, normalizer=N.Sequence([N.NFKC(), N.Lowercase()]),
                                           pre=P.Sequence([P.WhitespaceSplit(), P.Punctuation()]),
                                           added=[AddedToken("king", single_word=True), AddedToken("<mask>", lstrip=True)]),
}
# As WordPiece in GGUF.
BERT = {
    "gguf-bert": lambda g: wordpiece(g, normalizer=N.BertNormalizer(), pre=P.BertPreTokenizer(), decoder=D.WordPiece()),
    "gguf-bert-cased": lambda g: wordpiece(g, normalizer=N.BertNormalizer(lowercase=False, strip_accents=None),
                                           pre=P.BertPreTokenizer(), decoder=D.WordPiece()),
}
# Families of byte-level BPE: the expressions of their tokenizer.json, and the name of the division in GGUF files.
CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"


def cased(contraction, digits, but=""):
    """o200k and what was made of it."""
    upper, lower = f"[{UPPER}{but}]", f"[{LOWER}{but}]"
    return (rf"[^\r\n\p{{L}}\p{{N}}]?{upper}*{lower}+{contraction}|[^\r\n\p{{L}}\p{{N}}]?{upper}+{lower}*{contraction}"
            rf"|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n{'' if but else '/'}]*|{SPACES}")


DEEPSEEK_WORDS = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
                  r"| ?[\p{P}\p{S}]+[\r\n]*|" + SPACES)
FAMILIES = {
    "o200k": ("gpt-4o", [cased(CONTRACTION + "?", r"\p{N}{1,3}")]),
    "tekken": ("tekken", [cased("", r"\p{N}")]),
    "deepseek-v3": ("deepseek-v3", [r"\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+", DEEPSEEK_WORDS]),
    "deepseek-coder": ("deepseek-coder", [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-\ud7ff]+", r"\p{N}"]),
    "glm4": ("glm4", [rf"{CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{SPACES}"]),
    "qwen35": ("qwen35", [rf"{CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
                          rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{SPACES}"]),
    "kimi-k2": ("kimi-k2", [r"[\p{Han}]+|" + cased(CONTRACTION + "?", r"\p{N}{1,3}", r"&&[^\p{Han}]")]),
    "tiny-aya": ("tiny_aya", [r"\d{1,3}(?=(?:\d{3})*\b)", cased(CONTRACTION + "?", r"\p{N}{1,3}")]),
    "bloom": ("bloom", [r" ?[^(\s|[.,!?…。，、।۔،])]+"]),
    "bailing": ("bailingmoe", [r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]"
                               r"|\s+(?!\S)|\s+"]),
    "seed": ("seed-coder", [rf"{CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{SPACES}"]),
}


def byte_level(generator, name):
    pre, patterns = FAMILIES[name]
    tokenizer = bpe(generator, 700, normalizer=N.NFC() if name == "qwen35" else None,
                    trainer_options={"initial_alphabet": P.ByteLevel.alphabet()}, decoder=D.ByteLevel(),
                    pre=P.Sequence([*(P.Split(Regex(each), "isolated") for each in patterns),
                                    P.ByteLevel(add_prefix_space=False, use_regex=False)]))
    return with_model(tokenizer, ignore_merges=True) if name == "tekken" else tokenizer


def gemma(generator):
    """SentencePiece's BPE as Gemma's tokenizer.json spells it."""
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=900, special_tokens=["<unk>", "<bos>", *bytes_], show_progress=False)
    tokenizer = trained(generator, models.BPE(unk_token="<unk>", fuse_unk=True), trainer, normalizer=N.Replace(" ", "▁"),
                        pre=P.Split(" ", "merged_with_previous"),
                        decoder=D.Sequence([D.Replace("▁", " "), D.ByteFallback(), D.Fuse()]))
    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = [token for token in document["added_tokens"] if not token["content"].startswith("<0x")]
    document["model"]["byte_fallback"] = True
    return Tokenizer.from_str(json.dumps(document))


KINDS |= {f"bpe-{name}": lambda g, name=name: byte_level(g, name) for name in FAMILIES} | {"bpe-gemma": gemma}
MERGED = {f"gguf-{name}": lambda g, name=name: byte_level(g, name) for name in FAMILIES} | {"gguf-gemma4": gemma}
SENTENCE_PIECE = {
    "spm-unigram": dict(model_type="unigram", vocab_size=1500),
    "spm-unigram-bytes": dict(model_type="unigram", vocab_size=1500, byte_fallback=True, normalization_rule_name="nfkc_cf"),
    "spm-unigram-symbols": dict(model_type="unigram", vocab_size=1500, user_defined_symbols=["<mask>", "the", "king", "ﬁ"],
                                remove_extra_whitespaces=False),
    "spm-unigram-identity": dict(model_type="unigram", vocab_size=1500, normalization_rule_name="identity", add_dummy_prefix=False),
    "spm-bpe": dict(model_type="bpe", vocab_size=1500),
    "spm-bpe-bytes": dict(model_type="bpe", vocab_size=1500, byte_fallback=True, normalization_rule_name="nmt_nfkc_cf", split_digits=True),
    # As Unigram in GGUF.
    "gguf-t5": dict(model_type="unigram", vocab_size=1500),
    "gguf-t5-bytes": dict(model_type="unigram", vocab_size=1500, byte_fallback=True, normalization_rule_name="nfkc_cf"),
    "gguf-t5-symbols": dict(model_type="unigram", vocab_size=1500, user_defined_symbols=["<mask>", "the", "king", "ﬁ"],
                            remove_extra_whitespaces=False),
    "gguf-t5-identity": dict(model_type="unigram", vocab_size=1500, normalization_rule_name="identity", add_dummy_prefix=False),
}


def write_gguf(path, kind, tokens, types, more):
    writer = gguf.GGUFWriter(path, kind)
    writer.add_tokenizer_model(kind)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    more(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def write_bert(path, tokenizer):
    """A mark before what begins a word, in place of one before what continues it."""
    def text(token):
        return token if token.startswith("[") and token.endswith("]") and len(token) > 2 else \
            token[2:] if token.startswith("##") else "▁" + token
    tokens = [token for token, _ in sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])]
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    types = [gguf.TokenType.CONTROL if token in special else gguf.TokenType.NORMAL for token in tokens]
    write_gguf(path, "bert", [text(token) for token in tokens], types, lambda writer: None)


def write_merged(path, name, tokenizer):
    document = json.loads(tokenizer.to_str())
    tokens = [token for token, _ in sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])]
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    is_byte = re.compile("<0x[0-9A-F]{2}>").fullmatch if name == "gemma4" else lambda token: None
    types = [gguf.TokenType.CONTROL if token in special else gguf.TokenType.BYTE if is_byte(token) else gguf.TokenType.NORMAL
             for token in tokens]

    def more(writer):
        writer.add_token_merges([" ".join(merge) for merge in document["model"]["merges"]])
        writer.add_tokenizer_pre(FAMILIES[name][0] if name in FAMILIES else name)
        writer.add_unk_token_id(0)
        writer.add_add_bos_token(False)
    write_gguf(path, "gemma4" if name == "gemma4" else "gpt2", tokens, types, more)


def write_t5(path, document):
    model = piece_model(document)

    def more(writer):
        writer.add_token_scores([piece.score for piece in model.pieces])
        writer.add_add_space_prefix(model.normalizer_spec.add_dummy_prefix)
        writer.add_remove_extra_whitespaces(model.normalizer_spec.remove_extra_whitespaces)
        if model.normalizer_spec.precompiled_charsmap:
            writer.add_precompiled_charsmap(model.normalizer_spec.precompiled_charsmap)
        writer.add_unk_token_id(model.trainer_spec.unk_id)
        writer.add_eos_token_id(model.trainer_spec.eos_id)
    write_gguf(path, "t5", [piece.piece for piece in model.pieces], [piece.type for piece in model.pieces], more)


def own_answers(program, model, texts, *options):
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    done = subprocess.run([program, str(model), *options], input=lines.encode(), capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{model}: {done.stderr.decode()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def compare(name, texts, expected, answers):
    differences = 0
    for text, (ids, decoded), answer in zip(texts, expected, answers, strict=True):
        if ids == answer["ids"] and (decoded is None or decoded == answer["decoded"]):
            continue
        differences += 1
        if differences <= 3:
            print(f"{name}: {text!r}\n  {ids} {decoded!r}\n  {answer['ids']} {answer['decoded']!r}")
    print(f"{name}: {len(texts)} texts, {differences} differences", flush=True)
    return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="default: all")
    parser.add_argument("--texts", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="writes the tokenizers here")
    options = parser.parse_intermixed_args()
    differences = 0
    for name in options.kinds or [*KINDS, *BERT, *MERGED, *SENTENCE_PIECE]:
        generator = random.Random(f"{options.seed} {name}")
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.keep / name if options.keep else pathlib.Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / "tokenizer.gguf" if name.startswith("gguf-") else folder
            if name not in SENTENCE_PIECE:
                tokenizer = (KINDS | BERT | MERGED)[name](generator)
                if name in BERT:
                    write_bert(path, tokenizer)
                elif name in MERGED:
                    write_merged(path, name.removeprefix("gguf-"), tokenizer)
                else:
                    tokenizer.save(str(folder / "tokenizer.json"))
                specials = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
                texts = [random_text(generator, specials) for _ in range(options.texts)]
                expected = []
                for encoding in tokenizer.encode_batch(texts, add_special_tokens=False):
                    expected.append((encoding.ids, tokenizer.decode(encoding.ids, skip_special_tokens=False)))
                answers = own_answers(options.program, path, texts)
            else:
                writer = io.BytesIO()
                sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(corpus(generator)), model_writer=writer,
                                                         hard_vocab_limit=False, minloglevel=2, num_threads=1,
                                                         **SENTENCE_PIECE[name])
                if name.startswith("gguf-"):
                    write_t5(path, writer.getvalue())
                else:
                    (folder / "tokenizer.model").write_bytes(writer.getvalue())
                processor = sentencepiece.SentencePieceProcessor(model_proto=writer.getvalue())
                texts = [random_text(generator, ["<mask>", "<s>", "<unk>"]) for _ in range(options.texts)]
                texts = [text.replace("\0", "") for text in texts]
                unknown = processor.unk_id()
                # The library writes something of its own for unknown characters.
                expected = [(ids, None if unknown in ids else processor.decode(ids)) for ids in processor.encode(texts)]
                answers = own_answers(options.program, path, texts, "--spell-special")
            differences += compare(name, texts, expected, answers)
    return differences > 0


if __name__ == "__main__":
    sys.exit(main())
