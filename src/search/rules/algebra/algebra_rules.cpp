#include "search/rules/algebra/algebra_rules.h"

#include <iterator>
#include <utility>

#include "search/rules/algebra/families.h"
#include "search/rules/decompose/composites.h"

namespace tessera::rules {
namespace {

struct RuleFamily {
    const char* name;
    std::vector<RuleEntry> (*rules)(const Families&);
};

constexpr RuleFamily kRuleFamilies[] = {
    {"transposes", transpose_rules}, {"reductions", reduction_rules}, {"products", product_rules},
    {"siblings", sibling_rules},     {"broadcasts", broadcast_rules}, {"reshapes", reshape_rules},
    {"slices", slice_rules},         {"concats", concat_rules},       {"elementwise", elementwise_rules},
    {"one_hot", one_hot_rules},
};

}  // namespace

Families::Families(Symbols of_graph)
    : symbols(of_graph.begin(), of_graph.end()),
      transpose(transposes(symbols)),
      unary(elementwise_maps(symbols, 1)),
      binary(elementwise_maps(symbols, 2)),
      reduce(reductions(symbols)),
      product(products(symbols)),
      broadcast(broadcasts(symbols)),
      reshape(reshapes(symbols)),
      slice(slices(symbols)),
      concat(concats(symbols)),
      one_hot(one_hots()),
      cast(casts()),
      product_sum(product_sums()),
      simplifiable(simplifiable_operators()) {}

std::vector<RuleEntry> algebra_rules(ops::Symbols symbols, const std::set<std::string>& without) {
    const Families families(symbols);
    std::vector<RuleEntry> rules;
    for (const RuleFamily& family : kRuleFamilies) {
        if (without.contains(family.name)) continue;
        std::vector<RuleEntry> more = family.rules(families);
        rules.insert(rules.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    for (RuleEntry& rule : decomposition_rules(symbols)) rules.push_back(std::move(rule));
    return rules;
}

std::vector<std::string_view> rule_families() {
    std::vector<std::string_view> names;
    for (const RuleFamily& family : kRuleFamilies) names.emplace_back(family.name);
    return names;
}

}  // namespace tessera::rules
