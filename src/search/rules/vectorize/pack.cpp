#include "search/rules/vectorize/pack.h"

#include "ir/ops/copy.h"

namespace tessera::rules {

egraph::Operator pack_operator(const TensorType& operand, const Layout& layout,
                               std::span<const DimSymbol> symbols) {
    egraph::Operator op{.what = ops::copy(symbols, operand), .results = {operand}};
    op.results.front().layout = layout;
    return op;
}

bool is_pack(const egraph::Operator& op) {
    return op.definition() && !op.updates && ops::is_copy(*op.definition());
}

}  // namespace tessera::rules
