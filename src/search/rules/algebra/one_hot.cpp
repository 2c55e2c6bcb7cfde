// A sum of products with a one-hot factor chooses from the other one:
//
//     H[m, k] = I[m] == k
//     Y[m, n] = sum(H[m, k] * W[k, n])  =  select(0 <= I[m] and I[m] < K, W[I[m] mod K, n] + 0, 0)
//
// The sum has 0 where no k is the index, and adds 0 to -0 where one is. What is not chosen is multiplied with
// 0, so W must be finite.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "search/rules/algebra/draft.h"
#include "search/rules/algebra/families.h"
#include "search/rules/algebra/formulas.h"
#include "search/rules/algebra/indexed.h"

namespace tessera::rules {
namespace {

using egraph::Attributes;
using egraph::ClassFacts;
using egraph::EGraph;
using egraph::hole;
using egraph::Match;
using egraph::Operator;
using egraph::Pattern;
using egraph::TermId;

/// A map of the integers of its only operand. `value` where one of them is the place along `axis`, else 0.
struct OneHot {
    std::vector<int64_t> iterators;  ///< of the axes of the result
    size_t axis = 0;
    bool counts_from_end = false;  ///< -1 is the last place, too
    int64_t extent = 0;            ///< along the axis
    double value = 1;
};

/// True if each component is 0 or an iterator over the whole axis: nothing is read outside.
bool stays_within(const Definition& definition, const TensorDecl& tensor) {
    for (size_t axis = 0; axis < tensor.map.size(); ++axis) {
        const auto* x = std::get_if<IteratorRef>(&tensor.map[axis]->node);
        if (!x && !same(tensor.map[axis], number(0))) return false;
        const ExprPtr& extent = x ? definition.iterators[static_cast<size_t>(x->index)].extent : nullptr;
        if (x && tensor.shape && !same((*tensor.shape)[axis], extent)) return false;
    }
    return true;
}

/// The iterator that the operand's element is compared with; `added` is what is added to the element.
std::optional<int> compared_place(const ExprPtr& expr, const ExprPtr& added) {
    const Apply* equal = call_of(expr, Function::kEqual);
    if (!equal) return {};
    for (const size_t side : {size_t{0}, size_t{1}}) {
        const auto* place = std::get_if<IteratorRef>(&equal->arguments[side]->node);
        ExprPtr element = equal->arguments[1 - side];
        if (added) {
            const Apply* sum = call_of(element, Function::kAdd);
            if (!sum || !same(sum->arguments[1], added)) continue;
            element = sum->arguments[0];
        }
        const auto* access = std::get_if<Read>(&element->node);
        if (place && access && access->declared_map) return place->index;
    }
    return {};
}

std::optional<OneHot> one_hot_of(const Definition& d) {
    if (d.monoid != Monoid::kNone || d.where || d.post || d.tensors.size() != 2 || d.body.size() != 1)
        return {};
    const TensorDecl &from = d.tensors[0], &result = d.tensors[1];
    auto iterators = whole_axes(d, result);
    if (from.role != Role::kIn || !is_integer(from.type) || result.role != Role::kOut || !iterators ||
        !stays_within(d, from))
        return {};
    OneHot hot{.iterators = *std::move(iterators)};
    ExprPtr condition = d.body.front();
    if (const Apply* choice = call_of(condition, Function::kSelect)) {
        const auto *on = std::get_if<Number>(&choice->arguments[1]->node),
                   *off = std::get_if<Number>(&choice->arguments[2]->node);
        if (!on || !off || off->value != 0 || std::signbit(off->value)) return {};
        hot.value = round_to(result.type, on->value);
        if (!std::isfinite(hot.value) || (is_integer(result.type) && hot.value != 1)) return {};
        condition = choice->arguments[0];
    }
    const Apply* either = call_of(condition, Function::kOr);
    const auto place = compared_place(either ? either->arguments[0] : condition, nullptr);
    if (!place) return {};
    const ExprPtr& extent = d.iterators[static_cast<size_t>(*place)].extent;
    const auto* count = std::get_if<Number>(&extent->node);
    const auto axis = std::ranges::find(hot.iterators, *place);
    if (!count || axis == hot.iterators.end()) return {};
    if (either && compared_place(either->arguments[1], extent) != place) return {};
    for (const int x : iterators_in(from.map))
        if (x == *place) return {};
    hot.axis = static_cast<size_t>(axis - hot.iterators.begin());
    hot.counts_from_end = either != nullptr;
    hot.extent = static_cast<int64_t>(count->value);
    return hot;
}

/// True if the body is a product of both operands' elements.
bool multiplies_both(const Definition& d) {
    static const Formula product = formula("X * Z", 2), swapped = formula("Z * X", 2);
    const auto body = formula_of(d.body.front(), d);
    return body && (*body == product || *body == swapped);
}

std::optional<Attributes> recognise_sum(const Operator& op) {
    const Definition* d = op.definition();
    if (!d || op.updates || d->monoid != Monoid::kSum || d->where || d->accumulator != ElementType::kF32 ||
        d->tensors.size() != 3)
        return {};
    const bool has_plain_operands = d->tensors[0].role == Role::kIn && d->tensors[1].role == Role::kIn;
    if (!has_plain_operands || d->tensors[2].role != Role::kOut || !reads_in({d->post}).empty() ||
        !multiplies_both(*d))
        return {};
    return Attributes{};
}

/// The same elements as numbers of another type, at the same places.
std::optional<Attributes> recognise_cast(const Operator& op) {
    const Definition* d = op.definition();
    if (!d || op.updates || d->monoid != Monoid::kNone || d->where || d->post || d->tensors.size() != 2)
        return {};
    const TensorDecl &from = d->tensors[0], &result = d->tensors[1];
    const auto written = whole_axes(*d, result);
    const auto body = formula_of(d->body.front(), *d);
    if (from.role != Role::kIn || result.role != Role::kOut || !written || !body || !is_bare_read(*body) ||
        from.map.size() != written->size() || !stays_within(*d, from))
        return {};
    for (size_t axis = 0; axis < written->size(); ++axis) {
        const auto x = static_cast<int>((*written)[axis]);
        const bool is_single = same(d->iterators[static_cast<size_t>(x)].extent, number(1));
        if (!same(from.map[axis], iterator_ref(x)) && !is_single) return {};
    }
    return Attributes{};
}

/// The sum with the table read where the index says. Its operands are the index and the table.
class Choosing {
public:
    /// @param factor the operand of the sum that is one-hot
    Choosing(const Definition& sum, int factor, const Definition& hot, const OneHot& facts,
             const std::vector<Dim>& table)
        : sum_(sum), factor_(factor), hot_(hot), facts_(facts), table_(table) {}

