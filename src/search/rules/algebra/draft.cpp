#include "search/rules/algebra/draft.h"

#include <algorithm>
#include <utility>

#include "ir/lexer.h"
#include "support/error.h"

namespace tessera::rules {
namespace {

bool names_symbol(const std::vector<Dim>& shape, const std::string& symbol) {
    return std::any_of(shape.begin(), shape.end(), [&](const Dim& dim) { return dim.symbol == symbol; });
}

}  // namespace

Draft::Draft(const std::string& name, Symbols symbols, std::span<const TensorType> operands,
             const std::vector<Dim>& result)
    : symbols_(symbols) {
    for (const DimSymbol& symbol : symbols) {
        const bool is_used = names_symbol(result, symbol.name) ||
                             std::any_of(operands.begin(), operands.end(), [&](const TensorType& type) {
                                 return names_symbol(type.shape, symbol.name);
                             });
        if (is_used) definition.dims.push_back(symbol);
    }
    definition.name = unused(name);
}

std::string Draft::unused(const std::string& wanted) const {
    std::string name = wanted;
    // Iterators i4 and i8 would be types.
    while (is_reserved(name) ||
           std::any_of(symbols_.begin(), symbols_.end(), [&](const DimSymbol& s) { return s.name == name; }))
        name += '_';
    return name;
}

ExprPtr extent_of(const Definition& definition, const Dim& dim) {
    if (dim.is_constant()) return number(dim.factor);
    const int index = definition.dim(*dim.symbol);
    TESSERA_CHECK(index >= 0, "{} is no dim of {}", *dim.symbol, definition.name);
    return dim.factor == 1 ? dim_ref(index) : apply(Function::kMul, {number(dim.factor), dim_ref(index)});
}

ExprPtr Draft::extent(const Dim& dim) const {
    return extent_of(definition, dim);
}

int Draft::add_iterator(const Dim& dim, bool is_reduction) {
    const int index = static_cast<int>(definition.iterators.size());
    definition.iterators.push_back(
        {.name = unused(fmt::format("i{}", index)), .extent = extent(dim), .is_reduction = is_reduction});
    return index;
}

void Draft::add_iterators(const std::vector<Dim>& shape) {
    for (const Dim& dim : shape) add_iterator(dim);
}

void Draft::add_operand(ElementType type, std::vector<ExprPtr> map,
                        const std::optional<std::vector<Dim>>& shape) {
    TensorDecl operand{.name = unused(fmt::format("X{}", definition.tensors.size())),
                       .type = type,
                       .role = Role::kIn,
                       .map = std::move(map),
                       .shape = std::nullopt};
    if (shape) {
        operand.shape.emplace();
        for (const Dim& dim : *shape) operand.shape->push_back(extent(dim));
    }
    definition.tensors.push_back(std::move(operand));
}

void Draft::set_result(ElementType type, const std::vector<Dim>& shape) {
    definition.tensors.push_back({.name = unused("Y"),
                                  .type = type,
                                  .role = Role::kOut,
                                  .map = straight_map(shape.size()),
                                  .shape = std::nullopt});
    const bool is_narrow_float = !is_integer(type) && bits(type) < 32;
    result_ = {.element = type,
               .shape = shape,
               .layout = {},
               .accumulator = ElementType::kF32,
               .rounding = is_narrow_float ? Rounding::kWeights : Rounding::kExact};
}

ExprPtr Draft::read_of(int operand) const {
    return read(operand, definition.tensors[static_cast<size_t>(operand)].map, true);
}

egraph::Operator Draft::finish() && {
    result_.accumulator = definition.accumulator;
    return {.what = std::make_shared<const Definition>(std::move(definition)),
            .results = {std::move(result_)}};
}

std::vector<ExprPtr> straight_map(size_t rank) {
    std::vector<ExprPtr> map;
    for (size_t axis = 0; axis < rank; ++axis) map.push_back(iterator_ref(static_cast<int>(axis)));
    return map;
}

}  // namespace tessera::rules
