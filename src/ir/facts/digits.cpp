#include "ir/facts/digits.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "support/error.h"

// K[page[s div 16], s mod 16], s in [0, 40):      s = 16 s1 + s0
//
//     s1 in [0, 2), s0 in [0, 16)   K[page[s1], s0]          the full blocks
//     s1 = 2,       s0 in [0, 8)    K[page[2],  s0]          the ragged one
//
// In each box the axes share no variable any more, so the elements reached are a product of sets (image.h).

namespace tessera::facts {
namespace {

// Divisors that a variable meets, in its own steps, and how far it is from a multiple of them at 0.
struct Meeting {
    int64_t modulus;
    int64_t offset;
};
using Meetings = std::map<int, std::vector<Meeting>>;

void meet(const Form& form, Meetings& found);

// Within `form mod modulus`: a term with factor f repeats after modulus / gcd(modulus, f) steps of its atom.
void meet_within(const Form& form, int64_t modulus, Meetings& found) {
    for (const Term& term : form.terms) {
        const int64_t steps = modulus / std::gcd(modulus, term.factor);
        if (const auto* v = std::get_if<Variable>(&term.atom->node)) {
            const int64_t offset = form.constant % term.factor == 0 ? form.constant / term.factor : 0;
            if (steps > 1) found[v->id].push_back({steps, offset});
        } else if (const auto* q = std::get_if<Quotient>(&term.atom->node)) {
            int64_t both = 0;
            meet_within(q->inner, q->divisor, found);
            if (!__builtin_mul_overflow(q->divisor, steps, &both)) meet_within(q->inner, both, found);
        } else if (const auto* r = std::get_if<Remainder>(&term.atom->node)) {
            meet_within(r->inner, r->divisor, found);
            if (r->divisor % steps == 0) meet_within(r->inner, steps, found);
        } else {
            for (const Form& coordinate : std::get<Lookup>(term.atom->node).coordinates)
                meet(coordinate, found);
        }
    }
}

void meet(const Form& form, Meetings& found) {
    for (const Term& term : form.terms) {
        if (const auto* q = std::get_if<Quotient>(&term.atom->node)) {
            meet_within(q->inner, q->divisor, found);
        } else if (const auto* r = std::get_if<Remainder>(&term.atom->node)) {
            meet_within(r->inner, r->divisor, found);
        } else if (const auto* l = std::get_if<Lookup>(&term.atom->node)) {
            for (const Form& coordinate : l->coordinates) meet(coordinate, found);
        }
    }
}

// Ascending, each dividing the next. Moduli that do not fit in between are served by a common multiple on
// top.
std::vector<int64_t> divisor_chain(std::vector<int64_t> moduli, int64_t extent) {
    std::sort(moduli.begin(), moduli.end());
    std::vector<int64_t> chain;
    int64_t common = 1;
    bool all_fit = true;
    for (const int64_t modulus : moduli) {
        if (modulus >= extent) continue;
        int64_t multiple = 0;
        const int64_t times = modulus / std::gcd(common, modulus);
        common = __builtin_mul_overflow(common, times, &multiple) || common == 0 ? 0 : multiple;
        if (chain.empty() || (modulus != chain.back() && modulus % chain.back() == 0))
            chain.push_back(modulus);
        else
            all_fit = all_fit && modulus == chain.back();
    }
    if (!all_fit && common != 0 && common < extent && common > chain.back()) chain.push_back(common);
    return chain;
}

struct Digit {
    int64_t weight;
    int64_t extent;
};
// constant + sum of weight * digit, every digit from 0.
struct DigitBox {
    int64_t constant;
    std::vector<Digit> digits;
};

// The numbers [range) as boxes of digits: up to the first multiple of the largest divisor, the full blocks,
// the rest.
void split_range(Range range, std::span<const int64_t> chain, int64_t constant,
                 std::vector<DigitBox>& boxes) {
    if (range.empty()) return;
    if (chain.empty()) {
        boxes.push_back({constant + range.first, {{1, range.size()}}});
        return;
    }
    const int64_t block = chain.back();
    const auto lower = chain.first(chain.size() - 1);
    const int64_t first = floor_div(range.first, block) + (floor_mod(range.first, block) != 0);
    const int64_t last = floor_div(range.last, block);
    if (first > last) {  // within one block
        const int64_t start = last * block;
        split_range({range.first - start, range.last - start}, lower, constant + start, boxes);
        return;
    }
    if (const int64_t start = (first - 1) * block; range.first < first * block)
        split_range({range.first - start, block}, lower, constant + start, boxes);
    if (first < last) {
        DigitBox full{constant + first * block, {{block, last - first}}};
        for (size_t i = chain.size() - 1; i > 0; --i)
            full.digits.push_back({chain[i - 1], chain[i] / chain[i - 1]});
        full.digits.push_back({1, chain[0]});
        boxes.push_back(std::move(full));
    }
    split_range({0, range.last - last * block}, lower, constant + last * block, boxes);
}

// A place in which variables are added up, with their factors.
using Slot = std::map<int, int64_t>;

void collect_slots(const Form& form, std::vector<Slot>& slots) {
    Slot slot;
    for (const Term& term : form.terms) {
        if (const auto* v = std::get_if<Variable>(&term.atom->node)) {
            slot[v->id] = term.factor;
        } else if (const auto* q = std::get_if<Quotient>(&term.atom->node)) {
            collect_slots(q->inner, slots);
        } else if (const auto* r = std::get_if<Remainder>(&term.atom->node)) {
            collect_slots(r->inner, slots);
        } else {
            for (const Form& c : std::get<Lookup>(term.atom->node).coordinates) collect_slots(c, slots);
        }
    }
    slots.push_back(std::move(slot));
}

struct Proportion {
    int larger;  ///< variable with the larger factor
    int smaller;
    int64_t times;  ///< factor of `larger` in units of that of `smaller`, not 0
};

// For two variables that always stand together with factors n f and f: n.
bool proportion(const std::vector<Slot>& slots, int a, int b, int64_t& times) {
    times = 0;
    for (const Slot& slot : slots) {
        const auto at_a = slot.find(a);
        const auto at_b = slot.find(b);
        if ((at_a == slot.end()) != (at_b == slot.end())) return false;
        if (at_a == slot.end()) continue;
        if (at_a->second % at_b->second != 0) return false;
        const int64_t n = at_a->second / at_b->second;
        if (times != 0 && times != n) return false;
        times = n;
    }
    return times != 0;
}

bool find_fusion(const Component& component, const std::vector<int>& variables, Proportion& found) {
    std::vector<Slot> slots;
    for (const Form& form : component.forms) collect_slots(form, slots);
    for (const int a : variables)
        for (const int b : variables) {
            int64_t times = 0;
            if (a == b || !proportion(slots, a, b, times)) continue;
            if (std::abs(times) > component.space.extents[static_cast<size_t>(b)]) continue;
            found = {a, b, times};
            return true;
        }
    return false;
}

std::vector<int> variables_of(const Component& component) {
    std::vector<int> all;
    for (const Form& form : component.forms)
        for (const int v : variables_in(form)) all.push_back(v);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

}  // namespace

Component fuse_variables(Component component) {
    while (true) {
        const std::vector<int> variables = variables_of(component);
        Proportion pair{};
        if (!find_fusion(component, variables, pair)) return component;
        const auto larger = static_cast<size_t>(pair.larger);
        const auto smaller = static_cast<size_t>(pair.smaller);
        Space& space = component.space;
        const int64_t reach = std::abs(pair.times) * (space.extents[larger] - 1);
        std::vector<Form> values;
        for (size_t v = 0; v < space.extents.size(); ++v)
            values.push_back(variable_form(static_cast<int>(v)));
        values[larger] = constant_form(0);
        // A negative proportion counts the other variable from its end.
        if (pair.times < 0) values[smaller].constant = -reach;
        space.extents[smaller] += reach;
        space.extents[larger] = 1;
        for (Form& form : component.forms) form = substitute(form, values, space, Divisions::kAsWritten);
    }
}

std::vector<Component> split_into_digits(const Component& component) {
    Meetings meetings;
    for (const Form& form : component.forms) meet(form, meetings);
    const Space& space = component.space;
    // For every variable that occurs, the boxes of its digits.
    const std::vector<int> variables = variables_of(component);
    std::vector<std::vector<DigitBox>> choices;
    for (const int v : variables) {
        const int64_t extent = space.extents[static_cast<size_t>(v)];
        const auto& met = meetings[v];
        std::vector<int64_t> moduli;
        for (const Meeting& meeting : met) moduli.push_back(meeting.modulus);
        const int64_t offset = met.empty() ? 0 : met.front().offset;
        std::vector<DigitBox> boxes;
        split_range({offset, offset + extent}, divisor_chain(std::move(moduli), extent), -offset, boxes);
        choices.push_back(std::move(boxes));
    }
    std::vector<Component> result;
    std::vector<size_t> chosen(variables.size(), 0);
    while (true) {
        Component box{{space.bound, {}}, {}};
        std::vector<Form> values(space.extents.size());
        for (size_t i = 0; i < variables.size(); ++i) {
            const DigitBox& digits = choices[i][chosen[i]];
            Form value = constant_form(digits.constant);
            for (const Digit& digit : digits.digits) {
                if (digit.extent == 1) continue;
                value = add(value, variable_form(static_cast<int>(box.space.extents.size()), digit.weight),
                            box.space);
                box.space.extents.push_back(digit.extent);
            }
            values[static_cast<size_t>(variables[i])] = std::move(value);
        }
        for (const Form& form : component.forms) box.forms.push_back(substitute(form, values, box.space));
        result.push_back(std::move(box));
        size_t next = 0;
        while (next < variables.size() && ++chosen[next] == choices[next].size()) chosen[next++] = 0;
        if (next == variables.size()) return result;
    }
}

}  // namespace tessera::facts
