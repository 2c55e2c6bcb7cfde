#include "search/extraction/needed.h"

#include <algorithm>

#include "search/extraction/components.h"

namespace tessera::extraction {
namespace {

constexpr size_t kLargestBytes = size_t{64} << 20;

}  // namespace

std::optional<NeededClasses> NeededClasses::of(const Instance& instance, const std::vector<int>& classes) {
    if (classes.size() > kLargestBytes || classes.size() * classes.size() / 8 > kLargestBytes)
        return std::nullopt;
    NeededClasses needed(instance, classes);
    needed.compute(instance);
    return needed;
}

NeededClasses::NeededClasses(const Instance& instance, const std::vector<int>& classes)
    : classes_(classes),
      index_(instance.classes(), -1),
      words_((classes.size() + 63) / 64),
      bits_(classes.size() * words_, ~uint64_t{0}) {
    for (size_t i = 0; i < classes.size(); ++i) index_[static_cast<size_t>(classes[i])] = static_cast<int>(i);
}

void NeededClasses::compute(const Instance& instance) {
    // Children first, so that without cycles the second sweep changes nothing.
    const std::vector<int> component = components(instance, classes_);
    std::vector<int> order = classes_;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return component[static_cast<size_t>(a)] < component[static_cast<size_t>(b)];
    });
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (const int e_class : order) has_changed = update(instance, e_class) || has_changed;
    }
}

bool NeededClasses::update(const Instance& instance, int e_class) {
    Bits common(words_, ~uint64_t{0});
    for (const int node : instance.nodes_of(e_class)) {
        const Bits bits = of_all(instance.node(node).children);
        for (size_t w = 0; w < words_; ++w) common[w] &= bits[w];
    }
    const auto own = static_cast<size_t>(index_[static_cast<size_t>(e_class)]);
    common[own / 64] |= uint64_t{1} << (own % 64);
    uint64_t* row = bits_.data() + own * words_;
    if (std::equal(common.begin(), common.end(), row)) return false;
    std::copy(common.begin(), common.end(), row);
    return true;
}

NeededClasses::Bits NeededClasses::of_all(std::span<const int> classes) const {
    Bits result(words_, 0);
    for (const int e_class : classes) {
        const auto bits = row(e_class);
        for (size_t w = 0; w < words_; ++w) result[w] |= bits[w];
    }
    return result;
}

std::vector<int> NeededClasses::classes_in(const Bits& bits) const {
    std::vector<int> result;
    for (size_t w = 0; w < words_; ++w)
        for (uint64_t word = bits[w]; word != 0; word &= word - 1)
            result.push_back(classes_[w * 64 + static_cast<size_t>(__builtin_ctzll(word))]);
    return result;
}

}  // namespace tessera::extraction
