#include "llm/tokenizer_document.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "support/error.h"

namespace tessera {
namespace {

using Json = nlohmann::json;

// Deeper than any tokenizer.json; the JSON value is destroyed level by level.
constexpr size_t kDeepest = 64;

/// Receives the events of the JSON parser. `vocabulary_at_root`: the file is a vocab.json.
class Reader final : public nlohmann::json_sax<Json> {
public:
    Reader(std::string file, bool vocabulary_at_root)
        : file_(std::move(file)), root_is_vocabulary_(vocabulary_at_root) {}

    TokenizerDocument take() && { return std::move(document_); }
    bool found_object() const { return found_object_; }

    bool null() override { return value(nullptr); }
    bool boolean(bool flag) override { return value(flag); }
    bool number_float(number_float_t number, const string_t&) override {
        if (mode_ != Mode::kRest) fail("is a fraction, expected an integer");
        return value(number);
    }
    bool number_integer(number_integer_t number) override {
        if (mode_ == Mode::kVocabulary) fail(fmt::format("has the id {}, expected 0 or more", number));
        return value(number);
    }
    bool number_unsigned(number_unsigned_t number) override {
        if (mode_ != Mode::kVocabulary) return value(number);
        if (number > static_cast<uint64_t>(Vocabulary::kLargestId))
            fail(fmt::format("has the id {}, expected at most {}", number, Vocabulary::kLargestId));
        if (!document_.vocabulary.add(static_cast<TokenId>(number), key_))
            fail(fmt::format("has the id {}, which another token has too", number));
        return true;
    }
    bool string(string_t& text) override {
        if (mode_ == Mode::kMerges) return merge_text(text);
        return value(std::move(text));
    }
    bool binary(binary_t&) override { return true; }

    bool start_object(std::size_t) override {
        if (mode_ != Mode::kRest) fail("is an object, which is not expected here");
        const bool is_root = open_.empty();
        found_object_ = found_object_ || is_root;
        if (is_root ? root_is_vocabulary_ : is_model_key("vocab")) {
            mode_ = Mode::kVocabulary;
            return true;
        }
        open(Json::object());
        return true;
    }
    bool end_object() override {
        if (mode_ == Mode::kVocabulary)
            mode_ = Mode::kRest;
        else
            open_.pop_back();
        return true;
    }
    bool start_array(std::size_t) override {
        if (mode_ == Mode::kMerges && !in_pair_) {
            in_pair_ = true;
            pair_.clear();
        } else if (mode_ != Mode::kRest) {
            fail("is an array, which is not expected here");
        } else if (is_model_key("merges")) {
            mode_ = Mode::kMerges;
        } else {
            open(Json::array());
        }
        return true;
    }
    bool end_array() override {
        if (in_pair_) {
            if (pair_.size() != 2 || pair_[0].empty() || pair_[1].empty())
                fail(fmt::format("merge {} has {} texts, expected two that are not empty",
                                 document_.merges.size(), pair_.size()));
            document_.merges.push_back({std::move(pair_[0]), std::move(pair_[1])});
            in_pair_ = false;
        } else if (mode_ == Mode::kMerges) {
            mode_ = Mode::kRest;
        } else {
            open_.pop_back();
        }
        return true;
    }
    bool key(string_t& text) override {
        key_ = std::move(text);
        if (open_.size() == 1 && mode_ == Mode::kRest) root_key_ = key_;
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const Json::exception& error) override {
        throw Error(fmt::format("{}@{}", file_, position), "", fmt::format("is not JSON: {}", error.what()));
    }

private:
    enum class Mode { kRest, kVocabulary, kMerges };

    /// Whether the value that begins now is `model.NAME`.
    bool is_model_key(std::string_view name) const {
        return !root_is_vocabulary_ && open_.size() == 2 && root_key_ == "model" && key_ == name;
    }

    bool value(Json json) {
        if (mode_ != Mode::kRest) fail(fmt::format("is {}, which is not expected here", json.type_name()));
        place(std::move(json));
        return true;
    }

    Json& place(Json json) {
        if (open_.empty()) return document_.rest = std::move(json);
        Json& container = *open_.back();
        if (container.is_object()) return container[key_] = std::move(json);
        container.push_back(std::move(json));
        return container.back();
    }

    void open(Json container) {
        if (open_.size() == kDeepest) fail(fmt::format("nests more than {} deep", kDeepest));
        // Elements of an array move when it grows, but only the last one is ever open.
        Json& placed = place(std::move(container));
        open_.push_back(&placed);
    }

    bool merge_text(string_t& text) {
        if (in_pair_) {
            pair_.push_back(std::move(text));
            return true;
        }
        auto merge = split_merge(text);
        if (!merge)
            fail(fmt::format("merge {} is \"{}\", expected two texts with a space between",
                             document_.merges.size(), text));
        document_.merges.push_back(std::move(*merge));
        return true;
    }

    [[noreturn]] void fail(std::string problem) const {
        const std::string_view section = mode_ == Mode::kVocabulary ? "vocab"
                                         : mode_ == Mode::kMerges   ? "merges"
                                                                    : "";
        throw Error(
            file_, std::string(section),
            mode_ == Mode::kVocabulary ? fmt::format("token \"{}\" {}", key_, problem) : std::move(problem));
    }

    std::string file_;
    bool root_is_vocabulary_;
    TokenizerDocument document_;
    std::vector<Json*> open_;  // the containers that are being read, outermost first
    std::string key_;
    std::string root_key_;
    Mode mode_ = Mode::kRest;
    bool in_pair_ = false;
    std::vector<std::string> pair_;
    bool found_object_ = false;
};

TokenizerDocument read(std::string_view text, const std::string& where, bool vocabulary_at_root) {
    Reader reader(where, vocabulary_at_root);
    Json::sax_parse(text.data(), text.data() + text.size(), &reader);
    if (!reader.found_object()) throw Error(where, "", "is not a JSON object");
    return std::move(reader).take();
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
    return read(text, where, false);
}

Vocabulary read_vocabulary_json(std::string_view text, const std::string& where) {
    return read(text, where, true).vocabulary;
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

}  // namespace tessera
