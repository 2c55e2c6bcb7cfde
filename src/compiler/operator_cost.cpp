#include "compiler/operator_cost.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/planner_options.h"
#include "facts/work.h"
#include "ir/integer_value.h"
#include "lowering/views.h"
#include "planner/leaf_choice.h"

namespace tessera::compiler {
namespace {

constexpr double kNominalBytesPerSecond = 16e9;
constexpr double kNominalOperationsPerSecond = 64e9;
constexpr double kOperationsOfASpecialFunction = 16;
constexpr double kSecondsOfAView = 1e-9;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Sizes {
    double weight = 1;
    std::map<std::string, int64_t> symbols;
};

std::vector<Sizes> sizes_of(const Graph& graph) {
    std::vector<Sizes> all;
    for (const Point& point : graph.points) all.push_back({point.weight, point.values});
    if (!all.empty()) return all;
    Sizes largest;
    for (const DimSymbol& symbol : graph.symbols) largest.symbols[symbol.name] = symbol.high;
    return {largest};
}

/// Extents of the iterators, and amounts that follow from them.
struct Amounts {
    std::vector<int64_t> extents;
    double bytes = 0;  ///< of operands and results: each element once that the iterations can reach
    double operations = 0;
};

double product_of(const std::vector<int64_t>& extents, const std::vector<int>& iterators) {
    double product = 1;
    for (const int x : iterators) product *= static_cast<double>(extents[static_cast<size_t>(x)]);
    return product;
}

double operations_of(const ExprPtr& expr) {
    const facts::OperationCount count = facts::count_operations(expr);
    return static_cast<double>(count.flops) +
           kOperationsOfASpecialFunction * static_cast<double>(count.special);
}

BoundExtents extents_of(const Definition& d, const std::map<std::string, int64_t>& symbols) {
    return bound_extents(d, dims_of(d, symbols), d.name);
}

Amounts amounts_of(const Definition& d, const std::map<std::string, int64_t>& symbols) {
    const BoundExtents bound = extents_of(d, symbols);
    Amounts amounts{.extents = bound.iterators};
    for (size_t t = 0; t < d.tensors.size(); ++t) {
        double elements = 1, reached = 0;
        for (const int64_t extent : bound.shapes[t]) elements *= static_cast<double>(extent);
        for (const auto& access : accesses(d, static_cast<int>(t)))
            reached += product_of(bound.iterators, iterators_in(access));
        amounts.bytes += std::min(elements, reached) * bits(d.tensors[t].type) / 8;
    }
    double points = 1;
    for (const int64_t extent : bound.iterators) points *= static_cast<double>(extent);
    double each = d.monoid == Monoid::kNone ? 0 : 1;
    for (const ExprPtr& part : d.body) each += operations_of(part);
    amounts.operations = points * each;
    const auto& written = d.tensors[static_cast<size_t>(d.results().front())].map;
    amounts.operations += product_of(bound.iterators, iterators_in(written)) * operations_of(d.post);
    return amounts;
}

/// Whether the second element along the last axis of a view is the one behind the first, or the same one.
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

class Pricing {
public:
    Pricing(const Graph& graph, const machine::Machine& machine, std::optional<int64_t> workers)
        : sizes_(sizes_of(graph)), options_(planner_options(machine, workers)) {}

    double operator()(const egraph::Operator& op) const {
        const auto* definition = std::get_if<DefinitionPtr>(&op.what);
        if (!definition) return kInfinite;
        double seconds = 0;
        for (const Sizes& sizes : sizes_) seconds += sizes.weight * seconds_at(*definition, sizes);
        return seconds;
    }

private:
    double seconds_at(const DefinitionPtr& definition, const Sizes& sizes) const {
        if (lowering::is_view(*definition) &&
            keeps_neighbours(*definition, extents_of(*definition, sizes.symbols)))
            return kSecondsOfAView;
        const Amounts amounts = amounts_of(*definition, sizes.symbols);
        if (!options_.costs->is_measured())
            return amounts.bytes / kNominalBytesPerSecond + amounts.operations / kNominalOperationsPerSecond;
        return measured(definition, amounts, sizes);
    }

    double measured(const DefinitionPtr& definition, const Amounts& amounts, const Sizes& sizes) const {
        const cost::CostModel& model = *options_.costs;
        plan::SpecialisationPlan point;
        for (const auto& [symbol, value] : sizes.symbols) point.bounds[symbol] = {value, value};
        const Node node{
            .name = definition->name, .op = definition, .operands = {}, .results = {}, .previous = {}};
        double least = kInfinite;
        for (const plan::Leaf& leaf : planner::leaf_candidates(node, point, options_)) {
            const cost::LeafCost cost = model.leaf(*definition, leaf, amounts.extents);
            if (cost.why_infinite.empty()) least = std::min(least, cost.near_seconds);
        }
        const double rate = model.seconds_per_byte(model.machine().memory.size() - 1, options_.workers);
        return std::max(least, amounts.bytes * rate) / static_cast<double>(options_.workers);
    }

    std::vector<Sizes> sizes_;
    planner::PlannerOptions options_;
};

}  // namespace

rules::OperatorCost operator_cost(const Graph& graph, const machine::Machine& machine,
                                  std::optional<int64_t> workers) {
    const auto pricing = std::make_shared<const Pricing>(graph, machine, workers);
    return [pricing](const egraph::Operator& op, std::span<const TensorType>) { return (*pricing)(op); };
}

}  // namespace tessera::compiler
