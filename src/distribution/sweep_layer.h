#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "distribution/relaxation.h"

/// The states that a sweep keeps after each operator.
namespace tessera::distribution {

/// A beginning of a plan.
struct Label {
    Price price;          ///< of the operators so far, and of the values that have ended
    int32_t parent = -1;  ///< the beginning without its last choice, in the list of origins
    int32_t choice = -1;  ///< of the last operator
};

/// Beginnings that leave open values in the same state.
struct SweepState {
    std::vector<Label> labels;
    std::vector<double> bounds;  ///< of what is left, for each cut
};

/// The state of one open value, packed.
inline uint64_t packed(const ValueState& state) {
    return static_cast<uint64_t>(state.made + 2) << 32 | static_cast<uint32_t>(state.asked);
}
inline ValueState unpacked(uint64_t key) {
    return {static_cast<FormId>(key >> 32) - 2, static_cast<SetId>(key & 0xFFFFFFFFU)};
}

/// The states after one operator, found by the states of the open values.
class Layer {
public:
    explicit Layer(size_t open_values) : stride_(open_values), slots_(64, -1) {}

    size_t size() const { return states.size(); }
    const uint64_t* key(size_t state) const { return keys_.data() + state * stride_; }

    SweepState& find_or_add(const std::vector<uint64_t>& key) {
        if (states.size() * 2 >= slots_.size()) grow();
        size_t slot = hash(key.data()) & (slots_.size() - 1);
        for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
            const auto at = static_cast<size_t>(slots_[slot]);
            if (std::equal(key.begin(), key.end(), this->key(at))) return states[at];
        }
        slots_[slot] = static_cast<int64_t>(states.size());
        keys_.insert(keys_.end(), key.begin(), key.end());
        return states.emplace_back();
    }

    std::vector<SweepState> states;

private:
    uint64_t hash(const uint64_t* key) const {
        uint64_t h = 0x9E3779B97F4A7C15U;
        for (size_t i = 0; i < stride_; ++i) {
            h = (h ^ key[i]) * 0xFF51AFD7ED558CCDU;
            h ^= h >> 32;
        }
        return h;
    }
    void grow() {
        slots_.assign(slots_.size() * 2, -1);
        for (size_t state = 0; state < states.size(); ++state) {
            size_t slot = hash(key(state)) & (slots_.size() - 1);
            while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = static_cast<int64_t>(state);
        }
    }

    size_t stride_;
    std::vector<uint64_t> keys_;
    std::vector<int64_t> slots_;
};

}  // namespace tessera::distribution
