#include "nest/nests/tiling_expressions.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "nest/nests/space_cost.h"
#include "support/checked.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

constexpr double kSlackOfRule4 = 1.2;

/// The four loops of two products.
struct Loops {
    size_t m, n, k, h;
};

/// Loops from the outermost on. In a flat one the last two stand side by side, each with a product of its
/// own.
struct Expression {
    std::vector<size_t> order;
    bool is_flat = false;
    auto operator<=>(const Expression&) const = default;
};

Loops loops_of(const Space& space) {
    const auto is_used_by_first = [&](size_t iterator) {
        const std::vector<size_t>& of = space.operators.front().iterators;
        return std::find(of.begin(), of.end(), iterator) != of.end();
    };
    Loops result{.m = 0, .n = space.reduction, .k = space.k, .h = 0};
    std::vector<size_t> shared, own;
    for (const size_t x : space.loops)
        if (x != space.reduction) (is_used_by_first(x) ? shared : own).push_back(x);
    if (shared.size() != 1 || own.size() != 1)
        throw Error(space.kernel.where, "",
                    "is no chain of two products with one row and one column loop each",
                    "MCFuser's expressions are counted for C[m, n] over k and E[m, h] over n");
    result.m = shared.front();
    result.h = own.front();
    return result;
}

std::vector<Expression> expressions_of(const Loops& l) {
    std::vector<size_t> order = {l.m, l.n, l.k, l.h};
    std::sort(order.begin(), order.end());
    std::vector<Expression> all;
    do all.push_back({order, false});
    while (std::next_permutation(order.begin(), order.end()));
    all.push_back({{l.m, l.n, l.k, l.h}, true});
    all.push_back({{l.n, l.m, l.k, l.h}, true});
    return all;
}

Expression without(Expression e, const std::set<size_t>& loops) {
    if (e.is_flat && (loops.contains(e.order[2]) || loops.contains(e.order[3]))) e.is_flat = false;
    std::erase_if(e.order, [&](size_t x) { return loops.contains(x); });
    return e;
}

bool stands_outside(const Expression& e, size_t outer, size_t inner) {
    const auto a = std::find(e.order.begin(), e.order.end(), outer),
               b = std::find(e.order.begin(), e.order.end(), inner);
    return a != e.order.end() && b != e.order.end() && a < b;
}

std::string text_of(const Expression& e, const Space& space) {
    std::vector<std::string> names;
    for (const size_t x : e.order) names.push_back(space.names[x]);
    const bool are_letters =
        std::all_of(names.begin(), names.end(), [](const std::string& n) { return n.size() == 1; });
    const std::string between = are_letters ? "" : " ";
    if (!e.is_flat) return fmt::format("{}", fmt::join(names, between));
    const std::string last = names.back(), before = names[names.size() - 2];
    names.resize(names.size() - 2);
    return fmt::format("{}({},{})", fmt::join(names, between), before, last);
}

RuleReading reading(const Space& space, const Loops& l, std::string name,
                    const std::function<Expression(const Expression&)>& rule_1) {
    std::set<Expression> left;
    for (const Expression& e : expressions_of(l)) left.insert(rule_1(e));
    RuleReading result{.rule_1 = std::move(name), .expressions = {}};
    for (const Expression& e : left) {
        result.expressions.push_back(text_of(e, space));
        if (stands_outside(e, l.k, l.n)) continue;
        ++result.after_rule_2;
        if (!stands_outside(e, l.n, l.m) && !stands_outside(e, l.n, l.h)) ++result.after_strict_rule_2;
    }
    std::sort(result.expressions.begin(), result.expressions.end());
    return result;
}

/// Choices of the divisors whose tiles fit.
int64_t count_fitting(const StructureCost& cost, double capacity, const std::vector<size_t>& iterators,
                      const std::vector<std::vector<int64_t>>& divisors, size_t at,
                      std::vector<int64_t>& tiles) {
    if (at == iterators.size()) return static_cast<double>(cost.footprint(tiles)) <= capacity ? 1 : 0;
    int64_t count = 0;
    for (const int64_t size : divisors[at]) {
        tiles[iterators[at]] = size;
        count += count_fitting(cost, capacity, iterators, divisors, at + 1, tiles);
    }
    return count;
}

}  // namespace

