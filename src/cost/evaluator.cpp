// The evaluator's knowledge of a block: its tensors, their places, and the prices of leaves.
#include <algorithm>
#include <limits>
#include <map>

#include "cost/evaluate.h"
#include "ir/iterator_use.h"
#include "lowering/kernels/parameters.h"
#include "lowering/tensor_layouts.h"
#include "tessera/ntt/extent.h"

namespace tessera::cost {
namespace {

/// See Evaluator::Tensor::axes.
std::vector<int> axes_of(const Definition& definition, int tensor, const Layout& layout) {
    const auto all = accesses(definition, tensor);
    if (all.size() != 1 || !layout.is_row_major()) return {};
    std::vector<int> axes;
    for (const ExprPtr& axis : all.front()) {
        const auto* x = std::get_if<IteratorRef>(&axis->node);
        if (!x) return {};
        axes.push_back(x->index);
    }
    return axes;
}

/// See Evaluator::AtPoint::lines.
std::optional<TouchedLines> lines_of(const Definition& definition, int tensor, const Layout& layout,
                                     std::span<const int64_t> extents, const std::vector<int64_t>& shape,
                                     const std::map<std::string, int64_t>& symbols) {
    const TensorDecl& decl = definition.tensors[static_cast<size_t>(tensor)];
    const auto all = accesses(definition, tensor);
    if (decl.role != Role::kIn || all.size() != 1) return std::nullopt;
    return TouchedLines::of(all.front(), dims_of(definition, symbols), extents, shape, layout,
                            bits(decl.type) / 8.0);
}

}  // namespace

Evaluator::Evaluator(const lowering::LoweringInput& input, const lowering::BlockLinks& links,
                     std::vector<WeightedSizes> points, const CostModel& model, size_t constants,
                     std::optional<Published> published)
    : links_(links),
      points_(std::move(points)),
      model_(model),
      workers_(input.plan.workers),
      constants_(constants),
      published_(published) {
    for (size_t level = 0; level < model.machine().memory.size(); ++level)
        capacity_.push_back(static_cast<double>(model.capacity(level, workers_)));
    std::map<ValueId, int> storages, producers;
    // Only names of storages are asked for, so that any block will do.
    const lowering::Storage storage(input, input.graph.blocks.front());
    for (size_t o = 0; o < links.operators.size(); ++o) {
        const Node& node = *links.operators[o].node;
        const Definition& definition = *node.definition();
        Operator op{.work = facts::work_rates(definition),
                    .tensors = {},
                    .layouts = lowering::layouts_of(input.graph, input.plan, node, input.specialisation),
                    .points = {}};
        for (int t = 0; t < static_cast<int>(definition.tensors.size()); ++t) {
            const TensorDecl& decl = definition.tensors[static_cast<size_t>(t)];
            const ValueId base = storage.base(lowering::value_of(node, t));
            const ValueKind kind = input.graph[base].kind;
            const auto [storage_at, is_new] = storages.emplace(base, static_cast<int>(storages.size()));
            if (is_new) storages_.push_back(base);
            Tensor tensor{.storage = storage_at->second,
                          .accesses = {},
                          .iterators = {},
                          .bytes_each = bits(decl.type) / 8.0,
                          .is_result = decl.role == Role::kOut || decl.role == Role::kUpdate,
                          .is_constant = kind == ValueKind::kConstant || kind == ValueKind::kState};
            std::map<int, int64_t> lanes;  // by axis
            for (const Lane& lane : op.layouts[static_cast<size_t>(t)].lanes)
                lanes.emplace(lane.axis, 1).first->second *= lane.factor;
            for (const auto& access : accesses(definition, t)) {
                tensor.accesses.push_back(iterators_in(access));
                auto digits = Tensor::digits_of(access, op.layouts[static_cast<size_t>(t)]);
                if (digits.size() > tensor.innermost.size()) tensor.innermost = std::move(digits);
                for (const int x : tensor.accesses.back())
                    if (!contains(tensor.iterators, x)) tensor.iterators.push_back(x);
                for (const auto& [axis, factor] : lanes)
                    if (const auto* x = std::get_if<IteratorRef>(&access[static_cast<size_t>(axis)]->node))
                        tensor.lanes.emplace_back(x->index, factor);
            }
            tensor.axes = axes_of(definition, t, op.layouts[static_cast<size_t>(t)]);
            if (const auto made = producers.find(base); made != producers.end())
                tensor.producer = made->second;
            op.tensors.push_back(std::move(tensor));
        }
        for (const WeightedSizes& point : points_) {
            AtPoint at{extents_at(definition, point.symbols), {}, {}, {}};
            for (size_t t = 0; t < definition.tensors.size(); ++t) {
                const std::vector<int64_t> shape = evaluate(
                    input.graph[lowering::value_of(node, static_cast<int>(t))].type.shape, point.symbols);
                double elements = 1;
                for (const int64_t extent : shape) elements *= static_cast<double>(extent);
                const auto stored = static_cast<double>(stored_elements(op.layouts[t], shape));
                at.padding.push_back(elements > 0 ? stored / elements : 1);
                at.whole.push_back(stored * op.tensors[t].bytes_each);
                at.lines.push_back(lines_of(definition, static_cast<int>(t), op.layouts[t], at.extents, shape,
                                            point.symbols));
            }
            op.points.push_back(std::move(at));
        }
        AtPoint bounds{links.operators[o].largest, {}, std::vector<double>(op.tensors.size(), 1), {}};
        for (const Tensor& tensor : op.tensors) bounds.whole.push_back(tensor.bytes(bounds.extents));
        op.points.push_back(std::move(bounds));
        for (const ValueId result : node.results) producers[storage.base(result)] = static_cast<int>(o);
        operators_.push_back(std::move(op));
    }
}

double Evaluator::Tensor::bytes(std::span<const int64_t> extents) const {
    double most = 0;
    for (const std::vector<int>& access : accesses) {
        double elements = 1;
        for (const int x : access) elements *= static_cast<double>(extents[static_cast<size_t>(x)]);
        most = std::max(most, elements * bytes_each);
    }
    return most;
}

double Evaluator::Tensor::lines_read(std::span<const int64_t> extents) const {
    double times = 1;
    for (const auto& [x, factor] : lanes) {
        const auto extent = static_cast<double>(extents[static_cast<size_t>(x)]);
        times = std::max(times, static_cast<double>(factor) / extent);
    }
    return times;
}

std::vector<Evaluator::Tensor::Digit> Evaluator::Tensor::digits_of(const std::vector<ExprPtr>& access,
                                                                   const Layout& layout) {
    std::vector<Digit> digits;
    const std::vector<PhysicalAxis> axes = physical_axes(layout, std::vector<int64_t>(access.size(), 1));
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        const auto* x = std::get_if<IteratorRef>(&access[static_cast<size_t>(axis->axis)]->node);
        if (!x) break;
        digits.push_back({.iterator = x->index,
                          .divisor = axis->divisor,
                          .most = axis->is_outer ? std::numeric_limits<int64_t>::max() : axis->extent});
    }
    return digits;
}

