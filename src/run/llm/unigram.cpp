#include "run/llm/unigram.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "run/llm/utf8.h"
#include "support/error.h"

// Viterbi's algorithm over the ends of tokens:
//
//     h u g s       scores: h -1, hu -1.5, ug -1.2, hug -2, s -1
//     0 1 2 3 4     the best way to 3 is the better one of hug (0 + -2), hu + g and h + ug; the end remembers
//                   where its last token begins, and the way is read backwards
//
// Every place where a character begins is reached: a character that is no token counts as an unknown one.

namespace tessera::llm {
namespace {

constexpr size_t kUnreached = SIZE_MAX;
constexpr TokenId kUnknownCharacter = -1;

/// The best division of a text that ends at a place.
struct BestEnd {
    double score = 0;
    size_t begin = kUnreached;  ///< of the last token
    TokenId token = kUnknownCharacter;
};

std::vector<std::pair<std::string_view, TokenId>> texts_with_scores(const Vocabulary& vocabulary,
                                                                    const std::vector<double>& scores) {
    std::vector<std::pair<std::string_view, TokenId>> texts;
    for (size_t i = 0; i < scores.size(); ++i) {
        const auto id = static_cast<TokenId>(i);
        if (!std::isnan(scores[i])) texts.emplace_back(vocabulary.text(id), id);
    }
    return texts;
}

}  // namespace

Unigram::Unigram(const Vocabulary& vocabulary, std::vector<double> scores, UnigramOptions options)
    : trie_(texts_with_scores(vocabulary, scores)), scores_(std::move(scores)), options_(options) {
    TESSERA_CHECK(scores_.size() == vocabulary.size(), "{} scores for {} tokens", scores_.size(),
                  vocabulary.size());
}

void Unigram::encode(const Vocabulary& vocabulary, std::string_view piece, std::vector<TokenId>& out) const {
    const auto rounded = [&](double sum) {
        return options_.rounds_to_single ? static_cast<double>(static_cast<float>(sum)) : sum;
    };
    std::vector<BestEnd> ends(piece.size() + 1);
    const auto reach = [&](size_t begin, size_t size, double score, TokenId token) {
        BestEnd& end = ends[begin + size];
        if (end.begin != kUnreached && !(score > end.score)) return;
        end = {score, begin, token};
    };
    for (size_t at = 0; at < piece.size();) {
        const double before = ends[at].score;
        const size_t character = first_character(piece.substr(at)).length;
        bool has_character = false;
        trie_.for_each_prefix(piece.substr(at), [&](TokenId token, size_t size) {
            if (vocabulary.is_hidden(token)) return;
            reach(at, size, rounded(scores_[static_cast<size_t>(token)] + before), token);
            has_character = has_character || size == character;
        });
        if (!has_character) reach(at, character, rounded(options_.unknown_score + before), kUnknownCharacter);
        at += character;
    }

    std::vector<std::pair<size_t, TokenId>> reversed;  // begins and tokens
    for (size_t end = piece.size(); end > 0; end = ends[end].begin)
        reversed.emplace_back(ends[end].begin, ends[end].token);
    // The token of unknown characters may itself be spelled by the text; it joins them.
    const auto is_unknown = [&](TokenId token) {
        return token == kUnknownCharacter || token == options_.unknown;
    };
    for (size_t i = reversed.size(); i > 0;) {
        const auto [begin, token] = reversed[--i];
        if (!is_unknown(token)) {
            out.push_back(token);
            continue;
        }
        while (i > 0 && is_unknown(reversed[i - 1].second)) --i;
        const size_t end = i > 0 ? reversed[i - 1].first : piece.size();
        encode_unknown(vocabulary, piece.substr(begin, end - begin), out);
    }
}

void Unigram::encode_unknown(const Vocabulary& vocabulary, std::string_view text,
                             std::vector<TokenId>& out) const {
    std::optional<TokenId> whole;
    trie_.for_each_prefix(text, [&](TokenId token, size_t size) {
        if (size == text.size() && !vocabulary.is_hidden(token)) whole = token;
    });
    if (whole) {
        out.push_back(*whole);
        return;
    }
    const auto token_of = [&](char byte) { return (*options_.byte_tokens)[static_cast<uint8_t>(byte)]; };
    if (options_.byte_tokens &&
        std::all_of(text.begin(), text.end(), [&](char byte) { return token_of(byte) >= 0; })) {
        for (const char byte : text) out.push_back(token_of(byte));
        return;
    }
    if (!options_.unknown)
        throw Error("tokenizer", std::string(text.substr(0, first_character(text).length)),
                    "is no token, and none stands for unknown characters");
    out.push_back(*options_.unknown);
}

}  // namespace tessera::llm
