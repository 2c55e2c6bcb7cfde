#include "ir/recurrence.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/body_value.h"
#include "ir/box_walk.h"
#include "support/error.h"

namespace tessera {
namespace {

size_t index(int position) {
    return static_cast<size_t>(position);
}

class InOrder {
public:
    InOrder(const Definition& definition, const BoundExtents& extents,
            const std::vector<TensorData>& operands, const std::string& where, const HeldElements* held)
        : definition_(definition),
          extents_(extents),
          tensors_(operands),
          where_(where),
          point_(definition, extents, tensors_, where, held) {
        for (const int result : definition.results()) {
            if (definition.tensors[index(result)].role == Role::kUpdate) continue;
            int64_t count = 1;
            for (const int64_t extent : extents.shapes[index(result)]) count *= extent;
            tensors_[index(result)] = {extents.shapes[index(result)],
                                       std::vector<double>(static_cast<size_t>(count), 0.0)};
        }
    }

    std::vector<TensorData> run() {
        const int ordered = ordered_iterator(definition_);
        for (int64_t i = 0; i < extents_.iterators[index(ordered)]; ++i)
            for (size_t line = 0; line < definition_.lines.size(); ++line) take(line, ordered, i);
        std::vector<TensorData> results;
        for (const int result : definition_.results()) results.push_back(std::move(tensors_[index(result)]));
        return results;
    }

private:
    /// All values of a line follow from what there was before it.
    void take(size_t number, int ordered, int64_t i) {
        const RecurrenceLine& line = definition_.lines[number];
        const LineIterators iterators = line_iterators(definition_, number);
        std::vector<std::pair<size_t, double>> made;
        const BoxWalk walk(extents_.iterators, iterators.kept);
        walk.start(point_.iterators);
        point_.iterators[index(ordered)] = i;
        do {
            point_.outside = 0;
            if (definition_.where && point_.value(*definition_.where) == 0) continue;
            const auto at = point_.position(line.result, definition_.tensors[index(line.result)].map);
            if (!at)
                throw Error(where_, definition_.tensors[index(line.result)].name,
                            fmt::format("is written outside of its shape {}", point_.iteration()));
            made.emplace_back(static_cast<size_t>(*at), value(number, line, iterators.folded));
        } while (walk.next(point_.iterators));
        for (const auto& [at, value] : made) tensors_[index(line.result)].values[at] = value;
    }

    double value(size_t number, const RecurrenceLine& line, const std::vector<int>& folded) {
        const Expr& body = *definition_.body[number];
        point_.outside = identity(line.fold);
        if (line.fold == Monoid::kNone) return point_.value(body);
        point_.folded = identity(line.fold);
        const BoxWalk walk(extents_.iterators, folded);
        for (const int x : folded) point_.iterators[index(x)] = 0;
        double all = identity(line.fold);
        do {
            all = fold(line.fold, all, point_.value(body));
        } while (walk.next(point_.iterators));
        point_.folded = all;
        point_.outside = 0;
        return line.post ? point_.value(*line.post) : all;
    }

    const Definition& definition_;
    const BoundExtents& extents_;
    std::vector<TensorData> tensors_;
    const std::string& where_;
    BodyValue point_;
};

}  // namespace

int ordered_iterator(const Definition& definition) {
    const auto found = std::ranges::find(definition.iterators, true, &Iterator::is_ordered);
    TESSERA_CHECK(found != definition.iterators.end(), "{} has no order", definition.name);
    return static_cast<int>(found - definition.iterators.begin());
}

int carried_tensor(const Definition& definition) {
    const auto found = std::ranges::find(definition.tensors, Role::kUpdate, &TensorDecl::role);
    TESSERA_CHECK(found != definition.tensors.end(), "{} carries nothing", definition.name);
    return static_cast<int>(found - definition.tensors.begin());
}

LineIterators line_iterators(const Definition& definition, size_t line) {
    const int ordered = ordered_iterator(definition);
    LineIterators found;
    found.kept = iterators_in(definition.tensors[index(definition.lines[line].result)].map);
    std::erase(found.kept, ordered);
    if (definition.lines[line].fold == Monoid::kNone) return found;
    for (const int x : iterators_in(definition.body[line]))
        if (x != ordered && !std::ranges::binary_search(found.kept, x)) found.folded.push_back(x);
    return found;
}

std::vector<TensorData> interpret_in_order(const Definition& definition, const BoundExtents& extents,
                                           const std::vector<TensorData>& operands, const std::string& where,
                                           const HeldElements* held) {
    return InOrder(definition, extents, operands, where, held).run();
}

}  // namespace tessera