double Evaluator::Tensor::run_bytes(std::span<const int64_t> extents, std::span<const int64_t> whole,
                                    double line_bytes) const {
    double run = bytes_each;
    for (const Digit& digit : innermost) {
        const auto values = [&](std::span<const int64_t> of) {
            return std::min(digit.most,
                            ntt::ceil_div(of[static_cast<size_t>(digit.iterator)], digit.divisor));
        };
        const bool is_part = values(extents) < values(whole);
        const double all = run * static_cast<double>(values(whole));
        if (is_part && all > line_bytes) return run * static_cast<double>(values(extents));
        run = all;
    }
    return std::numeric_limits<double>::infinity();
}

int Evaluator::number_of(int op, const plan::Leaf& leaf) {
    Operator& facts = operators_[static_cast<size_t>(op)];
    for (const int known : facts.leaves)
        if (leaves_[static_cast<size_t>(known)].leaf == leaf) return known;
    plan::Leaf like = leaf;
    for (const plan::Parameter& parameter : leaf.kernel->parameters)
        if (parameter.is_of_block) like.reset(parameter);
    const Definition& definition = *links_.operators[static_cast<size_t>(op)].node->definition();
    const auto& [m, n, k] = leaf.kernel->product;
    const bool is_product = n && leaf.is_given(*n);
    leaves_.push_back({op,
                       families_.emplace(plan::print(like), static_cast<int>(families_.size())).first->second,
                       leaf,
                       model_.priced(definition, leaf, facts.layouts),
                       leaf.kernel->streamed ? leaf.kernel->streamed(definition, leaf) : std::set<int>{},
                       is_product && m ? plan::iterator_of(definition, leaf, *m) : -1,
                       is_product ? plan::iterator_of(definition, leaf, *n) : -1,
                       is_product && k ? plan::iterator_of(definition, leaf, *k) : -1,
                       is_product ? plan::sums_of_call(definition, leaf) : std::vector<int>{},
                       std::max<int64_t>(1, leaf.number(kernels::parameter::kRows)),
                       std::max<int64_t>(1, leaf.number(kernels::parameter::kLanes) *
                                                leaf.number(kernels::parameter::kGroups)),
                       {}});
    facts.leaves.push_back(static_cast<int>(leaves_.size()) - 1);
    return facts.leaves.back();
}

size_t Evaluator::level_of(double bytes) const {
    size_t level = 0;
    while (level + 1 < capacity_.size() && capacity_[level] < bytes) ++level;
    return level;
}

int Evaluator::number_of_extents(int op, const std::vector<int64_t>& extents) {
    Operator& facts = operators_[static_cast<size_t>(op)];
    if (const auto known = facts.numbers.find(extents); known != facts.numbers.end()) return known->second;
    const auto number = static_cast<int>(facts.extents.size());
    facts.numbers.emplace(extents, number);
    facts.extents.push_back(extents);
    return number;
}

const LeafCost& Evaluator::price(int leaf, int extents) {
    NumberedLeaf& numbered = leaves_[static_cast<size_t>(leaf)];
    const auto at = static_cast<size_t>(extents);
    if (numbered.prices.size() <= at) numbered.prices.resize(at + 1);
    std::optional<LeafCost>& known = numbered.prices[at];
    if (!known) known = numbered.priced(operators_[static_cast<size_t>(numbered.op)].extents[at]);
    return *known;
}

}  // namespace tessera::cost
