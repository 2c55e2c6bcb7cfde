#include "run/llm/tokenizer_document.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "support/error.h"

namespace tessera::llm {
namespace {

/// The largest published files have a vocabulary of a quarter of a million, and half a million merges of
/// three values each, in 30 MB.
constexpr JsonBounds kTokenizerBounds{
    .bytes = size_t{256} << 20, .values = 16'000'000, .depth = 64, .word = size_t{4} << 20};
/// Values besides both: added tokens have eight each, and some models have six thousand tokens.
constexpr size_t kMostOthers = 1'000'000;

/// Takes the vocabulary and the merges from the values that pass by, and leaves the others to a builder.
/// @param vocabulary_at_root the file is a vocab.json
class TokenizerReader final : public JsonEvents {
public:
    TokenizerReader(std::string file, bool vocabulary_at_root)
        : file_(file), root_is_vocabulary_(vocabulary_at_root), rest_(std::move(file), kMostOthers) {}

    Vocabulary take_vocabulary() { return std::move(vocabulary_); }
    TokenizerDocument take() {
        return {.vocabulary = std::move(vocabulary_),
                .scores = std::move(scores_),
                .merges = std::move(merges_),
                .rest = rest_.take()};
    }
    bool found_object() const { return found_object_; }

    void null() override {
        expect_rest("null");
        rest_.null();
    }
    void boolean(bool value) override {
        expect_rest("boolean");
        rest_.boolean(value);
    }
    void real(double value) override {
        if (mode_ == Mode::kPieces) return piece_score(value);
        if (mode_ != Mode::kRest) fail("is a fraction, expected an integer");
        rest_.real(value);
    }
    void negative(int64_t value) override {
        if (mode_ == Mode::kPieces) return piece_score(static_cast<double>(value));
        if (mode_ == Mode::kVocabulary) fail(fmt::format("has the id {}, expected 0 or more", value));
        expect_rest("number");
        rest_.negative(value);
    }
    void natural(uint64_t value) override {
        if (mode_ == Mode::kPieces) return piece_score(static_cast<double>(value));
        if (mode_ != Mode::kVocabulary) {
            expect_rest("number");
            return rest_.natural(value);
        }
        if (value > static_cast<uint64_t>(Vocabulary::kLargestId))
            fail(fmt::format("has the id {}, expected at most {}", value, Vocabulary::kLargestId));
        if (!vocabulary_.add(static_cast<TokenId>(value), key_))
            fail(fmt::format("has the id {}, which another token has too", value));
    }
    void text(std::string& value) override {
        if (mode_ == Mode::kMerges) return merge_text(value);
        if (mode_ == Mode::kPieces) return piece_text(value);
        expect_rest("string");
        rest_.text(value);
    }

    void begin_object() override {
        if (mode_ != Mode::kRest) fail("is an object, which is not expected here");
        const bool is_root = depth_ == 0;
        found_object_ = found_object_ || is_root;
        if (is_root && root_is_vocabulary_) {
            mode_ = Mode::kVocabulary;
            return;
        }
        ++depth_;
        rest_.begin_object();
        if (is_model_member("vocab", depth_ - 1)) mode_ = Mode::kVocabulary;
    }
    void end_object() override {
        mode_ = Mode::kRest;
        if (depth_ == 0) return;
        --depth_;
        rest_.end_object();
    }
    void begin_array() override {
        if ((mode_ == Mode::kMerges || mode_ == Mode::kPieces) && !in_pair_) {
            in_pair_ = true;
            pair_.clear();
            score_.reset();
            return;
        }
        if (mode_ != Mode::kRest) fail("is an array, which is not expected here");
        ++depth_;
        rest_.begin_array();
        if (is_model_member("merges", depth_ - 1)) mode_ = Mode::kMerges;
        if (is_model_member("vocab", depth_ - 1)) mode_ = Mode::kPieces;
    }
    void end_array() override {
        if (in_pair_) return mode_ == Mode::kMerges ? end_merge() : end_piece();
        mode_ = Mode::kRest;
        --depth_;
        rest_.end_array();
    }
    void key(std::string& name) override {
        key_ = name;
        if (mode_ == Mode::kVocabulary) return;
        if (depth_ == 1) root_key_ = name;
        rest_.key(name);
    }

private:
    enum class Mode { kRest, kVocabulary, kPieces, kMerges };

    /// True if the value that begins now, at this depth, is `model.NAME`.
    bool is_model_member(std::string_view name, size_t depth) const {
        return !root_is_vocabulary_ && depth == 2 && root_key_ == "model" && key_ == name;
    }

