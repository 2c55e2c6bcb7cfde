// The first descents end in poor assignments, and a proof needs a good one. Large-neighbourhood search finds
// it: the free variables are one, some of its partners in a factor or a condition, and again. The generator
// has one fixed seed, so that equal problems are searched equally.
#include "search/tiles/neighbourhoods.h"

#include <algorithm>
#include <set>

namespace tessera::tiles {
namespace {

constexpr double kLeastSize = 2;

}  // namespace

Neighbourhoods::Neighbourhoods(const NormalForm& form) {
    std::vector<std::set<size_t>> partners(form.variables.size());
    const auto connect = [&](const std::vector<size_t>& variables) {
        for (const size_t v : variables) partners[v].insert(variables.begin(), variables.end());
    };
    for (const Factor& factor : form.factors) connect(factor.variables);
    for (const NormalSum& sum : form.sums)
        for (const Cluster& cluster : sum.clusters) connect(cluster.scope);
    for (const VariablePair& pair : form.pairs) connect({pair.a, pair.b});
    for (const std::set<size_t>& of : partners) partners_.emplace_back(of.begin(), of.end());
}

Box Neighbourhoods::next(const Box& root, const std::vector<int32_t>& values) {
    Box box;
    for (const int32_t value : values) box.push_back({value, value});
    const auto below = [&](size_t n) { return static_cast<size_t>(random_() % n); };
    const auto count = std::min(static_cast<size_t>(size_), root.size());
    size_t freed = 0;
    const auto free = [&](size_t v) {
        if (box[v] != Range{values[v], values[v]} || root[v].is_single()) return;
        box[v] = {std::min(root[v].first, values[v]), std::max(root[v].last, values[v])};
        ++freed;
    };
    for (size_t tries = 0; freed < count && tries < 4 * count; ++tries) {
        const size_t v = below(root.size());
        free(v);
        const std::vector<size_t>& partners = partners_[v];
        for (size_t i = 0; i < 2 && freed < count && !partners.empty(); ++i)
            free(partners[below(partners.size())]);
    }
    return box;
}

void Neighbourhoods::learn(bool was_searched_whole, bool has_improved) {
    failures_ = has_improved ? 0 : failures_ + 1;
    size_ = was_searched_whole ? std::min(size_ * 1.05, static_cast<double>(partners_.size()))
                               : std::max(size_ * 0.9, kLeastSize);
}

}  // namespace tessera::tiles
