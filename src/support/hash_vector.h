#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera {

/// The hash of a vector of numbers, for unordered containers.
struct HashVector {
    size_t operator()(const std::vector<int64_t>& key) const {
        size_t hash = key.size();
        for (const int64_t value : key) {
            hash = (hash ^ static_cast<size_t>(value)) * 0x9e3779b97f4a7c15ULL;
            hash ^= hash >> 32;
        }
        return hash;
    }
};

}  // namespace tessera
