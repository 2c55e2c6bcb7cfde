#include "distribution/spmd/local_definition.h"

#include <optional>

#include "support/error.h"

// With iterators x from c on, an expression E(x) becomes E(x + c). It is often E(x) + delta with a constant
// delta, as (h + 4) * 64 + e = (h * 64 + e) + 256; a coordinate within elements from 256 on is then h * 64 +
// e again. Where no such delta is found, x + c is written out.

namespace tessera::spmd {
namespace {

using facts::Range;

class Shift {
public:
    Shift(const facts::IterationBox& iterations, const std::vector<std::vector<Range>>& held)
        : iterations_(iterations), held_(held) {}

    /// E(x + c) - E(x) if it is a constant.
    std::optional<int64_t> delta(const ExprPtr& expr) const {
        if (const auto* iterator = std::get_if<IteratorRef>(&expr->node))
            return iterations_[static_cast<size_t>(iterator->index)].first;
        if (const auto* access = std::get_if<Read>(&expr->node)) {
            for (size_t a = 0; a < access->coordinates.size(); ++a)
                if (delta(access->coordinates[a]) != held_[static_cast<size_t>(access->tensor)][a].first)
                    return std::nullopt;
            return 0;
        }
        if (const auto* apply = std::get_if<Apply>(&expr->node)) return delta_of(*apply);
        if (const auto* cast = std::get_if<Cast>(&expr->node)) return zero({cast->argument});
        return 0;
    }

    /// E(x + c), reads of tensors within what is held.
    ExprPtr shifted(const ExprPtr& expr) const {
        if (!expr) return expr;
        if (const auto* iterator = std::get_if<IteratorRef>(&expr->node)) {
            const int64_t first = iterations_[static_cast<size_t>(iterator->index)].first;
            return first == 0 ? expr : apply(Function::kAdd, {expr, number(first)});
        }
        if (const auto* access = std::get_if<Read>(&expr->node))
            return read(access->tensor, coordinates(access->coordinates, access->tensor),
                        access->declared_map);
        if (const auto* cast = std::get_if<Cast>(&expr->node))
            return tessera::cast(cast->to, shifted(cast->argument));
        const auto* applied = std::get_if<Apply>(&expr->node);
        if (!applied || (delta(expr) == 0 && !reads_shifted(expr))) return expr;
        std::vector<ExprPtr> arguments;
        for (const ExprPtr& argument : applied->arguments) arguments.push_back(shifted(argument));
        return apply(applied->function, std::move(arguments));
    }

    std::vector<ExprPtr> coordinates(const std::vector<ExprPtr>& whole, int tensor) const {
        std::vector<ExprPtr> local;
        for (size_t a = 0; a < whole.size(); ++a) {
            const int64_t first = held_[static_cast<size_t>(tensor)][a].first;
            if (delta(whole[a]) == first) {
                local.push_back(whole[a]);
                continue;
            }
            ExprPtr moved = shifted(whole[a]);
            if (first != 0) moved = apply(Function::kSub, {moved, number(first)});
            local.push_back(std::move(moved));
        }
        return local;
    }

private:
    std::optional<int64_t> zero(const std::vector<ExprPtr>& arguments) const {
        for (const ExprPtr& argument : arguments)
            if (delta(argument) != 0) return std::nullopt;
        return 0;
    }

    static std::optional<int64_t> integer(const ExprPtr& expr) {
        const auto* value = std::get_if<Number>(&expr->node);
        if (!value || !value->is_integer) return std::nullopt;
        return static_cast<int64_t>(value->value);
    }

    std::optional<int64_t> delta_of(const Apply& apply) const {
        const auto& arguments = apply.arguments;
        const auto side = [&](size_t i) { return delta(arguments[i]); };
        switch (apply.function) {
            case Function::kAdd:
            case Function::kSub: {
                const auto a = side(0), b = side(1);
                if (!a || !b) return std::nullopt;
                return apply.function == Function::kAdd ? *a + *b : *a - *b;
            }
            case Function::kMul:
                for (const size_t i : {size_t{0}, size_t{1}})
                    if (const auto factor = integer(arguments[i]))
                        if (const auto other = side(1 - i)) return *factor * *other;
                return zero(arguments);
            case Function::kFloorDiv:
            case Function::kMod: {
                const auto inner = side(0), divisor = integer(arguments[1]);
                if (!inner || !divisor || *divisor <= 0 || *inner % *divisor != 0) return zero(arguments);
                return apply.function == Function::kMod ? 0 : *inner / *divisor;
            }
            default:
                return zero(arguments);
        }
    }

    bool reads_shifted(const ExprPtr& expr) const {
        bool found = false;
        walk(expr, [&](const Expr& node) {
            if (const auto* access = std::get_if<Read>(&node.node))
                for (size_t a = 0; a < access->coordinates.size(); ++a)
                    found = found || delta(access->coordinates[a]) !=
                                         held_[static_cast<size_t>(access->tensor)][a].first;
            return !found;
        });
        return found;
    }

    const facts::IterationBox& iterations_;
    const std::vector<std::vector<Range>>& held_;
};

ExprPtr extent_of(const Dim& dim, const Definition& definition) {
    if (!dim.symbol) return number(dim.factor);
    const int symbol = definition.dim(*dim.symbol);
    TESSERA_CHECK(symbol >= 0, "{} knows no {}", definition.name, *dim.symbol);
    return dim.factor == 1 ? dim_ref(symbol) : apply(Function::kMul, {number(dim.factor), dim_ref(symbol)});
}

/// True if the shape follows from the map: one iterator for each axis, which runs over all that is held.
bool follows_from_map(const TensorDecl& tensor, const std::vector<Range>& held,
                      const facts::IterationBox& iterations) {
    for (size_t a = 0; a < tensor.map.size(); ++a) {
        const auto* iterator = std::get_if<IteratorRef>(&tensor.map[a]->node);
        if (!iterator || iterations[static_cast<size_t>(iterator->index)] != held[a]) return false;
    }
    return true;
}

}  // namespace

Definition local_definition(const Definition& definition, const facts::IterationBox& iterations,
                            const std::vector<std::vector<facts::Range>>& held,
                            const std::vector<TensorType>& types) {
    const Shift shift(iterations, held);
    Definition local = definition;
    for (size_t i = 0; i < local.iterators.size(); ++i)
        if (std::holds_alternative<Number>(local.iterators[i].extent->node))
            local.iterators[i].extent = number(iterations[i].size());
    for (size_t t = 0; t < local.tensors.size(); ++t) {
        TensorDecl& tensor = local.tensors[t];
        const bool may_follow = follows_from_map(definition.tensors[t], held[t], iterations);
        tensor.map = shift.coordinates(definition.tensors[t].map, static_cast<int>(t));
        if (!tensor.shape && may_follow) continue;
        std::vector<ExprPtr> shape;
        for (size_t a = 0; a < held[t].size(); ++a)
            shape.push_back(types[t].shape[a].is_constant() ? number(held[t][a].size())
                                                            : extent_of(types[t].shape[a], definition));
        tensor.shape = std::move(shape);
    }
    for (ExprPtr& part : local.body) part = shift.shifted(part);
    local.post = shift.shifted(local.post);
    local.where = shift.shifted(local.where);
    return local;
}

}  // namespace tessera::spmd
