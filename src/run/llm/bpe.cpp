#include "run/llm/bpe.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "run/llm/utf8.h"
#include "support/error.h"

// A piece starts as a list of symbols, one for each character. Among all neighbours that may merge, the pair
// of the smallest rank does, the leftmost on a tie; then its two new neighbourhoods are examined.
//
//     h e l l o      ranks: (l,l) 1, (h,e) 2, (he,ll) 3
//     h e ll o       candidates wait in a heap by (rank, position); the symbols are a doubly linked list
//     he ll o        in an array. A candidate whose symbols have meanwhile merged otherwise is recognised
//     hell o         by the bytes that it was made for, and dropped.
//
// Every merge removes a symbol and adds at most two candidates: n log n in all.

namespace tessera::llm {
namespace {

constexpr uint64_t kFreePair = UINT64_MAX;
constexpr TokenId kNoToken = -1;
constexpr int32_t kNone = -1;
// Positions and numbers of symbols are 32 bits.
constexpr size_t kLongestPiece = (size_t{1} << 31) - 1;

uint64_t key_of(TokenId left, TokenId right) {
    return (uint64_t{static_cast<uint32_t>(left)} << 32) | static_cast<uint32_t>(right);
}

/// True if every byte of a character has a token.
bool has_byte_tokens(const BpeOptions& options, std::string_view character) {
    return options.byte_tokens && std::all_of(character.begin(), character.end(), [&](char byte) {
               return (*options.byte_tokens)[static_cast<uint8_t>(byte)] != kNoToken;
           });
}

struct Symbol {
    uint32_t begin;  // in the piece
    uint32_t size;   // 0: merged away
    int32_t previous;
    int32_t next;
    TokenId token;  // kNoToken if the text is no token
    bool is_fixed;
};

struct MergeCandidate {
    uint32_t rank;
    int32_t left;
    int32_t right;
    uint32_t size;  // of both symbols together when the candidate was made
    TokenId result;

    /// For a heap whose top is the smallest rank, and of those the leftmost.
    friend bool operator<(const MergeCandidate& a, const MergeCandidate& b) {
        return std::tie(b.rank, b.left) < std::tie(a.rank, a.left);
    }
};

/// Symbols of one piece and their merging; `find_merge(left, right)` gives the result for two neighbours.
template <typename FindMerge>
class Merging {
public:
    Merging(std::vector<Symbol>& symbols, FindMerge find_merge)
        : symbols_(symbols), find_merge_(std::move(find_merge)) {}

    void run() {
        for (int32_t i = 0; i + 1 < static_cast<int32_t>(symbols_.size()); ++i) consider(i, i + 1);
        std::make_heap(heap_.begin(), heap_.end());
        heaped_ = true;
        while (!heap_.empty()) {
            std::pop_heap(heap_.begin(), heap_.end());
            const MergeCandidate candidate = heap_.back();
            heap_.pop_back();
            if (still_holds(candidate)) merge(candidate);
        }
    }

private:
    void consider(int32_t left, int32_t right) {
        if (left == kNone || right == kNone) return;
        if (symbols_[left].is_fixed || symbols_[right].is_fixed) return;
        const std::optional<Merge> merge = find_merge_(symbols_[left], symbols_[right]);
        if (!merge) return;
        heap_.push_back(
            {merge->rank, left, right, symbols_[left].size + symbols_[right].size, merge->result});
        if (heaped_) std::push_heap(heap_.begin(), heap_.end());
    }

    bool still_holds(const MergeCandidate& candidate) const {
        const Symbol& left = symbols_[candidate.left];
        const Symbol& right = symbols_[candidate.right];
        return left.size > 0 && right.size > 0 && left.size + right.size == candidate.size;
    }

    void merge(const MergeCandidate& candidate) {
        Symbol& left = symbols_[candidate.left];
        Symbol& right = symbols_[candidate.right];
        left.size += right.size;
        left.token = candidate.result;
        left.next = right.next;
        right.size = 0;
        if (left.next != kNone) symbols_[left.next].previous = candidate.left;
        consider(left.previous, candidate.left);
        consider(candidate.left, left.next);
    }

    std::vector<Symbol>& symbols_;
    FindMerge find_merge_;
    std::vector<MergeCandidate> heap_;
    bool heaped_ = false;
};

/// The initial symbols: one for each character, or for each byte of a character without a token.
class Symbols {
public:
    Symbols(const Vocabulary& vocabulary, const BpeOptions& options, bool keep_unknown,
            std::string_view piece)
        : vocabulary_(vocabulary), options_(options), keep_unknown_(keep_unknown) {
        symbols_.reserve(piece.size());
        for (uint32_t at = 0; at < piece.size();) {
            if (const auto fixed = options.fixed.longest_prefix(piece.substr(at))) {
                const auto size = static_cast<uint32_t>(fixed->size);
                if (const auto token = vocabulary.find(piece.substr(at, size))) {
                    push(at, size, *token, true);
                    follows_unknown_ = false;
                    at += size;
                    continue;
                }
            }
            const uint32_t length = first_character(piece.substr(at)).length;
            add(at, piece.substr(at, length), at == 0, at + length == piece.size());
            at += length;
        }
    }

