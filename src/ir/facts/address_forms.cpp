#include "ir/facts/address_forms.h"

#include "support/error.h"

namespace tessera::facts {
namespace {

struct Reader {
    std::span<const Form> iterators;
    const Space& space;
    Simplify simplify;
    IndexElements elements;

    [[noreturn]] void refuse(const std::string& what) const {
        throw Error(
            space.bound->where, space.bound->definition.name, what,
            "a map holds sums of iterators with constant factors, and div and mod of such by constants");
    }

    Form floor_by(const Form& form, int64_t divisor, bool is_quotient) const {
        if (divisor == 0) refuse("an access map divides by 0");
        if (divisor < 0) {  // a div -c = (-a) div c, a mod -c = -((-a) mod c)
            const Form negated = floor_by(scale(form, -1, space), -divisor, is_quotient);
            return is_quotient ? negated : scale(negated, -1, space);
        }
        if (form.is_constant())
            return constant_form(is_quotient ? floor_div(form.constant, divisor)
                                             : floor_mod(form.constant, divisor));
        if (simplify == Simplify::kYes)
            return is_quotient ? quotient(form, divisor, space) : remainder(form, divisor, space);
        return is_quotient ? raw_quotient(form, divisor) : raw_remainder(form, divisor);
    }

    Form apply(const Apply& call) const {
        const Form a = form_of(call.arguments[0]);
        if (call.function == Function::kNegate) return scale(a, -1, space);
        if (call.arguments.size() != 2) refuse(fmt::format("an access map holds {}", name(call.function)));
        const Form b = form_of(call.arguments[1]);
        switch (call.function) {
            case Function::kAdd:
                return add(a, b, space);
            case Function::kSub:
                return add(a, scale(b, -1, space), space);
            case Function::kMul:
                if (a.is_constant()) return scale(b, a.constant, space);
                if (b.is_constant()) return scale(a, b.constant, space);
                refuse("an access map multiplies two iterators");
            case Function::kFloorDiv:
            case Function::kMod:
                if (!b.is_constant()) refuse("an access map divides by an iterator");
                return floor_by(a, b.constant, call.function == Function::kFloorDiv);
            default:
                refuse(fmt::format("an access map holds {}", name(call.function)));
        }
    }

    Form form_of(const ExprPtr& expr) const {
        if (const auto* n = std::get_if<Number>(&expr->node)) {
            if (!n->is_integer) refuse("an access map holds a fraction");
            return constant_form(static_cast<int64_t>(n->value));
        }
        if (const auto* d = std::get_if<DimRef>(&expr->node))
            return constant_form(space.bound->extents.dims[static_cast<size_t>(d->index)]);
        if (const auto* i = std::get_if<IteratorRef>(&expr->node))
            return iterators[static_cast<size_t>(i->index)];
        if (const auto* r = std::get_if<Read>(&expr->node)) {
            if (elements == IndexElements::kZero) return {};
            std::vector<Form> coordinates;
            for (const ExprPtr& coordinate : r->coordinates) coordinates.push_back(form_of(coordinate));
            return lookup_form(r->tensor, std::move(coordinates));
        }
        if (const auto* a = std::get_if<Apply>(&expr->node)) return apply(*a);
        refuse("an access map holds what is no integer expression");
    }
};

}  // namespace

Form to_form(const ExprPtr& component, std::span<const Form> iterators, const Space& space, Simplify simplify,
             IndexElements elements) {
    return Reader{iterators, space, simplify, elements}.form_of(component);
}

AddressForms address_forms(const ExprPtr& component, std::span<const Form> iterators, const Space& space) {
    if (!is_indirect(component)) return {false, {to_form(component, iterators, space)}};
    AddressForms address{true, {to_form(component, iterators, space, Simplify::kYes, IndexElements::kZero)}};
    for (const Read& read : reads_in({component}))
        for (const ExprPtr& coordinate : read.coordinates)
            address.forms.push_back(to_form(coordinate, iterators, space));
    return address;
}

std::vector<Form> iterator_variables(const Space& space) {
    std::vector<Form> iterators;
    for (size_t i = 0; i < space.extents.size(); ++i)
        iterators.push_back(space.extents[i] == 1 ? constant_form(0) : variable_form(static_cast<int>(i)));
    return iterators;
}

}  // namespace tessera::facts
