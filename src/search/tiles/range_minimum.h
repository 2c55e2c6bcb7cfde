#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::tiles {

/// A function of one variable, as a table over its domain, and its least value over any range of it.
class RangeMinimum {
public:
    explicit RangeMinimum(std::vector<double> values);

    double at(size_t index) const { return values_[index]; }
    /// Over [first, last], both included.
    double least(size_t first, size_t last) const;
    bool is_rising() const { return order_ == Order::kRising; }    ///< nowhere falls
    bool is_falling() const { return order_ == Order::kFalling; }  ///< nowhere rises

private:
    enum class Order : uint8_t { kRising, kFalling, kMixed };

    std::vector<double> values_;
    std::vector<double> tree_;  ///< of minima, over groups of values as leaves; only where the order is mixed
    Order order_ = Order::kMixed;
};

}  // namespace tessera::tiles
