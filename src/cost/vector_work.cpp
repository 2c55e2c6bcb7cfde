#include "cost/vector_work.h"

#include <algorithm>
#include <cmath>

#include "cost/recurrence_work.h"
#include "ir/facts/work.h"
#include "ir/iterator_use.h"
#include "lowering/kernels/parameters.h"

namespace tessera::cost {
namespace {

enum class Along : uint8_t { kSame, kSideBySide, kEveryOther, kApart };

/// How a component changes from one value of x to the next within a group of lanes.
Along along(const ExprPtr& component, int x) {
    if (!uses(component, x)) return Along::kSame;
    if (std::holds_alternative<IteratorRef>(component->node)) return Along::kSideBySide;
    const auto* call = std::get_if<Apply>(&component->node);
    if (!call) return Along::kApart;
    switch (call->function) {
        case Function::kAdd: {
            const Along left = along(call->arguments[0], x), right = along(call->arguments[1], x);
            return left == Along::kSame ? right : right == Along::kSame ? left : Along::kApart;
        }
        case Function::kSub:
            return along(call->arguments[1], x) == Along::kSame ? along(call->arguments[0], x)
                                                                : Along::kApart;
        case Function::kMul: {
            const auto* factor = std::get_if<Number>(&call->arguments[1]->node);
            const bool is_double =
                factor && factor->value == 2 && along(call->arguments[0], x) == Along::kSideBySide;
            return is_double ? Along::kEveryOther : Along::kApart;
        }
        case Function::kMod:  // of an extent that groups divide
            return along(call->arguments[0], x);
        case Function::kFloorDiv:  // a block, of several groups
            return along(call->arguments[0], x) == Along::kSideBySide ? Along::kSame : Along::kApart;
        default:
            return Along::kApart;
    }
}

/// True if groups of `lanes` neighbouring elements of the axis lie side by side.
bool is_innermost(const Layout& layout, size_t axis, size_t rank, int64_t lanes) {
    if (!layout.lanes.empty())
        return layout.lanes.back().axis == static_cast<int>(axis) && layout.lanes.back().factor % lanes == 0;
    return (layout.order.empty() ? rank - 1 : static_cast<size_t>(layout.order.back())) == axis;
}

/// How elements at these coordinates lie for neighbouring values of x.
Along along(const std::vector<ExprPtr>& coordinates, int x, const Layout& layout, int64_t lanes) {
    Along how = Along::kSame;
    for (size_t axis = 0; axis < coordinates.size(); ++axis) {
        const Along here = along(coordinates[axis], x);
        if (here == Along::kSame) continue;
        if (how != Along::kSame || !is_innermost(layout, axis, coordinates.size(), lanes) ||
            (here == Along::kEveryOther && !layout.lanes.empty()))
            return Along::kApart;
        how = here;
    }
    return how;
}

/// Divisions that remain divisions in machine code.
double divisions_in(const ExprPtr& expr) {
    double count = 0;
    walk(expr, [&](const Expr& node) {
        const auto* call = std::get_if<Apply>(&node.node);
        if (call && call->function == Function::kDivide) {
            const auto* by = std::get_if<Number>(&call->arguments[1]->node);
            int exponent = 0;
            if (!by || std::frexp(by->value, &exponent) != 0.5) ++count;
        }
        return !std::holds_alternative<Read>(node.node);
    });
    return count;
}

class Counting {
public:
    Counting(const Definition& definition, int x, int64_t lanes, const std::vector<Layout>& layouts,
             double registers)
        : definition_(definition), x_(x), lanes_(lanes), layouts_(layouts), registers_(registers) {}

