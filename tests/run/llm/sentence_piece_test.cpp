#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "run/llm/fixtures.h"
#include "run/llm/load_tokenizer.h"
#include "run/llm/sentence_piece_model.h"
#include "run/llm/text_stream.h"
#include "run/runtime/artefact.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Messages of protocol buffers, written byte by byte as the specification says.
class Message {
public:
    Message& number(uint32_t field, uint64_t value) { return tag(field, 0).varint(value); }
    Message& bytes(uint32_t field, std::string_view value) {
        tag(field, 2).varint(value.size());
        text_ += value;
        return *this;
    }
    Message& message(uint32_t field, const Message& value) { return bytes(field, value.text_); }
    Message& float32(uint32_t field, float value) {
        tag(field, 5);
        char raw[4];
        std::memcpy(raw, &value, 4);
        text_.append(raw, 4);
        return *this;
    }
    Message& raw(std::string_view bytes) {
        text_ += bytes;
        return *this;
    }
    const std::string& text() const { return text_; }

private:
    Message& tag(uint32_t field, uint32_t type) { return varint(field << 3 | type); }
    Message& varint(uint64_t value) {
        for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
        text_ += static_cast<char>(value);
        return *this;
    }
    std::string text_;
};

Message piece(std::string_view text, float score, int type = 1) {
    return Message().bytes(1, text).float32(2, score).number(3, static_cast<uint64_t>(type));
}

Message pieces() {
    return Message()
        .message(1, piece("<unk>", 0, 2))
        .message(1, piece("<s>", 0, 3))
        .message(1, piece("</s>", 0, 3))
        .message(1, piece("\u2581", -1))
        .message(1, piece("a", -2))
        .message(1, piece("b", -3))
        .message(1, piece("ab", -4))
        .message(1, piece("\u2581ab", -5));
}

const Message kBpe = Message().number(3, 2);
const Message kNoTrimming = Message().bytes(1, "identity").number(4, 0);

Tokenizer load(const Message& model, std::string_view config = "") {
    const test::TemporaryFolder folder("sentence_piece");
    folder.write("tokenizer.model", model.text());
    if (!config.empty()) folder.write("tokenizer_config.json", config);
    return load_tokenizer(folder.path());
}

std::string error_of(const Message& model) {
    try {
        load(model);
    } catch (const Error& error) {
        const std::string text = error.what();
        const size_t name = text.find("tokenizer.model");
        return name == std::string::npos ? text : text.substr(name);
    }
    return "no error";
}

TEST(SentencePiece, GivesTheIdsOfItsOwnLibrary) {
    for (const char* name : {"spm_bytes", "spm_unknown", "spm_unigram"}) {
        const Tokenizer tokenizer = load_tokenizer(test::fixtures() / name);
        const nlohmann::json cases = test::read_json(test::fixtures() / name / "cases.json");
        ASSERT_GT(cases.size(), 50u);
        for (const auto& item : cases) {
            const auto text = item.at("text").get<std::string>();
            const auto ids = item.at("ids").get<std::vector<TokenId>>();
            EXPECT_EQ(tokenizer.encode(text, {.parse_special = false}), ids) << name << ": " << item;
            // The library writes something of its own for unknown characters.
            if (std::find(ids.begin(), ids.end(), 0) == ids.end()) {
                EXPECT_EQ(tokenizer.decode(ids), item.at("decoded").get<std::string>()) << item;
            }
        }
        EXPECT_EQ(tokenizer.bos(), 1);
        EXPECT_EQ(tokenizer.eos(), std::vector<TokenId>{2});
        EXPECT_TRUE(tokenizer.adds_bos());
    }
}

TEST(SentencePiece, TravelsInAnArtefact) {
    const auto folder = test::fixtures() / "spm_bytes";
    const std::vector<runtime::NamedFile> files = tokenizer_files(folder);
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(files[0].name, "tokenizer.model");
    const std::string text = "the king rides <mask>";
    EXPECT_EQ(load_tokenizer(files, "model.tsr").encode(text), load_tokenizer(folder).encode(text));
    EXPECT_EQ(load_tokenizer(folder / "tokenizer.model").encode(text), load_tokenizer(folder).encode(text));
}

