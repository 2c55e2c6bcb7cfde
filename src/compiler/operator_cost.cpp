#include "compiler/operator_cost.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/planner_options.h"
#include "cost/lone_operator.h"
#include "ir/integer_value.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/leaf.h"
#include "lowering/views.h"
#include "search/planner/leaf_choice.h"
#include "search/planner/priced.h"

namespace tessera::compiler {
namespace {

constexpr double kSecondsOfAView = 1e-9;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

BoundExtents extents_of(const Definition& d, const std::map<std::string, int64_t>& symbols) {
    return bound_extents(d, dims_of(d, symbols), d.name);
}

/// True if the second element along a view's last axis lies right behind the first one, or is the same.
bool keeps_neighbours(const Definition& view, const BoundExtents& bound) {
    if (bound.iterators.back() == 1) return true;
    const auto& source = std::get<Read>(view.body.front()->node);
    std::vector<int64_t> iterators(bound.iterators.size(), 0);
    const auto offset = [&] {
        const IntegerScope scope{
            .dims = bound.dims, .iterators = iterators, .fill_position = 0, .read = nullptr};
        std::vector<int64_t> coordinates;
        for (const ExprPtr& component : source.coordinates)
            coordinates.push_back(integer_value(*component, scope, view.name));
        return offset_of({}, bound.shapes[static_cast<size_t>(source.tensor)], coordinates);
    };
    const int64_t first = offset();
    iterators.back() = 1;
    const int64_t step = offset() - first;
    return step == 0 || step == 1;
}

/// True if there is code for the operator. A view needs it, too: as an output it becomes a copy.
bool is_compiled(const Definition& definition) {
    return kernels::plain_micro_kernel().why_not(definition).empty() &&
           std::ranges::all_of(definition.tensors, [&](const TensorDecl& tensor) {
               return lowering::computes_on(definition, tensor);
           });
}

class Pricing {
public:
    Pricing(const Graph& graph, const machine::Machine& machine, std::optional<int64_t> workers)
        : options_(planner_options(machine, workers)) {
        for (const Point& point : graph.points) add(graph, point.name, &point);
        if (points_.empty()) add(graph, "largest", nullptr);
    }

    double operator()(const egraph::Operator& op, std::span<const TensorType> operands) const {
        const auto* definition = std::get_if<DefinitionPtr>(&op.what);
        if (!definition || !is_compiled(**definition)) return kInfinite;
        double seconds = 0;
        for (const AtPoint& at : points_) seconds += seconds_at(at, op, *definition, operands);
        return seconds;
    }

private:
    /// The sizes of one point alone.
    struct AtPoint {
        cost::OperatorSizes sizes;
        std::map<std::string, int64_t> symbols;
        double weight = 1;
    };

    void add(const Graph& graph, const std::string& name, const Point* point) {
        AtPoint at{.sizes = {.symbols = graph.symbols,
                             .points = {},
                             .specialisation = {.name = name},
                             .workers = options_.workers}};
        if (point) {
            at.sizes.points = {*point};
            at.weight = point->weight;
        }
        for (const DimSymbol& symbol : graph.symbols) {
            const int64_t size =
                point && point->values.contains(symbol.name) ? point->values.at(symbol.name) : symbol.high;
            at.sizes.specialisation.bounds[symbol.name] = {size, size};
            at.symbols[symbol.name] = size;
        }
        points_.push_back(std::move(at));
    }

    double seconds_at(const AtPoint& at, const egraph::Operator& op, const DefinitionPtr& definition,
                      std::span<const TensorType> types) const {
        if (lowering::is_view(*definition) &&
            keeps_neighbours(*definition, extents_of(*definition, at.symbols)))
            return at.weight * kSecondsOfAView;
        std::vector<cost::Operand> operands;
        for (const TensorType& type : types) {
            const bool is_fixed = std::ranges::all_of(type.shape, &Dim::is_constant);
            operands.push_back({type, is_fixed});
        }
        cost::LoneOperator alone(definition, operands, op.results, at.sizes, *options_.costs,
                                 planner::level_of_constants(options_));
        double least = kInfinite;
        for (const plan::Leaf& leaf :
             planner::leaf_candidates(alone.node(), alone.specialisation(), options_)) {
            const cost::LonePrice price = alone.by(leaf);
            if (price.why_infinite.empty()) least = std::min(least, price.seconds);
        }
        return least;
    }

    planner::PlannerOptions options_;
    std::vector<AtPoint> points_;
};

}  // namespace

rules::OperatorCost operator_cost(const Graph& graph, const machine::Machine& machine,
                                  std::optional<int64_t> workers) {
    const auto pricing = std::make_shared<const Pricing>(graph, machine, workers);
    return [pricing](const egraph::Operator& op, std::span<const TensorType> operands) {
        return (*pricing)(op, operands);
    };
}

}  // namespace tessera::compiler