    std::vector<Symbol> take() && { return std::move(symbols_); }

private:
    void add(uint32_t at, std::string_view character, bool first, bool last) {
        const auto size = static_cast<uint32_t>(character.size());
        std::optional<TokenId> token;
        if (options_.continuing_prefix.empty() && options_.end_suffix.empty())
            token = vocabulary_.find(character);
        else
            token = vocabulary_.find((first ? "" : options_.continuing_prefix) + std::string(character) +
                                     (last ? options_.end_suffix : ""));
        const bool was_unknown = std::exchange(follows_unknown_, false);
        if (token) {
            push(at, size, *token);
        } else if (keep_unknown_) {
            push(at, size, kNoToken);
        } else if (has_byte_tokens(options_, character)) {
            for (uint32_t i = 0; i < size; ++i)
                push(at + i, 1, (*options_.byte_tokens)[static_cast<uint8_t>(character[i])]);
        } else if (options_.unknown) {
            if (was_unknown && options_.fuse_unknown)
                symbols_.back().size += size;
            else
                push(at, size, *options_.unknown);
            follows_unknown_ = true;
        }
    }

    void push(uint32_t begin, uint32_t size, TokenId token, bool is_fixed = false) {
        const auto index = static_cast<int32_t>(symbols_.size());
        if (index > 0) symbols_.back().next = index;
        symbols_.push_back({begin, size, index - 1, kNone, token, is_fixed});
    }

    const Vocabulary& vocabulary_;
    const BpeOptions& options_;
    const bool keep_unknown_;
    bool follows_unknown_ = false;
    std::vector<Symbol> symbols_;
};

}  // namespace

MergeTable::MergeTable(size_t expected) : slots_(std::bit_ceil(2 * expected + 2), Slot{kFreePair, {}}) {}

size_t MergeTable::slot_of(uint64_t pair) const {
    const size_t mask = slots_.size() - 1;
    // Ids are small and dense: one multiplication by 2^64 / golden ratio spreads them (Knuth, volume 3, 6.4).
    size_t slot = (pair * 0x9e3779b97f4a7c15u >> 20) & mask;
    while (slots_[slot].pair != kFreePair && slots_[slot].pair != pair) slot = (slot + 1) & mask;
    return slot;
}

void MergeTable::add(TokenId left, TokenId right, Merge merge) {
    const uint64_t pair = key_of(left, right);
    const size_t slot = slot_of(pair);
    if (slots_[slot].pair == pair) return;
    TESSERA_CHECK(2 * ++used_ <= slots_.size(), "{} merges in {} slots", used_, slots_.size());
    slots_[slot] = {pair, merge};
}

const Merge* MergeTable::find(TokenId left, TokenId right) const {
    const Slot& slot = slots_[slot_of(key_of(left, right))];
    return slot.pair == kFreePair ? nullptr : &slot.merge;
}

Bpe::Bpe(std::variant<MergeTable, ScoreRanks> merges, BpeOptions options)
    : merges_(std::move(merges)), options_(std::move(options)) {}

void Bpe::encode(const Vocabulary& vocabulary, std::string_view piece, std::vector<TokenId>& out) const {
    if (piece.empty()) return;
    if (piece.size() > kLongestPiece)
        throw Error(
            "tokenizer", "",
            fmt::format("a piece has {} bytes, at most {} are possible", piece.size(), kLongestPiece));
    if (options_.ignore_merges)
        if (const auto whole = vocabulary.find(piece)) {
            out.push_back(*whole);
            return;
        }
    const auto* scores = std::get_if<ScoreRanks>(&merges_);
    // With scores, a text that is no token may still be half of one.
    std::vector<Symbol> symbols = Symbols(vocabulary, options_, scores != nullptr, piece).take();
    if (scores != nullptr) {
        Merging(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
            const auto token = vocabulary.find(piece.substr(left.begin, left.size + right.size));
            if (!token || scores->ranks[*token] == ScoreRanks::kNever) return std::nullopt;
            return Merge{scores->ranks[*token], *token};
        }).run();
    } else {
        const MergeTable& table = std::get<MergeTable>(merges_);
        Merging(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
            const Merge* merge = table.find(left.token, right.token);
            if (merge == nullptr || vocabulary.is_hidden(merge->result)) return std::nullopt;
            return *merge;
        }).run();
    }

    bool follows_unknown = false;
    for (const Symbol& symbol : symbols) {
        if (symbol.size == 0) continue;
        const bool was_unknown = std::exchange(follows_unknown, false);
        if (symbol.token != kNoToken) {
            out.push_back(symbol.token);
        } else if (has_byte_tokens(options_, piece.substr(symbol.begin, symbol.size))) {
            for (const char byte : piece.substr(symbol.begin, symbol.size))
                out.push_back((*options_.byte_tokens)[static_cast<uint8_t>(byte)]);
        } else if (options_.unknown) {
            if (!was_unknown || !options_.fuse_unknown) out.push_back(*options_.unknown);
            follows_unknown = true;
        }
    }
}

}  // namespace tessera::llm
