#include "ir/interpreter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "ir/body_value.h"
#include "ir/recurrence.h"
#include "support/error.h"

namespace tessera {
namespace {

size_t index(int64_t position) {
    return static_cast<size_t>(position);
}

class Interpreter {
public:
    Interpreter(const Definition& definition, const BoundExtents& extents,
                const std::vector<TensorData>& tensors, const std::string& where, const HeldElements* held,
                InfiniteScores infinite_scores)
        : definition_(definition),
          extents_(extents),
          tensors_(tensors),
          where_(where),
          infinite_scores_(infinite_scores),
          point_(definition, extents, tensors, where, held) {}

    std::vector<TensorData> run() {
        if (definition_.monoid == Monoid::kSoftmaxSum) return softmax_sum();
        const int result = definition_.results().front();
        TensorData data = start(result, identity(definition_.monoid));
        if (definition_.monoid == Monoid::kNone) {
            store(result, data);
        } else {
            fold_into(result, data);
        }
        if (definition_.post) apply_post(result, data);
        return {std::move(data)};
    }

private:
    /// The value at which an iterator is held, or empty if it runs.
    using Held = std::vector<std::optional<int64_t>>;

    Held nothing_held() const { return Held(extents_.iterators.size()); }

    /// Visits the iterations in order, the last iterator fastest.
    template <typename Visit>
    void for_each_point(const Held& held, Visit&& visit) {
        std::vector<int64_t>& x = point_.iterators;
        for (size_t i = 0; i < x.size(); ++i) x[i] = held[i].value_or(0);
        bool has_next = true;
        while (has_next) {
            visit();
            has_next = false;
            for (size_t i = x.size(); i > 0 && !has_next; --i) {
                if (held[i - 1]) continue;
                has_next = ++x[i - 1] < extents_.iterators[i - 1];
                if (!has_next) x[i - 1] = 0;
            }
        }
    }

    template <typename Visit>
    void for_each_executed(const Held& held, Visit&& visit) {
        for_each_point(held, [&] {
            point_.outside = 0;
            if (!definition_.where || point_.value(*definition_.where) != 0) visit();
        });
    }

    double value(const ExprPtr& expr, double outside) {
        point_.outside = outside;
        return point_.value(*expr);
    }

    TensorData start(int result, double initial) const {
        const size_t position = index(result);
        if (definition_.tensors[position].role == Role::kUpdate) return tensors_[position];
        int64_t count = 1;
        for (int64_t extent : extents_.shapes[position]) count *= extent;
        return {extents_.shapes[position], std::vector<double>(index(count), initial)};
    }

    size_t target(int result) const {
        const TensorDecl& decl = definition_.tensors[index(result)];
        const std::optional<int64_t> position = point_.position(result, decl.map);
        if (!position) {
            throw Error(where_, decl.name,
                        fmt::format("is written outside of its shape [{}] {}",
                                    fmt::join(extents_.shapes[index(result)], ", "), point_.iteration()));
        }
        return index(*position);
    }

    void store(int result, TensorData& data) {
        std::vector<bool> is_written(data.values.size());
        for_each_executed(nothing_held(), [&] {
            const double stored = value(definition_.body[0], identity(Monoid::kNone));
            const size_t position = target(result);
            if (is_written[position]) {
                throw Error(
                    where_, definition_.tensors[index(result)].name,
                    fmt::format("has an element that two iterations write, again {}", point_.iteration()),
                    "a body without a monoid stores every element once");
            }
            is_written[position] = true;
            data.values[position] = stored;
        });
    }

    void fold_into(int result, TensorData& data) {
        for_each_executed(nothing_held(), [&] {
            const double next = value(definition_.body[0], identity(definition_.monoid));
            double& folded = data.values[target(result)];
            folded = fold(definition_.monoid, folded, next);
        });
    }

    /// Applies it once for every element that the map reaches, executed or not.
    void apply_post(int result, TensorData& data) {
        const std::vector<int> used = iterators_in(definition_.tensors[index(result)].map);
        Held held = nothing_held();
        for (size_t i = 0; i < held.size(); ++i) {
            if (!std::ranges::binary_search(used, static_cast<int>(i))) held[i] = 0;
        }
        const std::vector<double> folded = data.values;
        for_each_point(held, [&] {
            const size_t position = target(result);
            point_.folded = folded[position];
            data.values[position] = value(definition_.post, 0);
        });
    }

