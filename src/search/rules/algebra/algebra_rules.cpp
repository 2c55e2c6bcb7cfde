#include "search/rules/algebra/algebra_rules.h"

#include <iterator>
#include <utility>

#include "search/rules/algebra/families.h"
#include "search/rules/decompose/composites.h"

namespace tessera::rules {

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

std::vector<RuleEntry> algebra_rules(ops::Symbols symbols) {
    const Families families(symbols);
    std::vector<RuleEntry> rules;
    for (const auto& of_family :
         {transpose_rules, reduction_rules, product_rules, sibling_rules, broadcast_rules, reshape_rules,
          slice_rules, concat_rules, elementwise_rules, one_hot_rules}) {
        std::vector<RuleEntry> more = of_family(families);
        rules.insert(rules.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    for (RuleEntry& rule : decomposition_rules(symbols)) rules.push_back(std::move(rule));
    return rules;
}

}  // namespace tessera::rules