TEST(SentencePiece, TokenizerJsonComesFirst) {
    const test::TemporaryFolder folder("both");
    folder.write("tokenizer.model", "damaged");
    EXPECT_THROW(load_tokenizer(folder.path()), Error);
    folder.write("tokenizer.json", test::read_file(test::fixtures() / "llama2/tokenizer.json"));
    EXPECT_EQ(load_tokenizer(folder.path()).vocabulary_size(),
              load_tokenizer(test::fixtures() / "llama2").vocabulary_size());
}

TEST(SentencePiece, SettingsOfTheNormalizer) {
    const auto encode = [](const Message& normalizer, std::string_view text) {
        return load(pieces().message(2, kBpe).message(3, normalizer)).encode(text);
    };
    EXPECT_THAT(encode(kNoTrimming, " ab  b"), ElementsAre(3, 7, 3, 3, 5));
    EXPECT_THAT(encode(Message(), "  ab  b "), ElementsAre(7, 3, 5)) << "trims by default";
    EXPECT_THAT(encode(Message().number(3, 0), "ab b"), ElementsAre(6, 3, 5));
    EXPECT_THAT(encode(Message().number(5, 0), "ab b"), ElementsAre(0, 6, 0, 5)) << "spaces stay spaces";
    EXPECT_THAT(encode(Message(), ""), ElementsAre());
    EXPECT_THAT(encode(Message(), "  "), ElementsAre());
}

TEST(SentencePiece, FilesBesideAddTokensAndSayWhatSurroundsAText) {
    const Message model = pieces().message(2, kBpe).message(3, kNoTrimming);
    EXPECT_THAT(load(model).encode("ab", {.add_special = true}), ElementsAre(1, 7));
    const Tokenizer tokenizer = load(model, R"({
        "tokenizer_class": "LlamaTokenizer", "add_bos_token": false, "add_eos_token": true,
        "eos_token": "<|im_end|>",
        "added_tokens_decoder": {"2": {"content": "</s>", "special": true},
                                 "8": {"content": "<|im_end|>", "special": true},
                                 "9": {"content": "<box>", "special": false}}})");
    EXPECT_THAT(tokenizer.encode("ab<|im_end|><box>", {.add_special = true}), ElementsAre(7, 8, 9, 8));
    EXPECT_THAT(tokenizer.eos(), ElementsAre(8));
    EXPECT_EQ(tokenizer.bos(), 1);
    EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{7, 8, 9}), "ab<|im_end|><box>");
    EXPECT_THAT(load(model, R"({"add_prefix_space": false})").encode("ab"), ElementsAre(6));
}

TEST(SentencePiece, OlderFilesBesideAddTokens) {
    const auto load_with = [&](std::string_view config, std::string_view added, std::string_view map) {
        const test::TemporaryFolder folder("older_files");
        folder.write("tokenizer.model", pieces().message(2, kBpe).message(3, kNoTrimming).text());
        if (!config.empty()) folder.write("tokenizer_config.json", config);
        folder.write("added_tokens.json", added);
        if (!map.empty()) folder.write("special_tokens_map.json", map);
        return load_tokenizer(folder.path());
    };
    constexpr std::string_view kAdded = R"({"<|im_end|>": 8, "<box>": 9})";
    constexpr std::string_view kMap =
        R"({"eos_token": {"content": "<|im_end|>", "lstrip": false}, "bos_token": "<s>"})";
    const Tokenizer tokenizer = load_with(R"({"eos_token": "</s>", "legacy": true})", kAdded, kMap);
    EXPECT_THAT(tokenizer.encode("ab<|im_end|><box>ab"), ElementsAre(7, 8, 9, 7));
    EXPECT_THAT(tokenizer.eos(), ElementsAre(8)) << "the map counts before the other file";
    EXPECT_TRUE(tokenizer.is_special(8));
    EXPECT_FALSE(tokenizer.is_special(9));
    EXPECT_THAT(load_with(R"({"legacy": false})", kAdded, "").encode("ab<box>ab"), ElementsAre(7, 9, 6));

    const auto error_with = [&](std::string_view config, std::string_view added) -> std::string {
        try {
            load_with(config, added, "");
        } catch (const Error& error) {
            return error.what();
        }
        return "no error";
    };
    constexpr std::string_view kDecoder = R"({"added_tokens_decoder": {"8": {"content": "<a>"}}})";
    EXPECT_EQ(error_with(kDecoder, R"({"<a>": 8})"), "no error");
    EXPECT_THAT(
        error_with(kDecoder, R"({"<a>": 9})"),
        HasSubstr("added_tokens.json: `<a>`: is 9, but added_tokens_decoder of tokenizer_config.json says "
                  "that 8 is \"<a>\""));
    EXPECT_THAT(error_with(kDecoder, R"({"<b>": 8})"), HasSubstr("`<b>`: is 8, but added_tokens_decoder"));
    EXPECT_THAT(error_with("", R"({"<a>": 8, "<b>": 8})"),
                HasSubstr("`<b>`: is 8, but the file says that 8 is \"<a>\""));
    EXPECT_THAT(error_with("", R"({"ab": 8})"),
                HasSubstr("`pieces[6]`: is \"ab\", which the files beside it say is the token 8"));
}

