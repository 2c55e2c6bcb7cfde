#include "ir/facts/executed.h"

#include <algorithm>

#include "ir/facts/evaluate.h"
#include "support/error.h"

namespace tessera::facts {
namespace {

// Rows evaluated at once: the columns of a predicate stay in the first-level cache.
constexpr int64_t kChunk = 1024;

int64_t volume(const IterationBox& box, std::span<const int> iterators) {
    int64_t total = 1;
    for (const int i : iterators) total *= box[static_cast<size_t>(i)].size();
    return total;
}

// The elements that a read reaches, row by row.
Column gather(const BoundDefinition& bound, const Read& read, const std::vector<Column>& coordinates,
              size_t rows) {
    const auto t = static_cast<size_t>(read.tensor);
    const auto& shape = bound.shape(read.tensor);
    Column values(rows);
    for (size_t row = 0; row < rows; ++row) {
        int64_t position = 0;
        bool inside = true;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const auto at = static_cast<int64_t>(coordinates[axis][row]);
            inside = inside && at >= 0 && at < shape[axis];
            position = position * shape[axis] + at;
        }
        if (!inside && bound.tensor(read.tensor).role == Role::kIndex)
            throw Error(bound.where, bound.tensor(read.tensor).name,
                        "is read outside its shape by the predicate",
                        "an index operand must be read within its shape in the whole box");
        values[row] = inside ? bound.contents[t][static_cast<size_t>(position)] : 0.0;
    }
    return values;
}

using BoxList = std::vector<std::vector<Range>>;

// The set bits as disjoint boxes; equal neighbours along an axis are joined.
BoxList boxes_of(const std::vector<bool>& bits, size_t first, std::span<const Range> axes) {
    if (axes.empty()) return bits[first] ? BoxList{{}} : BoxList{};
    size_t stride = 1;
    for (const Range& axis : axes.subspan(1)) stride *= static_cast<size_t>(axis.size());
    BoxList all;
    BoxList open;
    int64_t since = axes[0].first;
    const auto close = [&](int64_t until) {
        for (std::vector<Range>& box : open) {
            box.insert(box.begin(), {since, until});
            all.push_back(std::move(box));
        }
    };
    for (int64_t at = axes[0].first; at < axes[0].last; ++at) {
        BoxList below = boxes_of(bits, first, axes.subspan(1));
        first += stride;
        if (below == open) continue;
        close(at);
        open = std::move(below);
        since = at;
    }
    close(axes[0].last);
    return all;
}

}  // namespace

ExecutedIterations::ExecutedIterations(const BoundDefinition& bound, IterationBox box)
    : bound_(&bound), box_(std::move(box)) {
    const ExprPtr& where = bound.definition.where;
    if (where) {
        for (const Read& read : reads_in({where}))
            if (bound.contents[static_cast<size_t>(read.tensor)].empty()) is_exact_ = false;
        if (!is_exact_) return;
        deciding_ = iterators_in(where);
    }
    int64_t total = 1;
    for (const int i : deciding_) {
        const int64_t extent = box_[static_cast<size_t>(i)].size();
        if (__builtin_mul_overflow(total, extent, &total) || total > kPredicateLimit)
            throw Error(
                bound.where, bound.definition.name,
                fmt::format("its predicate has more than {} combinations of iterators", kPredicateLimit),
                "bind smaller extents");
    }
    holds_.assign(static_cast<size_t>(total), true);
    if (!where) return;
    for (int64_t first = 0; first < total; first += kChunk) {
        const auto rows = static_cast<size_t>(std::min(kChunk, total - first));
        const LeafColumn leaf = [&](const Expr& expr) -> Column {
            Column values(rows);
            if (const auto* i = std::get_if<IteratorRef>(&expr.node)) {
                int64_t stride = 1;
                for (size_t d = deciding_.size(); deciding_[d - 1] != i->index; --d)
                    stride *= box_[static_cast<size_t>(deciding_[d - 1])].size();
                const Range range = box_[static_cast<size_t>(i->index)];
                int64_t step = first / stride % range.size();
                int64_t left = stride - first % stride;
                for (size_t row = 0; row < rows; ++row) {
                    values[row] = static_cast<double>(range.first + step);
                    if (--left > 0) continue;
                    left = stride;
                    if (++step == range.size()) step = 0;
                }
                return values;
            }
            const auto* read = std::get_if<Read>(&expr.node);
            if (!read)
                throw Error(bound.where, bound.definition.name, "its predicate holds what is no predicate's");
            std::vector<Column> coordinates;
            for (const ExprPtr& c : read->coordinates)
                coordinates.push_back(evaluate_column(c, rows, bound.extents.dims, leaf));
            return gather(bound, *read, coordinates, rows);
        };
        const Column column = evaluate_column(where, rows, bound.extents.dims, leaf);
        for (size_t row = 0; row < rows; ++row) holds_[static_cast<size_t>(first) + row] = column[row] != 0;
    }
}

