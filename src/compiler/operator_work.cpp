#include "compiler/operator_work.h"

#include "ir/facts/bound_definition.h"
#include "ir/facts/touched.h"
#include "ir/facts/work.h"

namespace tessera::compiler {
namespace {

OperatorWork work_of(const Node& node, const Block& block, const Point& point) {
    const Definition& definition = *node.definition();
    const facts::BoundDefinition bound =
        facts::bind_unfilled(definition, dims_of(definition, point.values), node.name);
    const facts::Work work = facts::derive_work(bound);
    OperatorWork result{.block = block.name,
                        .name = node.name,
                        .repeat = block.repeat,
                        .flops = work.flops,
                        .special = work.special};
    for (const facts::Touched& tensor : facts::derive_touched(bound)) result.bytes += tensor.bytes;
    return result;
}

std::vector<Point> points_of(const Graph& graph) {
    if (!graph.points.empty()) return graph.points;
    Point largest{.name = "the largest sizes", .values = {}};
    for (const DimSymbol& symbol : graph.symbols) largest.values[symbol.name] = symbol.high;
    return {largest};
}

}  // namespace

OperatorWork WorkAtPoint::total() const {
    OperatorWork total;
    for (const OperatorWork& one : operators) {
        total.flops += one.flops * one.repeat;
        total.special += one.special * one.repeat;
        total.bytes += one.bytes * one.repeat;
    }
    return total;
}

std::vector<WorkAtPoint> operator_work(const Graph& graph) {
    std::vector<WorkAtPoint> all;
    for (const Point& point : points_of(graph)) {
        WorkAtPoint& at = all.emplace_back(WorkAtPoint{.point = point.name, .operators = {}});
        for (const Block& block : graph.blocks)
            for (const Node& node : block.nodes) at.operators.push_back(work_of(node, block, point));
    }
    return all;
}

}  // namespace tessera::compiler
