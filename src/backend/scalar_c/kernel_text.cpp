#include "backend/scalar_c/kernel_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "backend/index_text.h"
#include "backend/scalar_c/value_text.h"
#include "backend/wide_text.h"

namespace tessera::backend::scalar_c {
namespace {

/// The statement that stores a value at an offset.
std::string store_text(const movement::Address& to, const std::string& at, const std::string& value) {
    const ElementType type = to.element;
    std::string stored = value;
    if (type == ElementType::kF16 || type == ElementType::kBF16)
        stored = fmt::format("tessera_to_{}((float)({}))", name(type), value);
    else if (is_integer(type))
        stored = fmt::format("({})tessera_integer({}, {}, {})", memory_type(type), value,
                             static_cast<double>(range(type).low), static_cast<double>(range(type).high));
    return fmt::format("{}[{}] = {};", to.buffer, at, stored);
}

constexpr WideForms kWideForms{
    .index = [](const movement::Index& index) { return text_of(index); },
    .load =
        [](const movement::Address& from) {
            return load_text({.from = from, .lane_stride = 0, .guards = {}, .outside = 0}, {});
        },
    .store = [](const movement::Address& to,
                const std::string& number) { return store_text(to, text_of(to.offset), number); },
    .rounded =
        [](ElementType to, const std::string& number) {
            return fmt::format("tessera_{0}(tessera_to_{0}({1}))", name(to), number);
        }};

class KernelText {
public:
    explicit KernelText(ElementType arithmetic) : arithmetic_(arithmetic) {}

    void line(const std::string& text) {
        written.append(static_cast<size_t>(depth_) * 4, ' ');
        written += text + "\n";
    }
    void body(const movement::Body& statements) {
        for (const movement::Statement& statement : statements)
            std::visit([&](const auto& node) { emit(node); }, statement.node);
    }

    std::string written;

private:
    void nested(const movement::Body& statements) {
        ++depth_;
        body(statements);
        --depth_;
    }

    /// The head of a loop over the valid lanes of the group, or over all lanes of an accumulator outside of
    /// one.
    std::string over_lanes(int64_t lanes) const {
        return fmt::format("for (int64_t lane = 0; lane < {}; ++lane) ",
                           context_.lanes > 1 ? valid_ : fmt::format("{}", lanes));
    }

    void emit(const movement::For& loop) {
        const std::string v = identifier(loop.variable.name);
        line(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3}) {{", v, text_of(loop.begin),
                         text_of(loop.end), loop.step));
        nested(loop.body);
        line("}");
    }

    void emit(const movement::Let& let) {
        line(fmt::format("const int64_t {} = {};", identifier(let.variable.name), text_of(let.value)));
    }

    void emit(const movement::VectorFor& loop) {
        if (loop.lanes == 1) {
            emit(movement::For{loop.variable, loop.begin, loop.end, 1, loop.body});
            return;
        }
        const std::string v = identifier(loop.variable.name), end = text_of(loop.end);
        line(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3}) {{", v, text_of(loop.begin), end,
                         loop.lanes));
        context_.lanes = loop.lanes;
        valid_ = "lanes_of_" + v;
        ++depth_;
        line(fmt::format("const int64_t {} = tessera_min({}, {} - {});", valid_, loop.lanes, end, v));
        body(loop.body);
        --depth_;
        context_.lanes = 1;
        line("}");
    }

    void emit(const movement::If& branch) {
        line(fmt::format("if ({}) {{", is_wide() ? wide_condition(*branch.condition, arithmetic_, kWideForms)
                                                 : condition_text(*branch.condition, context_)));
        nested(branch.body);
        line("}");
    }

    void emit(const movement::Store& store) {
        if (is_wide())
            return line(wide_store(store.to, wide_text(*store.value, arithmetic_, kWideForms), arithmetic_,
                                   kWideForms));
        const std::string value = text_of(*store.value, context_);
        if (context_.lanes == 1 || store.lane_stride == 0) {
            line(store_text(store.to, text_of(store.to.offset), value));
            return;
        }
        // All lanes are computed before one is stored: they may lie in the place of an operand.
        line("{");
        ++depth_;
        line(fmt::format("double values[{}];", context_.lanes));
        line(over_lanes(context_.lanes) + fmt::format("values[lane] = {};", value));
        line(
            over_lanes(context_.lanes) +
            store_text(store.to, text_of_lane(store.to.offset, store.lane_stride, context_), "values[lane]"));
        --depth_;
        line("}");
    }

    void emit(const movement::Declare& accumulator) {
        if (is_wide())
            return line(fmt::format("{} {} = {};", wide_type(arithmetic_), identifier(accumulator.name),
                                    wide_literal(identity(accumulator.monoid), arithmetic_)));
        context_.accumulators[accumulator.name] = accumulator;
        const std::string variable = identifier(accumulator.name),
                          start = literal(identity(accumulator.monoid));
        if (accumulator.lanes == 1) {
            line(fmt::format("double {} = {};", variable, start));
            return;
        }
        line(fmt::format("double {}[{}];", variable, accumulator.lanes));
        line(fmt::format("for (int64_t lane = 0; lane < {}; ++lane) {}[lane] = {};", accumulator.lanes,
                         variable, start));
    }

    void emit(const movement::Accumulate& fold) {
        if (is_wide()) return line(wide_fold(fold, arithmetic_, kWideForms));
        const movement::Declare& declared = context_.accumulators.at(fold.name);
        const std::string variable = identifier(fold.name) + (declared.lanes > 1 ? "[lane]" : "");
        const auto* product = std::get_if<movement::ApplyValue>(&fold.value->node);
        std::string folded = text_of(*fold.value, context_);
        // A product is added without being rounded.
        if (fold.monoid == Monoid::kSum && product && product->function == Function::kMul &&
            !has_integer_arguments(*product))
            folded = fmt::format("(double){} * {}", float_text(*product->arguments[0], context_),
                                 float_text(*product->arguments[1], context_));
        line((declared.lanes > 1 ? over_lanes(declared.lanes) : "") +
             (fold.condition ? fmt::format("if ({}) ", condition_text(*fold.condition, context_)) : "") +
             (fold.monoid == Monoid::kSum
                  ? fmt::format("{} += {};", variable, folded)
                  : fmt::format("{0} = {1}({0}, {2});", variable, folding_function(fold.monoid), folded)));
    }

    void emit(const movement::Call& call) {
        line("{");
        nested(call.meaning());
        line("}");
    }

    void emit(const movement::LocalTile& tile) {
        line(fmt::format("float {}[{}];", tile.name, std::max<int64_t>(tile.elements, 1)));
    }

    void emit(const movement::Fill& fill) {
        const movement::Index at = movement::Index::variable({"at", {0, fill.count.bounds().high}});
        line(fmt::format("for (int64_t at = 0; at < {}; ++at) {}", text_of(fill.count),
                         is_wide()
                             ? wide_store({fill.to.buffer, fill.to.offset + at, fill.to.element},
                                          wide_literal(fill.value, arithmetic_), arithmetic_, kWideForms)
                             : store_text(fill.to, text_of(fill.to.offset + at), literal(fill.value))));
    }

    bool is_wide() const { return arithmetic_ != ElementType::kF32; }

    ElementType arithmetic_;
    int depth_ = 1;
    std::string valid_;  ///< lanes of the group, in one
    ValueContext context_;
};

}  // namespace

std::string text_of(const movement::Kernel& kernel) {
    KernelText text(kernel.arithmetic);
    text.body(kernel.body);
    return std::move(text.written);
}

}  // namespace tessera::backend::scalar_c
