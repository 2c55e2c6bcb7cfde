#include "run/llm/vocabulary.h"

#include <algorithm>
#include <limits>

#include <xxhash.h>

#include "support/error.h"

namespace tessera::llm {
namespace {

constexpr TokenId kFree = -1;
constexpr size_t kFirstSlots = 1024;

}  // namespace

size_t Vocabulary::slot_of(std::string_view wanted) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = XXH3_64bits(wanted.data(), wanted.size()) & mask;
    while (slots_[slot] != kFree && text(slots_[slot]) != wanted) slot = (slot + 1) & mask;
    return slot;
}

void Vocabulary::grow() {
    // At most half full, so that a search for an absent text ends after a step or two.
    if (2 * (used_ + 1) <= slots_.size()) return;
    std::vector<TokenId> old(std::max(kFirstSlots, 2 * slots_.size()), kFree);
    old.swap(slots_);
    for (const TokenId id : old)
        if (id != kFree) slots_[slot_of(text(id))] = id;
}

bool Vocabulary::add(TokenId id, std::string_view text) {
    TESSERA_CHECK(id >= 0 && id <= kLargestId, "id {}", id);
    if (text.size() > std::numeric_limits<uint32_t>::max() - arena_.size())
        throw Error("vocabulary", "", "has more than 4 GiB of text: the file is damaged");
    if (contains(id)) return false;
    grow();
    const size_t slot = slot_of(text);
    if (static_cast<size_t>(id) >= tokens_.size()) tokens_.resize(id + 1);
    tokens_[id] = {static_cast<uint32_t>(arena_.size()), static_cast<uint32_t>(text.size()), true, false};
    arena_ += text;
    if (slots_[slot] == kFree) {
        slots_[slot] = id;
        ++used_;
    }
    return true;
}

std::optional<TokenId> Vocabulary::find(std::string_view text) const {
    if (slots_.empty()) return std::nullopt;
    const TokenId id = slots_[slot_of(text)];
    if (id == kFree || is_hidden(id)) return std::nullopt;
    return id;
}

}  // namespace tessera::llm
