#include "facts/folded_range.h"

#include <limits>

#include "facts/algebra.h"
#include "facts/touched.h"

namespace tessera::facts {

ValueRange accumulator_range(const Definition& definition) {
    return type_range(definition.accumulator);
}

ValueRange folded_range(const BoundDefinition& bound, const ExecutedIterations& executed) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const Definition& definition = bound.definition;
    AlgebraOptions options;
    options.outside = [&](const Read& read) -> std::optional<double> {
        if (stays_in_range(bound, executed, read.tensor, read.coordinates)) return std::nullopt;
        return identity(definition.monoid);
    };
    options.constant_read = [&](const Read& read) -> std::optional<double> {
        if (reaches_anything(bound, executed, read.tensor, read.coordinates)) return std::nullopt;
        return identity(definition.monoid);
    };
    Algebra algebra(bound, options);
    const ValueRange value = algebra.range_of(algebra.normal_form(definition.body[0]));
    const bool is_integer = accumulator_range(definition).is_integer && value.is_integer;
    if (definition.monoid == Monoid::kSum)
        return {value.low >= 0 ? 0 : -kInf, value.high <= 0 ? 0 : kInf, is_integer};
    if (definition.monoid == Monoid::kProd) return {value.low >= 0 ? 0 : -kInf, kInf, is_integer};
    return {value.low, value.high, is_integer};
}

}  // namespace tessera::facts
