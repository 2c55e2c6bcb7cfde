#include "distribution/order.h"

#include <algorithm>
#include <cmath>

// A beginning of a plan is remembered by the forms of the values between the decided operators and the
// others. Greedy orders from several operators and the given order are compared by how many combinations of
// these forms there are, at their worst.

namespace tessera::distribution {
namespace {

// Operators from which a greedy order begins; more would cost more than they gain.
constexpr size_t kMostStarts = 32;

class Frontier {
public:
    explicit Frontier(const SearchGraph& graph) : graph_(graph), left_(graph.values.size(), 0) {
        for (const SearchOperator& op : graph.operators)
            for (const int v : op.values) ++left_[static_cast<size_t>(v)];
        all_ = left_;
        for (size_t v = 0; v < graph.values.size(); ++v) {
            const auto forms = static_cast<double>(graph.values[v].forms.size());
            // A value is made in one form, and each further reader may ask for another one.
            weight_.push_back(std::log2(forms + 1) * static_cast<double>(std::max(1, all_[v] - 1)));
        }
    }

    /// The weight of the frontier once the operator is decided too.
    double with(int op) const {
        double weight = weight_of_all_;
        for (const int v : graph_.operators[static_cast<size_t>(op)].values) {
            const auto at = static_cast<size_t>(v);
            const bool was_open = left_[at] < all_[at];
            const bool is_open = left_[at] > 1;
            weight += (static_cast<int>(is_open) - static_cast<int>(was_open && left_[at] > 0)) * weight_[at];
        }
        return weight;
    }

    void decide(int op) {
        weight_of_all_ = with(op);
        for (const int v : graph_.operators[static_cast<size_t>(op)].values) --left_[static_cast<size_t>(v)];
    }
    double weight() const { return weight_of_all_; }

private:
    const SearchGraph& graph_;
    std::vector<int> left_;  ///< undecided operators of each value
    std::vector<int> all_;
    std::vector<double> weight_;
    double weight_of_all_ = 0;
};

// The sum of the numbers of combinations after each step of the order.
double weight_of(const SearchGraph& graph, const std::vector<int>& order) {
    Frontier frontier(graph);
    double sum = 0;
    for (const int op : order) {
        frontier.decide(op);
        sum += std::exp2(std::min(frontier.weight(), 900.0));
    }
    return sum;
}

std::vector<int> greedy(const SearchGraph& graph, int start) {
    Frontier frontier(graph);
    std::vector<int> order;
    std::vector<bool> is_done(graph.operators.size(), false);
    for (int next = start; next >= 0;) {
        frontier.decide(next);
        is_done[static_cast<size_t>(next)] = true;
        order.push_back(next);
        next = -1;
        double least = 0;
        for (size_t op = 0; op < is_done.size(); ++op) {
            if (is_done[op]) continue;
            const double weight = frontier.with(static_cast<int>(op));
            if (next < 0 || weight < least) {
                next = static_cast<int>(op);
                least = weight;
            }
        }
    }
    return order;
}

}  // namespace

std::vector<int> decision_order(const SearchGraph& graph) {
    std::vector<int> best;
    for (size_t op = 0; op < graph.operators.size(); ++op) best.push_back(static_cast<int>(op));
    double least = weight_of(graph, best);
    for (size_t start = 0; start < std::min(kMostStarts, graph.operators.size()); ++start) {
        std::vector<int> order = greedy(graph, static_cast<int>(start));
        const double weight = weight_of(graph, order);
        if (weight >= least) continue;
        least = weight;
        best = std::move(order);
    }
    return best;
}

}  // namespace tessera::distribution
