#include "backend/cpp/kernel_text.h"

#include "backend/cpp/buffers.h"
#include "backend/cpp/integer_value.h"
#include "backend/wide_text.h"
#include "support/error.h"

namespace tessera::backend::cpp {
namespace {

/// The lanes of the factor if they lie beside each other in memory, to be widened at most.
const movement::Load* lanes_in_memory(const movement::ComputedFactor& factor, int64_t lanes) {
    const auto* load = std::get_if<movement::Load>(&factor.value->node);
    return load && lanes > 1 && load->lane_stride == 1 && load->guards.empty() ? load : nullptr;
}

constexpr WideForms kWideForms{
    .index = [](const movement::Index& index) { return text_of(index); },
    .load =
        [](const movement::Address& from) {
            return fmt::format("ntt::element({}, {})", from.buffer, text_of(from.offset));
        },
    .store =
        [](const movement::Address& to, const std::string& number) {
            return fmt::format("ntt::set_element({}, {}, {});", to.buffer, text_of(to.offset), number);
        },
    .rounded =
        [](ElementType to, const std::string& number) {
            return fmt::format("ntt::rounded<ntt::{}>({})", name(to), number);
        }};

}  // namespace

void KernelText::body(const movement::Body& statements) {
    for (const movement::Statement& s : statements) std::visit([&](const auto& node) { emit(node); }, s.node);
}

void KernelText::line(const std::string& text) {
    out_ += std::string(static_cast<size_t>(depth_) * 4, ' ') + text + "\n";
}

void KernelText::nested(const movement::Body& statements) {
    ++depth_;
    body(statements);
    --depth_;
}

void KernelText::emit(const movement::For& loop) {
    const std::string v = identifier(loop.variable.name);
    line(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {3}) {{", v, text_of(loop.begin), text_of(loop.end),
                     loop.step == 1 ? "++" + v : fmt::format("{} += {}", v, loop.step)));
    nested(loop.body);
    line("}");
}

void KernelText::emit(const movement::Let& let) {
    line(fmt::format("const int64_t {} = {};", identifier(let.variable.name), text_of(let.value)));
}

/// Whole groups, then the partial one: a constant extent decides at once which of them there are.
void KernelText::emit(const movement::VectorFor& loop) {
    const ValueContext before = context_;
    const std::string v = identifier(loop.variable.name);
    if (loop.lanes == 1) {
        emit(movement::For{loop.variable, loop.begin, loop.end, 1, loop.body});
        return;
    }
    context_.lanes = loop.lanes;
    const auto extent = (loop.end - loop.begin).as_constant();
    const std::string whole = fmt::format("ntt::Int<{}>{{}}", loop.lanes);
    if (extent && *extent % loop.lanes == 0) {
        context_.valid = whole;
        line(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3}) {{", v, text_of(loop.begin),
                         text_of(loop.end), loop.lanes));
        nested(loop.body);
        line("}");
    } else {
        context_.valid = "lanes_of_" + v;
        line("{");
        ++depth_;
        line(fmt::format(
            "const auto group = [&]([[maybe_unused]] const int64_t {0}, const auto lanes_of_{0}) {{", v));
        nested(loop.body);
        line("};");
        line(fmt::format("int64_t {} = {};", v, text_of(loop.begin)));
        line(fmt::format("for (; {0} + {1} <= {2}; {0} += {1}) group({0}, {3});", v, loop.lanes,
                         text_of(loop.end), whole));
        line(fmt::format("if ({0} < {1}) group({0}, {1} - {0});", v, text_of(loop.end)));
        --depth_;
        line("}");
    }
    context_ = before;
}

void KernelText::emit(const movement::If& branch) {
    line(fmt::format("if ({}) {{", is_wide() ? wide_condition(*branch.condition, arithmetic_, kWideForms)
                                             : condition_text(*branch.condition, context_).text));
    nested(branch.body);
    line("}");
}

void KernelText::emit(const movement::Store& store) {
    if (is_wide())
        return line(
            wide_store(store.to, wide_text(*store.value, arithmetic_, kWideForms), arithmetic_, kWideForms));
    const bool has_lanes = context_.lanes > 1 && store.lane_stride != 0;
    // Integers are stored as they are, not by way of floats.
    const bool is_exact =
        store.to.element == ElementType::kI32 && number_kind(*store.value) == movement::NumberKind::kInteger;
    const std::string value = is_exact ? text_of_i32(*store.value, context_, has_lanes)
                                       : float_text(*store.value, context_, has_lanes);
    if (!has_lanes) {
        line(store.to.element == ElementType::kF32 || is_exact
                 ? fmt::format("{}[{}] = {};", store.to.buffer, text_of(store.to.offset), value)
                 : fmt::format("ntt::set_element({}, {}, {});", store.to.buffer, text_of(store.to.offset),
                               value));
    } else if (store.lane_stride == 1) {
        line(fmt::format("ntt::store_group({}, {}, {});", address_text(store.to), value, context_.valid));
    } else {
        line(fmt::format("ntt::store_strided_group({}, {}, {}, {});", address_text(store.to),
                         store.lane_stride, value, context_.valid));
    }
}

void KernelText::emit(const movement::Declare& accumulator) {
    if (is_wide())
        return line(fmt::format("{} {} = {};", wide_type(arithmetic_), identifier(accumulator.name),
                                wide_literal(identity(accumulator.monoid), arithmetic_)));
    context_.accumulators[accumulator.name] = accumulator;
    ValueContext own;
    own.lanes = accumulator.lanes;
    const std::string start = float_literal(identity(accumulator.monoid));
    line(fmt::format(
        "{} {} = {};", own.vector(), identifier(accumulator.name),
        accumulator.lanes == 1 ? start : fmt::format("ntt::broadcast<{}>({})", own.vector(), start)));
}

