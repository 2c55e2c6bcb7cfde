#include "backend/cpp/factor_types.h"

#include <algorithm>
#include <vector>

#include "backend/cpp/buffers.h"
#include "backend/cpp/value.h"
#include "support/error.h"

namespace tessera::backend::cpp {
namespace {

constexpr const char* kOuter = "outer";
constexpr const char* kInner = "inner";

bool has_no_other_variable(const movement::Index& index, const std::string& variable) {
    return std::all_of(index.terms().begin(), index.terms().end(), [&](const movement::Index::Term& term) {
        const movement::Index::Atom& atom = *term.atom;
        if (atom.kind == movement::Index::AtomKind::kVariable) return atom.variable.name == variable;
        if (atom.kind == movement::Index::AtomKind::kRead) return false;
        return std::all_of(
            atom.arguments.begin(), atom.arguments.end(),
            [&](const movement::Index& argument) { return has_no_other_variable(argument, variable); });
    });
}

/// An operand that the factor reads at start + outer * step + inner.
struct Operand {
    movement::Address start;
    int64_t step = 0;
    movement::Index inner;
};

std::optional<Operand> operand_of(const movement::Load& load, const movement::ComputedFactor& factor) {
    if (!load.guards.empty()) return std::nullopt;
    Operand operand{
        {load.from.buffer, movement::Index(load.from.offset.constant()), load.from.element}, 0, {}};
    for (const movement::Index::Term& term : load.from.offset.terms()) {
        const movement::Index part = index_of(term);
        if (term.atom->kind == movement::Index::AtomKind::kVariable &&
            term.atom->variable.name == factor.outer.name) {
            operand.step = term.coefficient;
        } else if (!part.uses(factor.outer.name) && !part.uses(factor.inner.name)) {
            operand.start.offset = operand.start.offset + part;
        } else if (has_no_other_variable(part, factor.inner.name)) {
            operand.inner = operand.inner + part;
        } else {
            return std::nullopt;
        }
    }
    const movement::Index begin = operand.start.offset * movement::Index(bits(operand.start.element));
    if (begin.divisor() % 8 != 0) return std::nullopt;
    return operand;
}

/// The value with its operands replaced by members p0, p1, .. and step0, step1, .. of the type; null if it
/// cannot be written so.
movement::ValuePtr with_members(const movement::ValuePtr& value, const movement::ComputedFactor& factor,
                                std::vector<Operand>& operands) {
    if (const auto* load = std::get_if<movement::Load>(&value->node)) {
        std::optional<Operand> operand = operand_of(*load, factor);
        if (!operand) return nullptr;
        const size_t i = operands.size();
        movement::Load member = *load;
        member.from.buffer = fmt::format("p{}", i);
        member.from.offset =
            operand->inner.substitute(factor.inner.name,
                                      movement::Index::variable({kInner, factor.inner.bounds})) +
            movement::Index::variable({kOuter, factor.outer.bounds}) *
                movement::Index::variable({fmt::format("step{}", i), {operand->step, operand->step + 1}});
        operands.push_back(std::move(*operand));
        return std::make_shared<const movement::ValueExpr>(movement::ValueExpr{std::move(member)});
    }
    if (const auto* call = std::get_if<movement::ApplyValue>(&value->node)) {
        movement::ApplyValue replaced{call->function, {}};
        for (const movement::ValuePtr& argument : call->arguments) {
            replaced.arguments.push_back(with_members(argument, factor, operands));
            if (!replaced.arguments.back()) return nullptr;
        }
        return std::make_shared<const movement::ValueExpr>(movement::ValueExpr{std::move(replaced)});
    }
    if (const auto* rounded = std::get_if<movement::RoundValue>(&value->node)) {
        movement::ValuePtr argument = with_members(rounded->argument, factor, operands);
        if (!argument) return nullptr;
        return std::make_shared<const movement::ValueExpr>(
            movement::ValueExpr{movement::RoundValue{rounded->to, std::move(argument)}});
    }
    const bool is_number =
        std::holds_alternative<Number>(value->node) || std::holds_alternative<Infinity>(value->node);
    return is_number ? value : nullptr;
}

}  // namespace

std::optional<std::string> FactorTypes::object(const movement::ComputedFactor& factor, int64_t lanes) {
    std::vector<Operand> operands;
    const movement::ValuePtr value = with_members(factor.value, factor, operands);
    if (!value) return std::nullopt;
    ValueContext context;
    context.lanes = lanes;
    context.valid = "valid";
    std::string members, starts, steps;
    for (size_t i = 0; i < operands.size(); ++i) {
        members += fmt::format("    {} p{};\n", pointer_type(operands[i].start.element, false), i);
        starts += whole_address_text(operands[i].start) + ", ";
        steps += fmt::format("{}{}", i == 0 ? "" : ", ", operands[i].step);
    }
    for (size_t i = 0; i < operands.size(); ++i) members += fmt::format("    int64_t step{};\n", i);
    const std::string inside = fmt::format(
        "{}    template <class Valid>\n"
        "    [[gnu::always_inline]] auto operator()([[maybe_unused]] int64_t {}, [[maybe_unused]] int64_t "
        "{}, "
        "[[maybe_unused]] Valid valid) const {{\n        return {};\n    }}\n",
        members, kOuter, kInner, factor_text(*value, context));
    const auto [entry, is_new] = names_.emplace(inside, fmt::format("Factor{}", names_.size() + 1));
    if (is_new) definitions_ += fmt::format("struct {} {{\n{}}};\n\n", entry->second, inside);
    return fmt::format("{}{{{}{}}}", entry->second, starts, steps);
}

}  // namespace tessera::backend::cpp
