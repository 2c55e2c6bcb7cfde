#include <algorithm>
#include <optional>

#include "run/llm/tokenizer_sources.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

struct MergeIds {
    TokenId left;
    TokenId right;
    TokenId result;
};

std::optional<MergeIds> find(std::string_view left, std::string_view right, const Vocabulary& vocabulary,
                             std::string_view continuing_prefix) {
    const auto left_id = vocabulary.find(left);
    const auto right_id = vocabulary.find(right);
    if (!left_id || !right_id) return std::nullopt;
    if (right.starts_with(continuing_prefix)) right.remove_prefix(continuing_prefix.size());
    const auto result = vocabulary.find(std::string(left).append(right));
    if (!result) return std::nullopt;
    return MergeIds{*left_id, *right_id, *result};
}

/// Tries every space that could be the one between the parts.
std::optional<MergeIds> find(const MergeText& text, const Vocabulary& vocabulary,
                             std::string_view continuing_prefix) {
    if (!text.right.empty()) return find(text.left, text.right, vocabulary, continuing_prefix);
    const std::string_view whole = text.left;
    for (size_t space = whole.find(' ', 1); space != std::string_view::npos;
         space = whole.find(' ', space + 1))
        if (const auto ids =
                find(whole.substr(0, space), whole.substr(space + 1), vocabulary, continuing_prefix))
            return ids;
    return std::nullopt;
}

}  // namespace

MergeTable make_merges(std::span<const MergeText> texts, const Vocabulary& vocabulary,
                       std::string_view continuing_prefix, UnknownMerge unknown, const std::string& where) {
    MergeTable table(texts.size());
    for (size_t rank = 0; rank < texts.size(); ++rank) {
        const auto ids = find(texts[rank], vocabulary, continuing_prefix);
        if (ids)
            table.add(ids->left, ids->right, {static_cast<uint32_t>(rank), ids->result});
        else if (unknown == UnknownMerge::kRefuse)
            throw Error(
                where, fmt::format("merge {}", rank),
                fmt::format("joins \"{}\" and \"{}\", but these or the result are not in the vocabulary",
                            texts[rank].left, texts[rank].right));
    }
    return table;
}

std::optional<std::array<TokenId, 256>> find_byte_tokens(const Vocabulary& vocabulary) {
    std::array<TokenId, 256> tokens;
    for (int byte = 0; byte < 256; ++byte)
        tokens[byte] = vocabulary.find(fmt::format("<0x{:02X}>", byte)).value_or(-1);
    if (std::all_of(tokens.begin(), tokens.end(), [](TokenId id) { return id < 0; })) return std::nullopt;
    return tokens;
}

}  // namespace tessera::llm
