#include "search/extraction/totalizer.h"

#include "support/error.h"

namespace tessera::extraction {

Totalizer::Totalizer(Sat& sat, const std::vector<int>& literals) : sat_(sat) {
    TESSERA_CHECK(!literals.empty());
    build(literals);
}

int Totalizer::build(std::span<const int> literals) {
    Node node{.size = static_cast<int>(literals.size())};
    if (node.size == 1) {
        node.outputs = {literals.front()};
    } else {
        node.left = build(literals.first(literals.size() / 2));
        node.right = build(literals.subspan(literals.size() / 2));
    }
    nodes_.push_back(std::move(node));
    return static_cast<int>(nodes_.size()) - 1;
}

void Totalizer::extend(int index, int bound) {
    Node& node = nodes_[static_cast<size_t>(index)];
    bound = std::min(bound, node.size);
    const int old = static_cast<int>(node.outputs.size());
    if (bound <= old) return;
    extend(node.left, bound);
    extend(node.right, bound);
    const Node& left = nodes_[static_cast<size_t>(node.left)];
    const Node& right = nodes_[static_cast<size_t>(node.right)];
    while (static_cast<int>(node.outputs.size()) < bound) node.outputs.push_back(sat_.new_variable());
    // i on the left and j on the right make i + j; sums up to `old` have their clauses already.
    for (int sum = old + 1; sum <= bound; ++sum) {
        const int output = node.outputs[static_cast<size_t>(sum) - 1];
        for (int i = std::max(0, sum - right.size); i <= std::min(sum, left.size); ++i) {
            std::vector<int> clause = {output};
            if (i > 0) clause.push_back(-left.outputs[static_cast<size_t>(i) - 1]);
            if (i < sum) clause.push_back(-right.outputs[static_cast<size_t>(sum - i) - 1]);
            sat_.add(clause);
        }
        if (sum > 1) sat_.add({-output, node.outputs[static_cast<size_t>(sum) - 2]});
    }
}

int Totalizer::at_least(int k) {
    extend(static_cast<int>(nodes_.size()) - 1, k);
    return nodes_.back().outputs[static_cast<size_t>(k) - 1];
}

}  // namespace tessera::extraction
