#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "search/extraction/instance.h"

namespace tessera::extraction {

/// For each class the classes that every way to compute it computes too (itself included): the dominators of
/// an and-or graph. One bit for each pair of classes.
class NeededClasses {
public:
    /// The needed classes of these classes; empty if the bits would take more than 64 MiB.
    /// @pre every class can be computed
    static std::optional<NeededClasses> of(const Instance& instance, const std::vector<int>& classes);

    using Bits = std::vector<uint64_t>;

    bool needs(int e_class, int other) const { return test(row(e_class), other); }
    /// The union of the classes that all these need.
    Bits of_all(std::span<const int> classes) const;
    bool contains(const Bits& bits, int e_class) const { return test(bits, e_class); }
    /// Ascending.
    std::vector<int> classes_in(const Bits& bits) const;

private:
    NeededClasses(const Instance& instance, const std::vector<int>& classes);
    void compute(const Instance& instance);
    bool update(const Instance& instance, int e_class);
    bool test(std::span<const uint64_t> bits, int e_class) const {
        const auto i = static_cast<size_t>(index_[static_cast<size_t>(e_class)]);
        return (bits[i / 64] >> (i % 64) & 1) != 0;
    }
    std::span<const uint64_t> row(int e_class) const {
        return std::span(bits_).subspan(static_cast<size_t>(index_[static_cast<size_t>(e_class)]) * words_,
                                        words_);
    }

    std::vector<int> classes_;
    std::vector<int> index_;  ///< position in classes_
    size_t words_;
    std::vector<uint64_t> bits_;
};

}  // namespace tessera::extraction