int64_t ExecutedIterations::count() const {
    int64_t total = std::count(holds_.begin(), holds_.end(), true);
    if (holds_.empty()) total = deciding_.empty() ? 1 : 0;
    for (size_t i = 0; i < box_.size(); ++i)
        if (!std::ranges::binary_search(deciding_, static_cast<int>(i)))
            if (__builtin_mul_overflow(total, box_[i].size(), &total))
                throw Error(bound_->where, bound_->definition.name, "has more than 2^63 iterations");
    return total;
}

std::vector<IterationBox> ExecutedIterations::project(std::span<const int> iterators) const {
    std::vector<int> kept;
    for (const int i : deciding_)
        if (std::ranges::find(iterators, i) != iterators.end()) kept.push_back(i);
    if (kept == deciding_) return boxes_along(kept, holds_.empty() ? std::vector<bool>{true} : holds_);
    std::vector<bool> projected(static_cast<size_t>(volume(box_, kept)), false);
    // Walks the deciding iterators in order, and beside it the position among the kept ones.
    std::vector<int64_t> index(deciding_.size(), 0);
    std::vector<int64_t> step(deciding_.size(), 0);
    int64_t stride = 1;
    for (size_t d = deciding_.size(); d > 0; --d) {
        if (!std::ranges::binary_search(kept, deciding_[d - 1])) continue;
        step[d - 1] = stride;
        stride *= box_[static_cast<size_t>(deciding_[d - 1])].size();
    }
    int64_t at = 0;
    for (size_t flat = 0; flat < holds_.size(); ++flat) {
        if (holds_[flat]) projected[static_cast<size_t>(at)] = true;
        for (size_t d = deciding_.size(); d > 0; --d) {
            at += step[d - 1];
            const int64_t extent = box_[static_cast<size_t>(deciding_[d - 1])].size();
            if (++index[d - 1] < extent) break;
            at -= extent * step[d - 1];
            index[d - 1] = 0;
        }
    }
    return boxes_along(kept, projected);
}

std::vector<IterationBox> ExecutedIterations::boxes_along(const std::vector<int>& iterators,
                                                          const std::vector<bool>& bits) const {
    std::vector<Range> axes;
    for (const int i : iterators) axes.push_back(box_[static_cast<size_t>(i)]);
    std::vector<IterationBox> result;
    for (const std::vector<Range>& ranges : boxes_of(bits, 0, axes)) {
        IterationBox box = box_;
        for (size_t k = 0; k < iterators.size(); ++k) box[static_cast<size_t>(iterators[k])] = ranges[k];
        result.push_back(std::move(box));
    }
    return result;
}

std::vector<Range> ExecutedIterations::ranges() const {
    std::vector<Range> found = box_;
    if (holds_.empty()) return found;
    for (const int i : deciding_) {
        const int one[] = {i};
        const std::vector<IterationBox> values = project(one);
        const auto x = static_cast<size_t>(i);
        if (!values.empty()) found[x] = {values.front()[x].first, values.back()[x].last};
    }
    return found;
}

ExecutedIterations ExecutedIterations::held(std::span<const int> iterators) const {
    IterationBox narrow = box_;
    for (const int i : iterators) {
        const int one[] = {i};
        const std::vector<IterationBox> values = project(one);
        int64_t first = box_[static_cast<size_t>(i)].first;
        if (!values.empty()) first = values.front()[static_cast<size_t>(i)].first;
        narrow[static_cast<size_t>(i)] = {first, first + 1};
    }
    return {*bound_, std::move(narrow)};
}

}  // namespace tessera::facts