    void expect_rest(std::string_view found) const {
        if (mode_ != Mode::kRest) fail(fmt::format("is {}, which is not expected here", found));
    }

    void merge_text(std::string& text) {
        if (in_pair_) {
            pair_.push_back(std::move(text));
            return;
        }
        auto merge = split_merge(text);
        if (!merge)
            fail(fmt::format("merge {} is \"{}\", expected two texts with a space between", merges_.size(),
                             text));
        merges_.push_back(std::move(*merge));
    }
    void end_merge() {
        if (pair_.size() != 2 || pair_[0].empty() || pair_[1].empty())
            fail(fmt::format("merge {} has {} texts, expected two that are not empty", merges_.size(),
                             pair_.size()));
        merges_.push_back({std::move(pair_[0]), std::move(pair_[1])});
        in_pair_ = false;
    }

    void piece_text(std::string& text) {
        if (!in_pair_ || !pair_.empty()) fail_piece();
        pair_.push_back(std::move(text));
    }
    void piece_score(double score) {
        if (!in_pair_ || pair_.empty() || score_) fail_piece();
        score_ = score;
    }
    void end_piece() {
        if (!score_) fail_piece();
        if (scores_.size() > static_cast<size_t>(Vocabulary::kLargestId))
            fail(fmt::format("has more than {} tokens", Vocabulary::kLargestId));
        vocabulary_.add(static_cast<TokenId>(scores_.size()), pair_.front());
        scores_.push_back(*score_);
        in_pair_ = false;
    }
    [[noreturn]] void fail_piece() const {
        fail(fmt::format("token {} is no list of a text and a score", scores_.size()));
    }

    [[noreturn]] void fail(std::string problem) const {
        const bool in_vocabulary = mode_ == Mode::kVocabulary || mode_ == Mode::kPieces;
        const std::string_view section = in_vocabulary ? "vocab" : mode_ == Mode::kMerges ? "merges" : "";
        throw Error(
            file_, std::string(section),
            mode_ == Mode::kVocabulary ? fmt::format("token \"{}\" {}", key_, problem) : std::move(problem));
    }

    std::string file_;
    bool root_is_vocabulary_;
    Vocabulary vocabulary_;
    std::vector<double> scores_;
    std::vector<MergeText> merges_;
    JsonBuilder rest_;  // has the vocabulary and the merges empty
    size_t depth_ = 0;  // of objects and arrays that the builder has open
    std::string key_;
    std::string root_key_;
    Mode mode_ = Mode::kRest;
    bool in_pair_ = false;
    std::vector<std::string> pair_;  // the texts of a merge, or that of a token
    std::optional<double> score_;
    bool found_object_ = false;
};

void read_tokenizer_events(std::string_view text, const std::string& where, TokenizerReader& reader) {
    parse_json_events(text, where, kTokenizerBounds, reader);
    if (!reader.found_object()) throw Error(where, "", "is not a JSON object");
}

}  // namespace

std::optional<MergeText> split_merge(std::string_view text) {
    if (text.size() < 3) return std::nullopt;
    const std::string_view inner = text.substr(1, text.size() - 2);
    if (inner.find(' ') == std::string_view::npos) return std::nullopt;
    const size_t space = text.find(' ');
    if (text.find(' ', space + 1) != std::string_view::npos) return MergeText{std::string(text), ""};
    return MergeText{std::string(text.substr(0, space)), std::string(text.substr(space + 1))};
}

TokenizerDocument read_tokenizer_document(std::string_view text, const std::string& where) {
    TokenizerReader reader(where, false);
    read_tokenizer_events(text, where, reader);
    return reader.take();
}

Vocabulary read_vocabulary_json(std::string_view text, const std::string& where) {
    TokenizerReader reader(where, true);
    read_tokenizer_events(text, where, reader);
    return reader.take_vocabulary();
}

std::vector<MergeText> read_merges_text(std::string_view text, const std::string& where) {
    std::vector<MergeText> merges;
    for (size_t line = 1; !text.empty(); ++line) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view content = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (content.ends_with('\r')) content.remove_suffix(1);
        if (content.empty() || content.starts_with("#version")) continue;
        auto merge = split_merge(content);
        if (!merge)
            throw Error(fmt::format("{}:{}", where, line), "",
                        fmt::format("is \"{}\", expected two texts with a space between", content));
        merges.push_back(std::move(*merge));
    }
    return merges;
}

}  // namespace tessera::llm