    std::optional<Definition> run() {
        const TensorDecl& one_hot = sum_.tensors[static_cast<size_t>(factor_)];
        const auto* place = std::get_if<IteratorRef>(&one_hot.map[facts_.axis]->node);
        if (!place || !stays_within(sum_, one_hot)) return {};
        summed_ = place->index;
        size_t occurrences = 0;
        for (const ExprPtr& component : one_hot.map)
            occurrences += same(component, one_hot.map[facts_.axis]) ? 1 : 0;
        const Iterator& summed = sum_.iterators[static_cast<size_t>(summed_)];
        if (occurrences != 1 || !summed.is_reduction || !same(summed.extent, number(facts_.extent)))
            return {};

        made_ = sum_;
        made_.iterators.erase(made_.iterators.begin() + summed_);
        for (const DimSymbol& dim : hot_.dims)
            if (made_.dim(dim.name) < 0) made_.dims.push_back(dim);
        const TensorDecl &from = hot_.tensors[0], &table = sum_.tensors[static_cast<size_t>(1 - factor_)];
        TensorDecl index{
            .name = one_hot.name, .type = from.type, .role = Role::kIndex, .map = {}, .shape = {}};
        for (const ExprPtr& component : from.map) index.map.push_back(of_hot(component));
        if (from.shape) {
            index.shape.emplace();
            for (const ExprPtr& extent : *from.shape) index.shape->push_back(of_hot(extent));
        }
        index_ = read(0, index.map, true);
        TensorDecl chosen = table;
        for (ExprPtr& component : chosen.map) component = of_sum(component);
        chosen.shape.emplace();
        for (const Dim& dim : table_) chosen.shape->push_back(extent_of(made_, dim));
        TensorDecl result = sum_.tensors[2];
        for (ExprPtr& component : result.map) component = of_sum(component);
        made_.tensors = {std::move(index), std::move(chosen), std::move(result)};
        set_value();
        return std::move(made_);
    }

private:
    void set_value() {
        ExprPtr value = read(1, made_.tensors[1].map, true);
        if (facts_.value != 1) value = apply(Function::kMul, {value, real(facts_.value)});
        bool is_sum = false;
        for (const Iterator& x : made_.iterators) is_sum = is_sum || x.is_reduction;
        if (!is_sum) value = apply(Function::kAdd, {value, real(0)});
        const ExprPtr first = number(facts_.counts_from_end ? -facts_.extent : 0),
                      end = number(facts_.extent),
                      is_place = apply(Function::kAnd, {apply(Function::kGreaterEqual, {index_, first}),
                                                        apply(Function::kLess, {index_, end})});
        made_.body = {apply(Function::kSelect, {is_place, value, real(0)})};
        if (is_sum) return;
        made_.monoid = Monoid::kNone;
        if (made_.post) made_.body = {with_folded(made_.post, made_.body.front())};
        made_.post = nullptr;
    }

    /// Expressions of the sum: the iterator that was summed over is the index.
    ExprPtr of_sum(const ExprPtr& expr) const {
        return with_leaves(expr, [&](const Expr& leaf) -> ExprPtr {
            const auto* x = std::get_if<IteratorRef>(&leaf.node);
            if (!x) return nullptr;
            if (x->index == summed_) return apply(Function::kMod, {index_, number(facts_.extent)});
            return iterator_ref(x->index < summed_ ? x->index : x->index - 1);
        });
    }