// Ids and texts of the library, version 0.2.3.
TEST(SentencePiece, UserDefinedPiecesOfBlanksKeepTheirPlace) {
    const Message more = pieces().message(1, piece("  ", 0, 4)).message(1, piece("\u2581b", -1));
    const auto encode = [&](const Message& normalizer, std::string_view text) {
        return load(Message(more).message(2, kBpe).message(3, normalizer)).encode(text);
    };
    const Message trims = Message().bytes(1, "identity");
    EXPECT_THAT(encode(trims, "a  b"), ElementsAre(3, 4, 3, 9));
    EXPECT_THAT(encode(trims, "  a    b  "), ElementsAre(3, 4, 3, 9));
    EXPECT_THAT(encode(trims, "a   b a"), ElementsAre(3, 4, 3, 9, 3, 4));
    EXPECT_THAT(encode(trims, "  "), ElementsAre());
}

TEST(SentencePiece, DecodingSparesTheBlanksOfBytes) {
    Message with_bytes = pieces();
    for (int byte = 0; byte < 256; ++byte)
        with_bytes.message(1, piece(fmt::format("<0x{:02X}>", byte), 0, 6));
    const TokenId blank = 8 + ' ';
    using Ids = std::vector<TokenId>;
    for (const Message& normalizer : {Message(), Message().number(4, 0)}) {
        const Tokenizer tokenizer =
            load(Message(with_bytes).message(2, Message().number(3, 2).number(35, 1)).message(3, normalizer));
        EXPECT_EQ(tokenizer.decode(Ids{blank, 7}), "  ab");
        EXPECT_EQ(tokenizer.decode(Ids{blank}), " ");
        EXPECT_EQ(tokenizer.decode(Ids{7, 7}), "ab ab");
        EXPECT_EQ(tokenizer.decode(Ids{blank, blank, 7}), "   ab");
        TextStream stream(tokenizer, {}, true);
        std::string text = stream.push(blank);
        text += stream.push(7);
        EXPECT_EQ(text + stream.finish(), "  ab");
    }
    // One blank in front belongs to the text where none are removed.
    const auto decode = [&](const Message& normalizer) {
        return load(Message(with_bytes).message(2, kBpe).message(3, normalizer)).decode(Ids{3, 7});
    };
    EXPECT_EQ(decode(Message()), "ab");
    EXPECT_EQ(decode(Message().number(4, 0)), " ab");
}

TEST(SentencePiece, NamesWhatIsNotSupported) {
    EXPECT_THAT(error_of(pieces().message(2, Message().number(3, 3))),
                HasSubstr("`trainer_spec.model_type`: is WORD, which is not supported"));
    EXPECT_THAT(error_of(pieces().message(2, Message().number(3, 4))), HasSubstr("is CHAR"));
    EXPECT_THAT(error_of(pieces().message(2, Message().number(3, 2).number(24, 1))),
                HasSubstr("`trainer_spec.treat_whitespace_as_suffix`: is set, which is not supported"));
    EXPECT_THAT(error_of(pieces().message(2, kBpe).message(5, Message().bytes(2, "map"))),
                HasSubstr("`denormalizer_spec.precompiled_charsmap`: maps characters"));
    EXPECT_THAT(error_of(pieces().message(2, kBpe).message(1, piece("x", 0, 5))),
                HasSubstr("`pieces`: [8] is of type UNUSED"));
}