    void access(VectorWork& work, int tensor, const std::vector<ExprPtr>& coordinates, double times) const {
        const TensorDecl& decl = definition_.tensors[static_cast<size_t>(tensor)];
        if (x_ >= 0 && !uses(coordinates, x_)) return;  // once for all steps along x
        const Layout layout = layouts_.empty() ? Layout{} : layouts_[static_cast<size_t>(tensor)];
        const Along how = x_ < 0 ? Along::kSideBySide : along(coordinates, x_, layout, lanes_);
        const bool is_read = decl.role == Role::kIn && decl.type == ElementType::kF32;
        if (how == Along::kEveryOther && is_read) {  // two registers, and what joins them
            work.loads += 2 * times * registers_;
            work.flops += times * registers_;
        } else if (how == Along::kApart || how == Along::kEveryOther) {
            work.gathers += times * static_cast<double>(lanes_);
        } else {
            work.loads += times * registers_;
        }
        if (decl.type != ElementType::kF32) work.conversions += times * registers_;
    }

private:
    const Definition& definition_;
    int x_;
    int64_t lanes_;
    const std::vector<Layout>& layouts_;
    double registers_;
};

}  // namespace

std::array<double, kVectorWorkCounts.size()> counts(const VectorWork& work) {
    std::array<double, kVectorWorkCounts.size()> result{};
    for (size_t i = 0; i < result.size(); ++i) result[i] = work.*kVectorWorkCounts[i].member;
    return result;
}

std::map<std::string, int64_t> named(const VectorWork& work) {
    std::map<std::string, int64_t> result;
    for (const auto& [name, member] : kVectorWorkCounts)
        if (const auto count = std::llround(work.*member); count > 0) result[name] = count;
    return result;
}

VectorWork vector_work_of(const std::map<std::string, int64_t>& named) {
    VectorWork work;
    for (const auto& [name, member] : kVectorWorkCounts)
        if (const auto found = named.find(name); found != named.end())
            work.*member = static_cast<double>(found->second);
    return work;
}

VectorWork vector_work(const Definition& definition, const std::vector<int64_t>& extents, int x,
                       int64_t lanes, const std::vector<Layout>& layouts, int64_t registers) {
    VectorWork work;
    double steps = 1, results = 1;
    const auto of_each = static_cast<double>(registers);
    for (int i = 0; i < static_cast<int>(extents.size()); ++i) {
        const int64_t extent = extents[static_cast<size_t>(i)];
        const auto trips = static_cast<double>(i == x ? (extent + lanes - 1) / lanes : extent);
        steps *= trips;
        if (!definition.iterators[static_cast<size_t>(i)].is_reduction) results *= trips;
    }
    work.steps = steps * of_each;
    const Counting counting(definition, x, lanes, layouts, of_each);
    std::vector<ExprPtr> roots = definition.body;
    for (const ExprPtr& root : roots) {
        const facts::OperationCount each = facts::count_operations(root);
        const double divisions = divisions_in(root);
        work.flops += work.steps * (static_cast<double>(each.flops) - divisions);
        work.divisions += work.steps * divisions;
        work.special += work.steps * static_cast<double>(each.special);
    }
    for (const Read& read : reads_in(roots)) {
        const Role role = definition.tensors[static_cast<size_t>(read.tensor)].role;
        if (role == Role::kIn) counting.access(work, read.tensor, read.coordinates, steps);
    }
    const bool is_reduction = definition.monoid != Monoid::kNone;
    if (definition.monoid == Monoid::kSoftmaxSum) {
        work.special += work.steps;
        work.flops += 3 * work.steps;
    }
    if (is_reduction) {
        const bool is_folded = x >= 0 && definition.iterators[static_cast<size_t>(x)].is_reduction;
        if (is_folded) work.flops += results * (of_each - 1);
        work.folds = steps;
        work.ends = results;
        work.waits = 1;
    }
    for (const int result : definition.results())
        counting.access(work, result, definition.tensors[static_cast<size_t>(result)].map,
                        is_reduction ? results : steps);
    return work;
}

VectorWork vector_work(const Definition& definition, const std::vector<int64_t>& extents,
                       const plan::Leaf& leaf, int64_t lanes_of_a_register,
                       const std::vector<Layout>& layouts) {
    const int x = plan::iterator_of(definition, leaf, kernels::parameter::kIteratorOfLanes);
    const int64_t lanes = x < 0 ? 1 : leaf.number(kernels::parameter::kLanes);
    const int64_t registers = std::max<int64_t>(1, lanes / lanes_of_a_register);
    if (definition.is_recurrence()) {
        const int64_t steps =
            leaf.kernel->has(kernels::parameter::kSteps) ? leaf.number(kernels::parameter::kSteps) : 1;
        return recurrence_work(definition, extents, x, lanes, registers, steps);
    }
    return vector_work(definition, extents, x, lanes, layouts, registers);
}

}  // namespace tessera::cost
