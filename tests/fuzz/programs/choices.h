#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace tessera::fuzz {

/// Everything that a drawn program depends on, as a list of numbers. A shorter list, or one of smaller
/// numbers, makes a simpler program, so that programs are shrunk by shrinking the list that made them: 0
/// stands for the plainest choice everywhere, and what is asked beyond the end of a list is 0.
class Choices {
public:
    /// Draws; the same seed gives the same numbers everywhere.
    explicit Choices(uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15u + 1), draws_(true) {}
    /// Gives these.
    explicit Choices(std::vector<uint32_t> given) : given_(std::move(given)) {}

    /// In [0, n). @pre n > 0
    int64_t below(int64_t n);
    int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
    bool chance(int percent) { return below(100) >= 100 - percent; }
    template <typename T>
    const T& pick(const std::vector<T>& from) {
        return from.at(static_cast<size_t>(below(static_cast<int64_t>(from.size()))));
    }

    /// The choices so far.
    const std::vector<uint32_t>& taken() const { return taken_; }

private:
    std::mt19937_64 engine_;
    bool draws_ = false;
    std::vector<uint32_t> given_, taken_;
};

}  // namespace tessera::fuzz
