#include "lowering/views.h"

#include <algorithm>
#include <optional>
#include <set>

#include "lowering/movement/index.h"
#include "lowering/storage.h"
#include "support/error.h"

namespace tessera::lowering {
namespace {

bool is_one_iterator_an_axis(const std::vector<ExprPtr>& map) {
    std::vector<int> seen;
    for (const ExprPtr& component : map) {
        const auto* x = std::get_if<IteratorRef>(&component->node);
        if (!x || std::find(seen.begin(), seen.end(), x->index) != seen.end()) return false;
        seen.push_back(x->index);
    }
    return true;
}

/// True if result axis a is iterator a: coordinates of the result are values of the iterators.
bool is_identity(const Definition& definition, const std::vector<ExprPtr>& map) {
    if (map.size() != definition.iterators.size()) return false;
    for (size_t axis = 0; axis < map.size(); ++axis) {
        const auto* x = std::get_if<IteratorRef>(&map[axis]->node);
        if (!x || x->index != static_cast<int>(axis)) return false;
    }
    return true;
}

std::optional<int64_t> constant(const ExprPtr& expr) {
    const auto* n = std::get_if<Number>(&expr->node);
    return n ? std::optional(static_cast<int64_t>(n->value)) : std::nullopt;
}

struct Interval {
    int64_t low, high;  ///< inclusive
};

/// The values of a component whose iterators have constant extents; nothing for others, or for other
/// operations.
std::optional<Interval> interval(const Definition& definition, const ExprPtr& expr) {
    if (const auto value = constant(expr)) return Interval{*value, *value};
    if (const auto* x = std::get_if<IteratorRef>(&expr->node)) {
        const auto extent = constant(definition.iterators[static_cast<size_t>(x->index)].extent);
        return extent ? std::optional(Interval{0, *extent - 1}) : std::nullopt;
    }
    const auto* call = std::get_if<Apply>(&expr->node);
    if (!call || call->arguments.size() != 2) return std::nullopt;
    const auto a = interval(definition, call->arguments[0]), b = interval(definition, call->arguments[1]);
    if (!a || !b) return std::nullopt;
    switch (call->function) {
        case Function::kAdd:
            return Interval{a->low + b->low, a->high + b->high};
        case Function::kSub:
            return Interval{a->low - b->high, a->high - b->low};
        case Function::kMul: {
            const auto corners = {a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high};
            return Interval{std::min(corners), std::max(corners)};
        }
        case Function::kFloorDiv:
            if (a->low < 0 || b->low != b->high || b->low < 1) return std::nullopt;
            return Interval{a->low / b->low, a->high / b->low};
        case Function::kMod:
            if (b->low != b->high || b->low < 1) return std::nullopt;
            return a->low >= 0 && a->high < b->low ? *a : Interval{0, b->low - 1};
        default:
            return std::nullopt;
    }
}

/// True if a component stays below the extent of its axis for every iteration, whatever the dims are.
bool is_inside(const Definition& definition, const ExprPtr& component, const ExprPtr& extent) {
    if (const auto* x = std::get_if<IteratorRef>(&component->node)) {
        if (same(definition.iterators[static_cast<size_t>(x->index)].extent, extent)) return true;
    }
    const auto values = interval(definition, component);
    const auto limit = constant(extent);
    return values && limit && values->low >= 0 && values->high < *limit;
}

movement::Index quasi_affine(const ExprPtr& expr, const Definition& definition,
                             const std::vector<movement::Index>& iterators) {
    if (const auto* n = std::get_if<Number>(&expr->node)) return {static_cast<int64_t>(n->value)};
    if (const auto* x = std::get_if<IteratorRef>(&expr->node))
        return iterators.at(static_cast<size_t>(x->index));
    if (const auto* d = std::get_if<DimRef>(&expr->node)) {
        const DimSymbol& dim = definition.dims[static_cast<size_t>(d->index)];
        return movement::Index::variable({dim.name, {dim.low, dim.high}, dim.multiple_of});
    }
    const auto* call = std::get_if<Apply>(&expr->node);
    TESSERA_CHECK(call != nullptr, "a coordinate of {}", definition.name);
    const auto argument = [&](size_t i) { return quasi_affine(call->arguments[i], definition, iterators); };
    switch (call->function) {
        case Function::kAdd:
            return argument(0) + argument(1);
        case Function::kSub:
            return argument(0) - argument(1);
        case Function::kNegate:
            return movement::Index(0) - argument(0);
        case Function::kMul:
            return argument(0) * argument(1);
        case Function::kMin:
            return movement::min(argument(0), argument(1));
        case Function::kMax:
            return movement::max(argument(0), argument(1));
        case Function::kFloorDiv:
        case Function::kMod: {
            const auto divisor = argument(1).as_constant();
            if (!divisor) return argument(0) * argument(1);  // an atom that determines nothing
            return call->function == Function::kMod ? movement::mod(argument(0), *divisor)
                                                    : movement::floor_div(argument(0), *divisor);
        }
        default:
            TESSERA_CHECK(false, "a coordinate of {}", definition.name);
            return {};
    }
}

/// The atoms of a sum that its value determines: all, if they are digits of a mixed radix (8 h + e with 0 <=
/// e < 8), else none.
std::set<movement::Index> digits_of(const movement::Index& sum) {
    std::vector<movement::Index::Term> digits = sum.terms();
    for (movement::Index::Term& digit : digits) digit.coefficient = std::abs(digit.coefficient);
    std::ranges::stable_sort(digits, {}, &movement::Index::Term::coefficient);
    std::set<movement::Index> atoms;
    int64_t below = 0;  // the most that the smaller digits can sum to
    for (const auto& [atom, weight] : digits) {
        if (weight <= below) return {};
        const movement::Index digit = movement::index_of({atom, 1});
        const movement::Bounds bounds = digit.bounds();
        below += weight * (bounds.high - bounds.low);
        atoms.insert(digit);
    }
    return atoms;
}

/// True if every element is written: others are 0, and no element of an operand.
/// @pre the map has one iterator an axis
bool writes_all(const Definition& definition, const TensorDecl& result) {
    for (size_t axis = 0; result.shape && axis < result.map.size(); ++axis) {
        const auto& x = std::get<IteratorRef>(result.map[axis]->node);
        if (!same(definition.iterators[static_cast<size_t>(x.index)].extent, (*result.shape)[axis]))
            return false;
    }
    return true;
}

/// An atom x div c.
const movement::Index::Atom* quotient(const movement::Index& atom) {
    const movement::Index::Atom& only = *atom.terms().front().atom;
    return only.kind == movement::Index::AtomKind::kFloorDiv ? &only : nullptr;
}

}  // namespace

bool is_view(const Definition& definition) {
    if (definition.monoid != Monoid::kNone || definition.where) return false;
    const TensorDecl& result = definition.tensors[static_cast<size_t>(definition.results().front())];
    const auto* source = std::get_if<Read>(&definition.body.front()->node);
    if (!source || result.role != Role::kOut || !is_identity(definition, result.map) ||
        !writes_all(definition, result))
        return false;
    const TensorDecl& operand = definition.tensors[static_cast<size_t>(source->tensor)];
    if (operand.role != Role::kIn || operand.type != result.type) return false;
    for (size_t axis = 0; axis < source->coordinates.size(); ++axis) {
        const ExprPtr& component = source->coordinates[axis];
        if (is_indirect(component)) return false;
        // A shape that is derived from the declared map holds all elements that the map reads.
        const bool holds_map = !operand.shape && source->declared_map;
        if (!holds_map && !(operand.shape && is_inside(definition, component, (*operand.shape)[axis])))
            return false;
    }
    return true;
}

bool is_one_to_one(const Definition& view) {
    const auto* source = std::get_if<Read>(&view.body.front()->node);
    if (!source) return false;
    std::vector<movement::Index> iterators;
    for (size_t x = 0; x < view.iterators.size(); ++x) {
        const int64_t last =
            std::max<int64_t>(quasi_affine(view.iterators[x].extent, view, {}).bounds().high - 1, 0);
        iterators.push_back(movement::Index::variable({fmt::format("#{}", x), {0, last}}));
    }
    std::set<movement::Index> known;
    for (const ExprPtr& component : source->coordinates)
        known.merge(digits_of(quasi_affine(component, view, iterators)));
    return std::all_of(iterators.begin(), iterators.end(), [&](const movement::Index& x) {
        if (x.as_constant() || known.contains(x)) return true;
        return std::ranges::any_of(known, [&](const movement::Index& atom) {  // x div c and x mod c
            const movement::Index::Atom* const x_div_c = quotient(atom);
            return x_div_c && x_div_c->arguments.front() == x &&
                   known.contains(movement::mod(x, x_div_c->modulus));
        });
    });
}

bool may_be_in_place(const Definition& definition, int tensor) {
    if (definition.monoid != Monoid::kNone || definition.where) return false;
    const TensorDecl& result = definition.tensors[static_cast<size_t>(definition.results().front())];
    const TensorDecl& operand = definition.tensors[static_cast<size_t>(tensor)];
    if (result.role != Role::kOut || operand.role != Role::kIn || operand.type != result.type) return false;
    // Elements that nothing writes would be kept.
    if (!is_one_iterator_an_axis(result.map) || !writes_all(definition, result)) return false;
    const auto all = accesses(definition, tensor);
    return std::all_of(all.begin(), all.end(), [&](const std::vector<ExprPtr>& access) {
        return std::equal(access.begin(), access.end(), result.map.begin(), result.map.end(),
                          [](const ExprPtr& a, const ExprPtr& b) { return same(a, b); });
    });
}

bool may_replace(const Node& node, ValueId taken, const std::function<ValueId(ValueId)>& base) {
    const Definition& definition = *node.definition();
    const auto& written = definition.tensors[static_cast<size_t>(definition.results().front())].map;
    for (int t = 0; t < static_cast<int>(definition.tensors.size()); ++t) {
        const Role role = definition.tensors[static_cast<size_t>(t)].role;
        if (role == Role::kOut || role == Role::kUpdate) continue;
        const ValueId operand = value_of(node, t);
        if (!(base(operand) == base(taken))) continue;
        if (!(operand == taken) || role == Role::kIndex || definition.monoid != Monoid::kNone) return false;
        for (const auto& access : accesses(definition, t)) {
            if (!std::equal(access.begin(), access.end(), written.begin(), written.end(),
                            [](const ExprPtr& a, const ExprPtr& b) { return same(a, b); }))
                return false;
        }
    }
    return true;
}

}  // namespace tessera::lowering
