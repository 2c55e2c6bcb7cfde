#include "ir/facts/share.h"

#include <algorithm>

#include "ir/facts/image.h"

namespace tessera::facts {
namespace {

ExprPtr shifted(const ExprPtr& expr, const IterationBox& iterations) {
    if (!expr) return expr;
    const auto all = [&](const std::vector<ExprPtr>& exprs) {
        std::vector<ExprPtr> moved;
        for (const ExprPtr& each : exprs) moved.push_back(shifted(each, iterations));
        return moved;
    };
    if (const auto* i = std::get_if<IteratorRef>(&expr->node)) {
        const int64_t first = iterations[static_cast<size_t>(i->index)].first;
        return first == 0 ? expr : apply(Function::kAdd, {expr, tessera::number(first)});
    }
    if (const auto* r = std::get_if<Read>(&expr->node)) return read(r->tensor, all(r->coordinates), false);
    if (const auto* a = std::get_if<Apply>(&expr->node)) return apply(a->function, all(a->arguments));
    if (const auto* c = std::get_if<Cast>(&expr->node)) return cast(c->to, shifted(c->argument, iterations));
    return expr;
}

}  // namespace

Share whole_share(const BoundDefinition& bound) {
    Share whole{whole_box(bound), {}};
    for (const std::vector<int64_t>& shape : bound.extents.shapes) whole.tensors.push_back(ranges_of(shape));
    return whole;
}

Range part_of(const Range& range, int64_t count, int64_t j, int64_t grain) {
    const int64_t grains = range.size() / grain;
    const int64_t size = grains / count;
    const int64_t larger = grains % count;
    const auto begin = [&](int64_t part) {
        return range.first + (part * size + std::min(part, larger)) * grain;
    };
    return {begin(j), begin(j + 1)};
}

bool can_cut(int64_t size, int64_t count, Cut cut, int64_t grain) {
    return size % grain == 0 && size / grain >= count && (cut != Cut::kEvenly || size % count == 0);
}

int64_t largest_part(int64_t size, int64_t count, int64_t grain) {
    return (size / grain + count - 1) / count * grain;
}

BoundDefinition restricted_to(const BoundDefinition& bound, const IterationBox& iterations) {
    BoundDefinition seen = bound;
    if (iterations == whole_box(bound)) return seen;
    Definition& definition = seen.definition;
    for (size_t i = 0; i < iterations.size(); ++i) {
        seen.extents.iterators[i] = iterations[i].size();
        definition.iterators[i].extent = tessera::number(iterations[i].size());
    }
    for (size_t t = 0; t < definition.tensors.size(); ++t) {
        TensorDecl& tensor = definition.tensors[t];
        for (ExprPtr& component : tensor.map) component = shifted(component, iterations);
        tensor.shape.emplace();
        for (const int64_t extent : bound.extents.shapes[t]) tensor.shape->push_back(tessera::number(extent));
    }
    for (ExprPtr& part : definition.body) part = shifted(part, iterations);
    definition.post = shifted(definition.post, iterations);
    definition.where = shifted(definition.where, iterations);
    return seen;
}

}  // namespace tessera::facts