void KernelText::emit(const movement::Accumulate& fold) {
    if (is_wide()) return line(wide_fold(fold, arithmetic_, kWideForms));
    const bool has_lanes = context_.accumulators.at(fold.name).lanes > 1;
    const std::string accumulator = identifier(fold.name);
    const auto* product = std::get_if<movement::ApplyValue>(&fold.value->node);
    std::string folded;
    if (fold.monoid == Monoid::kSum && product && product->function == Function::kMul &&
        !has_integer_arguments(*product)) {
        folded = fmt::format("ntt::fma({}, {}, {})", float_text(*product->arguments[0], context_, has_lanes),
                             float_text(*product->arguments[1], context_, has_lanes), accumulator);
    } else {
        const std::string value = float_text(*fold.value, context_, has_lanes);
        switch (fold.monoid) {
            case Monoid::kSum:
                folded = accumulator + " + " + value;
                break;
            case Monoid::kProd:
                folded = accumulator + " * " + value;
                break;
            case Monoid::kMax:
                folded = fmt::format("ntt::max({}, {})", accumulator, value);
                break;
            case Monoid::kMin:
                folded = fmt::format("ntt::min({}, {})", accumulator, value);
                break;
            default:
                TESSERA_CHECK(false);
                break;
        }
    }
    std::string guard;
    if (fold.condition) {
        const Text condition = condition_text(*fold.condition, context_);
        // An index of iterations that are not executed may point anywhere.
        if (condition.has_lanes && is_chosen(*fold.value))
            guard = fmt::format("if (ntt::any({})) ", condition.text);
        folded = condition.has_lanes
                     ? fmt::format("ntt::select({}, {}, {})", condition.text, folded, accumulator)
                     : fmt::format("{} ? {} : {}", condition.text, folded, accumulator);
    }
    const bool may_be_partial =
        has_lanes && context_.lanes > 1 && context_.valid.find("Int<") == std::string::npos;
    line(guard + (may_be_partial ? fmt::format("{0} = ntt::fold_group({1}, {2}, {0});", accumulator,
                                               context_.valid, folded)
                                 : fmt::format("{} = {};", accumulator, folded)));
}

std::string KernelText::whole_address(const movement::Address& address) const {
    return whole_address_text(address);
}

void KernelText::factor(const movement::Factor& b, int64_t lanes, const kernels::FactorForms& forms) {
    if (const auto* strided = std::get_if<movement::StridedFactor>(&b)) {
        line(fmt::format("    ntt::{}({}, {}, {}),", forms.strided, address_text(strided->start),
                         text_of(strided->outer), fixed(strided->inner)));
        return;
    }
    const auto& function = std::get<movement::ComputedFactor>(b);
    if (const auto object = factors_.object(function, lanes)) {
        line(fmt::format("    ntt::{}({}),", forms.computed, *object));
        return;
    }
    if (const movement::Load* found = lanes_in_memory(function, lanes); found && forms.found) {
        line(fmt::format(
            "    ntt::{}([&]([[maybe_unused]] const int64_t {}, [[maybe_unused]] const int64_t {}) "
            "__attribute__((always_inline)) {{",
            forms.found, function.outer.name, function.inner.name));
        line(fmt::format("        return {};", address_text(found->from)));
        line("    }),");
        return;
    }
    ValueContext inside = context_;
    inside.lanes = lanes;
    inside.valid = "valid";
    line(
        fmt::format("    ntt::{}([&]([[maybe_unused]] const int64_t {}, [[maybe_unused]] const int64_t {}, "
                    "[[maybe_unused]] const auto valid) __attribute__((always_inline)) {{",
                    forms.computed, function.outer.name, function.inner.name));
    line(fmt::format("        return {};", factor_text(*function.value, inside)));
    line("    }),");
}

void KernelText::emit(const movement::Call& call) {
    if (const auto spelling = spellings_.find(&call.kind()); spelling != spellings_.end()) {
        spelling->second(call, *this);
        return;
    }
    line("{");
    nested(call.meaning());
    line("}");
}

void KernelText::emit(const movement::LocalTile& tile) {
    tiles_.push_back(tile.name);
    line(fmt::format("alignas(64) float {}[{}];", tile.name, tile.elements));
}

void KernelText::emit(const movement::Fill& fill) {
    if (is_wide()) {
        movement::Address to = fill.to;
        to.offset = to.offset + movement::Index::variable({"at", {0, fill.count.bounds().high}});
        return line(
            fmt::format("for (int64_t at = 0; at < {}; ++at) {}", text_of(fill.count),
                        wide_store(to, wide_literal(fill.value, arithmetic_), arithmetic_, kWideForms)));
    }
    const std::string at =
        text_of(fill.to.offset + movement::Index::variable({"at", {0, fill.count.bounds().high}}));
    const std::string value = float_literal(fill.value);
    line(fmt::format("for (int64_t at = 0; at < {}; ++at) {};", text_of(fill.count),
                     fill.to.element == ElementType::kF32
                         ? fmt::format("{}[{}] = {}", fill.to.buffer, at, value)
                         : fmt::format("ntt::set_element({}, {}, {})", fill.to.buffer, at, value)));
}

}  // namespace tessera::backend::cpp
