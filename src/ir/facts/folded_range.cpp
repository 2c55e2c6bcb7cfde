#include "ir/facts/folded_range.h"

#include "ir/facts/body_form.h"

namespace tessera::facts {

ValueRange accumulator_range(const Definition& definition) {
    return type_range(definition.accumulator);
}

ValueRange folded_range(const BoundDefinition& bound, const ExecutedIterations& executed) {
    const Definition& definition = bound.definition;
    const BodyForm form(bound, definition.body[0], executed,
                        {-1, std::nullopt, identity(definition.monoid), true});
    const ValueRange value = form.algebra.range_of(form.value);
    const bool is_integer = accumulator_range(definition).is_integer && value.is_integer;
    if (definition.monoid == Monoid::kSum)
        return {value.low >= 0 ? 0 : -kInf, value.high <= 0 ? 0 : kInf, is_integer};
    if (definition.monoid == Monoid::kProd) return {value.low >= 0 ? 0 : -kInf, kInf, is_integer};
    return {value.low, value.high, is_integer};
}

}  // namespace tessera::facts