ExpressionCounts count_expressions(const Space& space) {
    const Loops l = loops_of(space);
    const std::set<size_t> both = {l.m, l.h}, rows = {l.m};
    ExpressionCounts counts;
    counts.expressions = static_cast<int64_t>(expressions_of(l).size());
    const std::vector<size_t> iterators = {l.m, l.n, l.k, l.h};
    std::vector<std::vector<int64_t>> divisors;
    std::vector<int64_t> choices;
    counts.after_rule_3 = 1;
    for (const size_t x : iterators) {
        const std::vector<int64_t> sizes = space.sizes(x);
        choices.push_back(static_cast<int64_t>(sizes.size()));
        std::vector<int64_t>& dividing = divisors.emplace_back();
        std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(dividing),
                     [&](int64_t size) { return space.extents[x] % size == 0; });
        counts.after_rule_3 *= static_cast<int64_t>(dividing.size());
    }
    const auto tiles = checked_product<int64_t>(choices);
    const auto candidates = tiles ? checked_mul(*tiles, counts.expressions) : tiles;
    if (!candidates) throw Error(space.kernel.where, "", "has more candidates than 64 bits count");
    counts.tiles = *tiles;
    counts.candidates = *candidates;
    counts.readings = {reading(space, l, "the parallel loops leave every expression",
                               [&](const Expression& e) { return without(e, both); }),
                       reading(space, l, "the columns stay where they stand beside k",
                               [&](const Expression& e) { return without(e, e.is_flat ? rows : both); }),
                       reading(space, l, "only leading parallel loops leave", [&](const Expression& e) {
                           std::set<size_t> leading;
                           for (const size_t x : e.order) {
                               if (!both.contains(x)) break;
                               leading.insert(x);
                           }
                           return without(e, leading);
                       })};
    std::vector<int64_t> chosen(space.extents.size(), 1);
    // With all loops around the products, every buffer holds a tile.
    const StructureCost deep(space, {.order = space.loops, .depth = space.loops.size()});
    counts.after_rule_4 = count_fitting(deep, kSlackOfRule4 * static_cast<double>(space.capacity), iterators,
                                        divisors, 0, chosen);
    return counts;
}

nlohmann::ordered_json to_json(const ExpressionCounts& counts) {
    nlohmann::ordered_json readings = nlohmann::ordered_json::array();
    for (const RuleReading& r : counts.readings) {
        readings.push_back({{"rule_1", r.rule_1},
                            {"expressions", r.expressions},
                            {"after_rule_2", r.after_rule_2},
                            {"after_strict_rule_2", r.after_strict_rule_2}});
    }
    return {{"expressions", counts.expressions},   {"tiles", counts.tiles},
            {"candidates", counts.candidates},     {"readings", readings},
            {"after_rule_3", counts.after_rule_3}, {"after_rule_4", counts.after_rule_4}};
}

std::string to_text(const ExpressionCounts& counts) {
    std::string text = fmt::format("expressions  {} x {} tile sizes = {} candidates\n", counts.expressions,
                                   counts.tiles, counts.candidates);
    constexpr size_t kShown = 8;
    for (const RuleReading& r : counts.readings) {
        text += fmt::format(
            "rule 1       {} left, if {}{}\n", r.expressions.size(), r.rule_1,
            r.expressions.size() > kShown ? "" : fmt::format(": {}", fmt::join(r.expressions, ", ")));
        text += fmt::format("  rule 2     {} left; {} if no reduction stands outside of a parallel loop\n",
                            r.after_rule_2, r.after_strict_rule_2);
    }
    text += fmt::format("rule 3       {} tile sizes left, which divide the extents\n", counts.after_rule_3);
    text += fmt::format("rule 4       {} of these fit into 1.2 times the capacity\n", counts.after_rule_4);
    return text;
}

}  // namespace tessera::nests
