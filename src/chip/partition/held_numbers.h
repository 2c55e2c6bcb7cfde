#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "chip/partition/elements.h"

namespace tessera::partition {

/// Some elements of a tensor with their numbers: what a core holds of it.
class HeldNumbers {
public:
    /// In the order of the elements; those that are there already are replaced.
    void put(const Elements& elements, const std::vector<double>& numbers);
    void drop(const Elements& elements);
    int64_t count() const { return count_; }

    Elements elements() const;
    /// Those of the elements that are not here.
    Elements missing(const Elements& elements) const { return without(elements, this->elements()); }
    /// In the order of the elements. @pre none is missing
    std::vector<double> numbers(const Elements& elements) const;
    /// Writes all of them to their places in a whole tensor, and notes that they are there.
    void copy_to(std::vector<double>& whole, std::vector<bool>& is_there) const;

private:
    std::map<int64_t, std::vector<double>> runs_;  ///< by the first element
    int64_t count_ = 0;
};

}  // namespace tessera::partition
