#include "ir/facts/packs.h"

#include <algorithm>

#include "ir/facts/address_forms.h"
#include "ir/facts/term_groups.h"
#include "support/error.h"

// The iterator becomes x = L x1 + x0 with lane x0 in [0, L). A coordinate is then
//
//     c = f(x0, x1, ...) + g(others)       f: the terms connected with x0, g: the rest
//
// Lanes broadcast if f does not change with x0. They run through an aligned group of the axis if f(x0) = f(0)
// + x0 and both f(0) and g have one residue by L each, the two adding up to 0: aligned digits make f = x0 + L
// (...) in the usual cases, and only terms that div and mod still couple with x0 are enumerated.

namespace tessera::facts {
namespace {

enum class Lanes { kBroadcast, kConsecutive, kOther };

// The residue by `lanes` that a group of terms has everywhere; -1 if it has several.
int64_t common_residue(const TermGroup& group, int64_t lanes, const Space& space) {
    if (group.terms.size() == 1 && std::holds_alternative<Variable>(group.terms[0].atom->node))
        return group.terms[0].factor % lanes == 0 ? 0 : -1;
    Form form;
    for (const Term& term : group.terms) form = add(form, Form{0, {term}}, space);
    form = remainder(form, lanes, space);
    if (form.is_constant()) return form.constant;
    int64_t residue = -1;
    const bool is_common = for_each_point(variables_in(form), space, [&](const std::vector<int64_t>& point) {
        const int64_t next = evaluate(form, point, space);
        if (residue < 0) residue = next;
        return next == residue;
    });
    return is_common ? residue : -1;
}

struct LaneGroup {
    Lanes lanes;
    int64_t residue;  ///< of the first lane's value, -1 if it has several
};

LaneGroup enumerate_lanes(const TermGroup& group, int lane, int64_t lanes, const Space& space) {
    std::vector<int> variables = group.variables;
    std::erase(variables, lane);
    variables.push_back(lane);  // runs fastest
    const Form form{0, group.terms};
    const auto x0 = static_cast<size_t>(lane);
    LaneGroup found{Lanes::kOther, -1};
    bool equal = true;
    bool consecutive = true;
    bool one_residue = true;
    int64_t first = 0;
    for_each_point(variables, space, [&](const std::vector<int64_t>& point) {
        const int64_t value = evaluate(form, point, space);
        if (point[x0] == 0) {
            first = value;
            if (found.residue < 0) found.residue = floor_mod(value, lanes);
            one_residue = one_residue && found.residue == floor_mod(value, lanes);
        }
        equal = equal && value == first;
        consecutive = consecutive && one_residue && value == first + point[x0];
        return equal || consecutive;
    });
    if (equal)
        found.lanes = Lanes::kBroadcast;
    else if (consecutive)
        found.lanes = Lanes::kConsecutive;
    return found;
}

Lanes lanes_of(const Form& form, int lane, int64_t lanes, const Space& space) {
    LaneGroup moving{Lanes::kBroadcast, 0};
    std::vector<TermGroup> rest;
    for (TermGroup& group : independent_groups(form)) {
        if (!std::ranges::binary_search(group.variables, lane)) {
            rest.push_back(std::move(group));
        } else if (group.terms.size() == 1 && std::holds_alternative<Variable>(group.terms[0].atom->node)) {
            moving = {group.terms[0].factor == 1 ? Lanes::kConsecutive : Lanes::kOther, 0};
        } else {
            moving = enumerate_lanes(group, lane, lanes, space);
        }
    }
    if (moving.lanes != Lanes::kConsecutive) return moving.lanes;
    int64_t residue = floor_mod(form.constant, lanes) + moving.residue;
    for (const TermGroup& group : rest) {
        const int64_t next = common_residue(group, lanes, space);
        if (next < 0) return Lanes::kOther;
        residue += next;
    }
    return residue % lanes == 0 ? Lanes::kConsecutive : Lanes::kOther;
}

// The packed axis of one access, or none; the outer optional is empty if the access forbids the pack.
std::optional<std::optional<int>> packed_axis(const BoundDefinition& bound, const Access& access,
                                              const std::vector<int64_t>& shape,
                                              const std::vector<Form>& iterators, int lane, int64_t lanes,
                                              const Space& space) {
    std::optional<int> axis;
    for (size_t a = 0; a < shape.size(); ++a) {
        const AddressForms address = address_forms(access.coordinates[a], iterators, space);
        for (const Form& form : address.forms) {
            if (has_unknown_lookup(form, space))
                throw Error(bound.where, bound.definition.name, "reads an index operand to read another one",
                            "give the index operands contents");
            const Lanes kind = lanes_of(form, lane, lanes, space);
            if (kind == Lanes::kBroadcast) continue;
            if (address.indirect || kind == Lanes::kOther || shape[a] % lanes != 0 || axis)
                return std::nullopt;
            axis = static_cast<int>(a);
        }
    }
    return axis;
}

}  // namespace

std::optional<Pack> derive_pack(const BoundDefinition& bound, int iterator, int64_t lanes) {
    TESSERA_CHECK(lanes >= 1, "{} lanes", lanes);
    const auto x = static_cast<size_t>(iterator);
    if (bound.extents.iterators[x] % lanes != 0) return std::nullopt;
    Pack pack(bound.definition.tensors.size());
    if (lanes == 1) return pack;
    Space space{&bound, bound.extents.iterators};
    space.extents[x] /= lanes;
    const int lane = static_cast<int>(space.extents.size());
    std::vector<Form> iterators = iterator_variables(space);
    space.extents.push_back(lanes);
    iterators[x] = add(scale(iterators[x], lanes, space), variable_form(lane), space);
    for (size_t t = 0; t < pack.size(); ++t) {
        bool is_first = true;
        for (const Access& access : accesses_of(bound.definition, static_cast<int>(t))) {
            const auto axis =
                packed_axis(bound, access, bound.extents.shapes[t], iterators, lane, lanes, space);
            if (!axis || (!is_first && *axis != pack[t])) return std::nullopt;
            pack[t] = *axis;
            is_first = false;
        }
    }
    return pack;
}

std::vector<std::optional<Pack>> derive_packs(const BoundDefinition& bound, int64_t lanes) {
    std::vector<std::optional<Pack>> packs;
    for (size_t i = 0; i < bound.definition.iterators.size(); ++i)
        packs.push_back(derive_pack(bound, static_cast<int>(i), lanes));
    return packs;
}

}  // namespace tessera::facts