    /// Two passes: the maxima, then both sums below them. A result that does not use a parallel iterator is
    /// computed once, with this iterator at its first executed value.
    std::vector<TensorData> softmax_sum() {
        const std::vector<int> results = definition_.results();
        TensorData largest_score = start(results[0], identity(definition_, results[0]));
        TensorData sum = start(results[1], identity(definition_, results[1]));
        TensorData weighted = start(results[2], identity(definition_, results[2]));
        const auto score = [&] { return value(definition_.body[0], identity(Monoid::kSoftmaxSum)); };
        const Held held = held_in_softmax(results[0]);
        for_each_executed(held, [&] {
            double& folded = largest_score.values[target(results[0])];
            folded = largest(folded, score());
        });
        // e^(score - maximum), or nothing if the iteration is left out.
        const auto weight_here = [&]() -> std::optional<double> {
            const double here = score();
            if (infinite_scores_ == InfiniteScores::kNothing && here == identity(Monoid::kSoftmaxSum))
                return std::nullopt;
            return std::exp(here - largest_score.values[target(results[0])]);
        };
        for_each_executed(held, [&] { sum.values[target(results[1])] += weight_here().value_or(0); });
        for_each_executed(nothing_held(), [&] {
            const std::optional<double> weight = weight_here();
            if (!weight) return;
            const bool is_rounded = definition_.weights != ElementType::kF32;  // else float64
            weighted.values[target(results[2])] +=
                (is_rounded ? round_to(definition_.weights, *weight) : *weight) *
                value(definition_.body[1], 0);
        });
        return {std::move(largest_score), std::move(sum), std::move(weighted)};
    }

    Held held_in_softmax(int result) {
        const std::vector<int> used = iterators_in(definition_.tensors[index(result)].map);
        Held held = nothing_held();
        std::vector<size_t> unused;
        for (size_t i = 0; i < held.size(); ++i) {
            const bool is_used = std::ranges::binary_search(used, static_cast<int>(i));
            if (!is_used && !definition_.iterators[i].is_reduction) unused.push_back(i);
        }
        std::vector<int64_t> first(held.size(), definition_.where ? std::numeric_limits<int64_t>::max() : 0);
        if (definition_.where && !unused.empty()) {
            for_each_executed(nothing_held(), [&] {
                for (size_t i : unused) first[i] = std::min(first[i], point_.iterators[i]);
            });
        }
        // Nothing executed: any value will do.
        for (size_t i : unused) held[i] = first[i] < extents_.iterators[i] ? first[i] : 0;
        return held;
    }

    const Definition& definition_;
    const BoundExtents& extents_;
    const std::vector<TensorData>& tensors_;
    const std::string& where_;
    const InfiniteScores infinite_scores_;
    BodyValue point_;
};

void check_contents(const Definition& definition, const BoundExtents& extents,
                    const std::vector<TensorData>& tensors) {
    TESSERA_CHECK(tensors.size() == definition.tensors.size(), "{} contents for {} tensors", tensors.size(),
                  definition.tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
        if (definition.tensors[i].role == Role::kOut) continue;
        size_t count = 1;
        for (int64_t extent : extents.shapes[i]) count *= index(extent);
        TESSERA_CHECK(tensors[i].values.size() == count, "{} has {} elements, its shape [{}]",
                      definition.tensors[i].name, tensors[i].values.size(),
                      fmt::join(extents.shapes[i], ", "));
    }
}

}  // namespace

std::vector<TensorData> interpret(const Definition& definition, const BoundExtents& extents,
                                  const std::vector<TensorData>& operands, const std::string& where,
                                  bool round_results, const HeldElements* held,
                                  InfiniteScores infinite_scores) {
    check_contents(definition, extents, operands);
    std::vector<TensorData> results =
        definition.is_recurrence()
            ? interpret_in_order(definition, extents, operands, where, held)
            : Interpreter(definition, extents, operands, where, held, infinite_scores).run();
    if (!round_results) return results;
    const std::vector<int> positions = definition.results();
    for (size_t i = 0; i < results.size(); ++i) {
        const ElementType type = definition.tensors[index(positions[i])].type;
        for (double& element : results[i].values) element = round_to(type, element);
    }
    return results;
}

}  // namespace tessera