    /// Expressions of the one-hot operator, whose iterators are what the sum reads it at.
    ExprPtr of_hot(const ExprPtr& expr) const {
        return with_leaves(expr, [&](const Expr& leaf) -> ExprPtr {
            if (const auto* dim = std::get_if<DimRef>(&leaf.node))
                return dim_ref(made_.dim(hot_.dims[static_cast<size_t>(dim->index)].name));
            const auto* x = std::get_if<IteratorRef>(&leaf.node);
            if (!x) return nullptr;
            const auto axis = std::ranges::find(facts_.iterators, x->index) - facts_.iterators.begin();
            return of_sum(sum_.tensors[static_cast<size_t>(factor_)].map[static_cast<size_t>(axis)]);
        });
    }

    const Definition& sum_;
    const int factor_;
    const Definition& hot_;
    const OneHot& facts_;
    const std::vector<Dim>& table_;
    int summed_ = 0;
    ExprPtr index_;
    Definition made_;
};

std::string example_text(int factor, bool is_cast) {
    const char* const hot = is_cast ? "as_float" : "hot";
    return fmt::format(
        R"(graph "one_hot_rows"
symbol T in 1..6
input i: i8[T]
constant w: f32[3, 100] finite from "w"
value hot: {0}[T, 100]
{1}value y: f32[3, T]
block body
  node hot(i) -> hot
    op hot(t: T, k: 100)
    dim T in 1..6
    in I i8[t]
    out H {0}[t, k] = {2}
{3}  node y({4}) -> y
    op chosen(n: 3, t: T, k*: 100)
    dim T in 1..6
    in X f32[{5}, k]
    in Z f32[{6}, k]
    out Y f32[n, t] = sum(X * Z) * 0.5
output y
)",
        is_cast ? "bool" : "f32", is_cast ? "value as_float: f32[T, 100]\n" : "",
        is_cast ? "I == k" : "select(k == I or I + 100 == k, 1.5, 0)",
        is_cast ? "  node as_float(hot) -> as_float\n    op as_float(t: T, k: 100)\n    dim T in 1..6\n"
                  "    in A bool[t, k]\n    out Y f32[t, k] = A\n"
                : "",
        factor == 0 ? fmt::format("{}, w", hot) : fmt::format("w, {}", hot), factor == 0 ? "t" : "n",
        factor == 0 ? "n" : "t");
}

/// @param factor the operand of the sum that is one-hot
RuleEntry choosing_rule(const Families& families, int factor, bool is_cast) {
    const Pattern ids = hole("ids"), table = hole("table", &ClassFacts::is_finite);
    Pattern hot = egraph::apply(families.one_hot, {}, {ids});
    if (is_cast) hot = egraph::apply(families.cast, {}, {hot});
    const Pattern sum = factor == 0 ? egraph::apply(families.product_sum, {}, {hot, table})
                                    : egraph::apply(families.product_sum, {}, {table, hot});
    const auto choose = [factor, is_cast](EGraph& graph, const Match& match) -> std::optional<TermId> {
        Operator op = graph.op(match.operators.front());
        const Operator& made = graph.op(match.operators.back());
        const auto facts = one_hot_of(*made.definition());
        if (!facts || (is_cast && facts->value != 1)) return {};
        auto chosen = Choosing(*op.definition(), factor, *made.definition(), *facts,
                               graph.facts(match["table"]).types.front().shape)
                          .run();
        if (!chosen) return {};
        op.what = std::make_shared<const Definition>(*std::move(chosen));
        return graph.add(op, {match["ids"], match["table"]});
    };
    return {.rule = egraph::Rule({.name = fmt::format("choose-by-{}one-hot-{}", is_cast ? "cast-" : "",
                                                      factor == 0 ? "left" : "right"),
                                  .from = sum,
                                  .to = choose}),
            .exactness = Exactness::kExact,
            .example = Example(example_text(factor, is_cast))};
}

}  // namespace

egraph::FamilyPtr one_hots() {
    const auto recognise = [](const Operator& op) -> std::optional<Attributes> {
        const Definition* d = op.definition();
        if (!d || op.updates || !one_hot_of(*d)) return {};
        return Attributes{};
    };
    return std::make_shared<egraph::OperatorFamily>(
        egraph::OperatorFamily{.name = "one-hot", .recognise = recognise, .make = {}});
}

egraph::FamilyPtr casts() {
    return std::make_shared<egraph::OperatorFamily>(
        egraph::OperatorFamily{.name = "cast", .recognise = recognise_cast, .make = {}});
}

egraph::FamilyPtr product_sums() {
    return std::make_shared<egraph::OperatorFamily>(
        egraph::OperatorFamily{.name = "product-sum", .recognise = recognise_sum, .make = {}});
}

std::vector<RuleEntry> one_hot_rules(const Families& families) {
    std::vector<RuleEntry> rules;
    for (const bool is_cast : {false, true})
        for (const int factor : {0, 1}) rules.push_back(choosing_rule(families, factor, is_cast));
    return rules;
}

}  // namespace tessera::rules
