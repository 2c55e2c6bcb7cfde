#include "search/rules/algebra/indexed.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tessera::rules {
namespace {

/// The extent of each iterator, as far as the types say; nothing if they contradict each other.
std::optional<std::vector<std::optional<Dim>>> extents_of(const Indexed& indexed,
                                                          std::span<const TensorType> types) {
    std::vector<std::optional<Dim>> extents(static_cast<size_t>(indexed.rank));
    bool is_consistent = true;
    const auto state = [&](int64_t label, const Dim& dim) {
        if (static_cast<size_t>(label) >= extents.size()) extents.resize(static_cast<size_t>(label) + 1);
        std::optional<Dim>& known = extents[static_cast<size_t>(label)];
        is_consistent = is_consistent && (!known || *known == dim);
        known = dim;
    };
    if (indexed.shape)
        for (size_t axis = 0; axis < indexed.shape->size(); ++axis)
            state(static_cast<int64_t>(axis), (*indexed.shape)[axis]);
    for (size_t k = 0; k < types.size(); ++k) {
        if (types[k].shape.size() != indexed.labels[k].size() || !types[k].layout.is_row_major()) return {};
        for (size_t axis = 0; axis < types[k].shape.size(); ++axis)
            state(indexed.labels[k][axis], types[k].shape[axis]);
    }
    if (!is_consistent) return {};
    return extents;
}

}  // namespace

std::optional<std::vector<int64_t>> whole_axes(const Definition& definition, const TensorDecl& tensor) {
    std::vector<int64_t> iterators;
    for (size_t axis = 0; axis < tensor.map.size(); ++axis) {
        const auto* x = std::get_if<IteratorRef>(&tensor.map[axis]->node);
        if (!x || std::find(iterators.begin(), iterators.end(), x->index) != iterators.end()) return {};
        const ExprPtr& extent = definition.iterators[static_cast<size_t>(x->index)].extent;
        if (tensor.shape && !same((*tensor.shape)[axis], extent)) return {};
        iterators.push_back(x->index);
    }
    return iterators;
}

std::vector<int64_t> in_order(size_t rank) {
    std::vector<int64_t> result(rank);
    std::iota(result.begin(), result.end(), 0);
    return result;
}

std::optional<Indexed> recognise_indexed(const egraph::Operator& op) {
    const Definition* d = op.definition();
    // Rules that change arithmetic, and their kernels, are of f32.
    if (!d || d->is_wide()) return {};
    if (op.updates || d->where || d->monoid == Monoid::kSoftmaxSum || op.results.size() != 1) return {};
    if (!op.results.front().layout.is_row_major()) return {};
    const TensorDecl& result = d->tensors[static_cast<size_t>(d->results().front())];
    if (result.role != Role::kOut) return {};
    const auto written = whole_axes(*d, result);
    if (!written) return {};

    Indexed indexed{.labels = {},
                    .elements = {},
                    .rank = static_cast<int64_t>(written->size()),
                    .shape = op.results.front().shape,
                    .monoid = d->monoid,
                    .body = {},
                    .post = {},
                    .result = result.type,
                    .accumulator = d->accumulator};
    std::vector<int64_t> label(d->iterators.size(), -1);
    for (size_t axis = 0; axis < written->size(); ++axis)
        label[static_cast<size_t>((*written)[axis])] = static_cast<int64_t>(axis);
    int64_t next = indexed.rank;
    for (int64_t& of_iterator : label)
        if (of_iterator < 0) of_iterator = next++;

    std::vector<bool> is_bounded(label.size());
    for (const TensorDecl& tensor : d->tensors) {
        if (tensor.role == Role::kIndex) return {};
        if (tensor.role != Role::kIn) continue;
        auto axes = whole_axes(*d, tensor);
        if (!axes) return {};
        for (int64_t& iterator : *axes) {
            is_bounded[static_cast<size_t>(iterator)] = true;
            iterator = label[static_cast<size_t>(iterator)];
        }
        indexed.labels.push_back(*std::move(axes));
        indexed.elements.push_back(tensor.type);
    }
    for (size_t x = 0; x < label.size(); ++x)
        if (label[x] >= indexed.rank && !is_bounded[x]) return {};
    const auto body = formula_of(d->body.front(), *d), post = formula_of(d->post, *d);
    if (!body || !post) return {};
    indexed.body = *body;
    indexed.post = *post;
    return indexed;
}

std::optional<egraph::Operator> make_indexed(const std::string& name, const Indexed& indexed,
                                             std::span<const TensorType> types, Symbols symbols) {
    if (types.size() != indexed.labels.size() || indexed.rank == 0) return {};
    if (indexed.shape && static_cast<int64_t>(indexed.shape->size()) != indexed.rank) return {};
    const auto extents = extents_of(indexed, types);
    if (!extents || std::find(extents->begin(), extents->end(), std::nullopt) != extents->end()) return {};
    std::vector<Dim> shape;
    for (int64_t axis = 0; axis < indexed.rank; ++axis)
        shape.push_back(*(*extents)[static_cast<size_t>(axis)]);

    Draft draft(name, symbols, types, shape);
    for (size_t x = 0; x < extents->size(); ++x)
        draft.add_iterator(*(*extents)[x], static_cast<int64_t>(x) >= indexed.rank);
    for (size_t k = 0; k < types.size(); ++k) {
        std::vector<ExprPtr> map;
        for (const int64_t label : indexed.labels[k]) map.push_back(iterator_ref(static_cast<int>(label)));
        draft.add_operand(types[k].element, std::move(map));
    }
    draft.set_result(indexed.result, shape);
    const auto declared = [&](const Read& access) { return draft.read_of(access.tensor); };
    draft.definition.monoid = indexed.monoid;
    draft.definition.body = {with_reads(indexed.body.expr, declared)};
    draft.definition.post = with_reads(indexed.post.expr, declared);
    draft.definition.accumulator = indexed.accumulator;
    return std::move(draft).finish();
}

}  // namespace tessera::rules