TEST(SentencePiece, UnigramTakesTheBestSum) {
    // ▁ -1, a -2, b -3, ab -4, ▁ab -5: at equal sums the division that was found first stays.
    const Tokenizer tokenizer = load(pieces());
    EXPECT_THAT(tokenizer.encode("ab"), ElementsAre(7));
    EXPECT_THAT(tokenizer.encode("b a"), ElementsAre(3, 5, 3, 4));
    EXPECT_THAT(tokenizer.encode("xx b"), ElementsAre(3, 0, 3, 5)) << "unknown characters join";
    const Message more = pieces().message(1, piece("aa", -9, 4)).message(1, piece("a\u2581", -1, 5));
    EXPECT_THAT(load(more).encode("aa a"), ElementsAre(3, 8, 3, 4))
        << "user-defined pieces come first, unused ones never";
}

TEST(SentencePiece, NamesWhatIsDamaged) {
    EXPECT_THAT(error_of(pieces().message(3, Message().bytes(2, "map"))),
                HasSubstr("`normalizer_spec.precompiled_charsmap`: has 3 bytes"));
    const auto with = [](const Message& more) { return pieces().message(2, kBpe).message(1, more); };
    EXPECT_THAT(error_of(with(piece("", 0))), HasSubstr("`pieces[8]`: is empty"));
    EXPECT_THAT(error_of(with(piece("ab", 0))), HasSubstr("`pieces[8]`: is \"ab\", as pieces[6] is"));
    EXPECT_THAT(error_of(with(piece("c", std::numeric_limits<float>::infinity()))),
                HasSubstr("`pieces[8]`: has the score inf"));
    EXPECT_THAT(error_of(with(piece("c", 0, 7))), HasSubstr("`pieces[8]`: has the type 7"));
    EXPECT_THAT(error_of(with(Message().number(1, 5))),
                HasSubstr("`piece`: has the wire type 0, expected 2"));
    EXPECT_THAT(error_of(Message()), HasSubstr("tokenizer.model: is empty"));
    EXPECT_THAT(error_of(Message().raw("\x0a\x7f")),
                HasSubstr("tokenizer.model@0: `field 1`: needs 127 bytes, but 0 are left"));
    EXPECT_THAT(error_of(Message().raw("\x0b")), HasSubstr("`field 1`: has the wire type 3"));
    EXPECT_THAT(error_of(Message().raw(std::string("\x02\x01", 2))),
                HasSubstr("has a field with the number 0"));
    EXPECT_THAT(error_of(Message().raw(std::string(11, '\xff'))),
                HasSubstr("has a number of more than 10 bytes"));
    EXPECT_THAT(error_of(Message().raw("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
                                       "x")),
                HasSubstr("needs 9223372036854775807 bytes"));
}

TEST(SentencePiece, AnyDamageIsAnErrorOrAnotherModel) {
    const std::string whole = test::read_file(test::fixtures() / "spm_unknown/tokenizer.model");
    const auto try_to_read = [](const std::string& bytes) {
        try {
            const SentencePieceModel model = read_sentence_piece_model(bytes, "damaged");
            EXPECT_GT(model.vocabulary.size(), 0u);
            EXPECT_EQ(model.scores.size(), model.vocabulary.size());
        } catch (const Error&) {
        }
    };
    for (size_t size = 0; size < whole.size(); size += 7) try_to_read(whole.substr(0, size));
    for (uint32_t seed = 0; seed < 2000; ++seed) {
        std::mt19937 random(seed);
        std::string damaged = whole;
        for (int flips = 0; flips < 3; ++flips)
            damaged[random() % damaged.size()] ^= static_cast<char>(1u << random() % 8);
        try_to_read(damaged);
        try_to_read(test::random_bytes(random, 64));
    }
}

}  // namespace
}  // namespace tessera::llm
