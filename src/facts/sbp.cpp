#include "facts/sbp.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "facts/body_form.h"
#include "facts/commute.h"
#include "facts/depends.h"
#include "facts/executed.h"
#include "facts/image.h"
#include "facts/touched.h"
#include "support/error.h"

// A tensor is split on an axis if the elements that each device reaches lie in its half: the bounding boxes
// of the images of the two half boxes show that. Then nothing that a device lacks is ever read, and
//
//   - a result that is split is right: every iteration that reaches an element runs on the device that holds
//     it;
//   - a result of a split reduction is P(monoid): each device folds its iterations, if the post-expression
//     commutes;
//   - any other result must be the same on both devices, which half of the iterations give only where the
//     other half adds nothing new: to max and min when nothing depends on the iterator, and to the weights'
//     M and L.

namespace tessera::facts {
namespace {

using HalfBoxes = std::array<IterationBox, 2>;

Range half(int64_t extent, int device) {
    const int64_t middle = extent - extent / 2;
    return device == 0 ? Range{0, middle} : Range{middle, extent};
}

class SbpDerivation {
public:
    explicit SbpDerivation(const BoundDefinition& bound)
        : bound_(bound), definition_(bound.definition), executed_(bound, whole_box(bound)) {}

    std::optional<Signature> halve(int iterator) {
        const int64_t extent = bound_.extents.iterators[static_cast<size_t>(iterator)];
        if (extent < 2) return std::nullopt;
        HalfBoxes boxes{whole_box(bound_), whole_box(bound_)};
        for (int device = 0; device < 2; ++device)
            boxes[static_cast<size_t>(device)][static_cast<size_t>(iterator)] = half(extent, device);
        const bool is_partial = definition_.iterators[static_cast<size_t>(iterator)].is_reduction;
        Signature signature;
        for (size_t t = 0; t < definition_.tensors.size(); ++t) {
            const int tensor = static_cast<int>(t);
            const int axis = split_axis(tensor, boxes);
            if (axis >= 0)
                signature.push_back({Sbp::Kind::kSplit, axis, Monoid::kNone});
            else if (is_partial && bound_.is_result(tensor))
                signature.push_back({Sbp::Kind::kPartial, -1, definition_.monoid});
            else
                signature.push_back({});
        }
        for (const int result : definition_.results()) {
            const Sbp& placed = signature[static_cast<size_t>(result)];
            if (placed.kind == Sbp::Kind::kPartial && !partial_is_right(result, iterator, boxes))
                return std::nullopt;
            if (placed.kind == Sbp::Kind::kBroadcast && !copies_are_right(result, iterator, boxes))
                return std::nullopt;
        }
        if (definition_.monoid == Monoid::kSoftmaxSum && !weights_agree(iterator, boxes)) return std::nullopt;
        return signature;
    }

private:
    // The lowest axis of which each device reaches only its own half; -1 if there is none.
    int split_axis(int tensor, const HalfBoxes& boxes) const {
        const auto& shape = bound_.shape(tensor);
        std::vector<bool> good(shape.size());
        for (size_t a = 0; a < shape.size(); ++a) good[a] = shape[a] >= 2;
        for (const std::vector<ExprPtr>& coordinates : accesses(definition_, tensor)) {
            for (size_t a = 0; a < shape.size(); ++a) good[a] = good[a] && !is_indirect(coordinates[a]);
            for (int device = 0; device < 2; ++device) {
                if (std::ranges::find(good, true) == good.end()) return -1;
                const auto box =
                    image_bounds(bound_, coordinates, boxes[static_cast<size_t>(device)], ranges_of(shape));
                for (size_t a = 0; box && a < shape.size(); ++a) {
                    const Range mine = half(shape[a], device);
                    good[a] = good[a] && mine.first <= (*box)[a].first && (*box)[a].last <= mine.last;
                }
            }
        }
        const auto first = std::ranges::find(good, true);
        return first == good.end() ? -1 : static_cast<int>(first - good.begin());
    }

    bool partial_is_right(int result, int iterator, const HalfBoxes& boxes) {
        if (definition_.monoid == Monoid::kNone) return false;
        if (definition_.monoid == Monoid::kSoftmaxSum) return weighted_sums_have_one_maximum(iterator);
        if (!definition_.post) return true;
        if (!commutes_) commutes_ = post_commutes(bound_);
        if (!*commutes_ || !definition_.where) return *commutes_;
        if (!is_named_in({definition_.where}, iterator) && !is_named_in(bound_.tensor(result).map, iterator))
            return true;
        if (!executed_.is_exact()) return post_takes_identity(bound_);
        // A device may fold nothing into an element of which the other one makes a number.
        const int64_t whole = folded_elements(result, whole_box(bound_));
        for (const IterationBox& box : boxes)
            if (folded_elements(result, box) != whole) return post_takes_identity(bound_);
        return true;
    }

    // Partial sums are rescaled by how far their M is below that of the whole: each element of A must have
    // one M.
    bool weighted_sums_have_one_maximum(int iterator) const {
        // Or the same M on both devices.
        if (!value_depends({definition_.body[0]}, iterator) &&
            !(definition_.where && is_named_in({definition_.where}, iterator)))
            return true;
        const std::vector<int> results = definition_.results();
        std::vector<ExprPtr> coordinates = bound_.tensor(results[2]).map;
        std::vector<Range> within = ranges_of(bound_.shape(results[2]));
        const auto reach = [&] {
            ElementSet reached(coordinates.size());
            add_image(reached, bound_, coordinates, whole_box(bound_), within);
            return reached.count();
        };
        const int64_t sums = reach();
        int64_t iterations = 1;
        for (const int x : iterators_in(coordinates))
            iterations *= bound_.extents.iterators[static_cast<size_t>(x)];
        if (sums == iterations) return true;
        const std::vector<ExprPtr>& maxima = bound_.tensor(results[0]).map;
        const std::vector<Range> shape = ranges_of(bound_.shape(results[0]));
        coordinates.insert(coordinates.end(), maxima.begin(), maxima.end());
        within.insert(within.end(), shape.begin(), shape.end());
        return reach() == sums;
    }

    int64_t folded_elements(int result, const IterationBox& within) const {
        const std::vector<ExprPtr>& map = bound_.tensor(result).map;
        const ExecutedIterations executed(bound_, within);
        ElementSet reached(map.size());
        if (executed.none()) return 0;
        for (const IterationBox& box : executed.project(iterators_in(map)))
            add_image(reached, bound_, map, box, ranges_of(bound_.shape(result)));
        return reached.count();
    }

    bool is_named_in(const std::vector<ExprPtr>& exprs, int iterator) const {
        return std::ranges::binary_search(iterators_in(exprs), iterator);
    }

    // Whether the value may change with the iterator: by its number, or by the elements that are read.
    bool value_depends(const std::vector<ExprPtr>& exprs, int iterator) const {
        bool found = false;
        for (const ExprPtr& expr : exprs)
            walk(expr, [&](const Expr& node) {
                if (const auto* i = std::get_if<IteratorRef>(&node.node))
                    found = found || i->index == iterator;
                if (const auto* read = std::get_if<Read>(&node.node)) {
                    found = found || element_depends(bound_, read->coordinates, iterator);
                    return false;
                }
                return !found;
            });
        return found;
    }

    bool copies_are_right(int result, int iterator, const HalfBoxes& boxes) const {
        const std::vector<ExprPtr>& map = bound_.tensor(result).map;
        // M and L of softmax_sum, computed once for the iterators that they do not use: see weights_agree.
        if (definition_.monoid == Monoid::kSoftmaxSum && !is_named_in(map, iterator)) return true;
        if ((executed_.is_exact() && executed_.none()) || contributes_nothing())
            return !definition_.post || same_reach(map, boxes);
        const bool folds_twice = definition_.monoid == Monoid::kMax || definition_.monoid == Monoid::kMin;
        std::vector<ExprPtr> values = definition_.body;
        if (definition_.post) values.push_back(definition_.post);
        return folds_twice && !element_depends(bound_, map, iterator) && !value_depends(values, iterator) &&
               !(definition_.where && is_named_in({definition_.where}, iterator));
    }

    // Whether every iteration folds the identity, or stores the 0 that stands there anyway.
    bool contributes_nothing() const {
        if (definition_.monoid == Monoid::kSoftmaxSum) return false;
        if (definition_.monoid == Monoid::kNone &&
            bound_.tensor(definition_.results()[0]).role == Role::kUpdate)
            return false;
        const BodyForm form(bound_, definition_.body[0], executed_,
                            {-1, std::nullopt, identity(definition_.monoid)});
        const auto value = constant_value(form.value);
        return value && *value == identity(definition_.monoid);
    }

    bool same_reach(const std::vector<ExprPtr>& map, const HalfBoxes& boxes) const {
        const auto& shape = bound_.shape(definition_.results()[0]);
        const auto reach = [&](const IterationBox& box) {
            ElementSet reached(shape.size());
            add_image(reached, bound_, map, box, ranges_of(shape));
            return reached.count();
        };
        const int64_t whole = reach(whole_box(bound_));
        return reach(boxes[0]) == whole && reach(boxes[1]) == whole;
    }

    // M and L are computed with the parallel iterators that they do not use held at their first executed
    // value. The predicate alone decides whether each device takes the same weights.
    bool weights_agree(int iterator, const HalfBoxes& boxes) const {
        const std::vector<ExprPtr>& map = bound_.tensor(definition_.results()[0]).map;
        if (definition_.iterators[static_cast<size_t>(iterator)].is_reduction && !scores_agree(map, boxes))
            return false;
        if (!definition_.where) return true;
        std::vector<int> held;
        std::vector<int> free;
        for (size_t i = 0; i < definition_.iterators.size(); ++i) {
            const int x = static_cast<int>(i);
            const bool uses = definition_.iterators[i].is_reduction || is_named_in(map, x);
            (uses ? free : held).push_back(x);
        }
        if (!executed_.is_exact())
            return std::ranges::none_of(held, [&](int x) { return is_named_in({definition_.where}, x); });
        const ExecutedIterations whole = executed_.held(held);
        for (const IterationBox& box : boxes) {
            const ExecutedIterations share = ExecutedIterations(bound_, box).held(held);
            if (std::ranges::find(held, iterator) != held.end()) {
                if (weights(share, free) != weights(whole, free)) return false;
            } else if (!share.none()) {
                for (const int x : held)
                    if (share.box()[static_cast<size_t>(x)] != whole.box()[static_cast<size_t>(x)])
                        return false;
            }
        }
        return true;
    }

    bool score_is_infinite_outside() const {
        AlgebraOptions options;
        options.outside = [&](const Read& read) -> std::optional<double> {
            if (stays_in_range(bound_, executed_, read.tensor, read.coordinates)) return std::nullopt;
            return identity(definition_.monoid);
        };
        options.finite_reads = true;
        Algebra algebra(bound_, options);
        const ValueRange score = algebra.range_of(algebra.normal_form(definition_.body[0]));
        return std::isinf(score.low) || std::isinf(score.high);
    }

    // Where all scores of an element are read out of range they are -inf, and its weights are no numbers:
    // that must not happen on one device alone.
    bool scores_agree(const std::vector<ExprPtr>& map, const HalfBoxes& boxes) const {
        std::vector<ExprPtr> joint = map;
        std::vector<Range> within = ranges_of(bound_.shape(definition_.results()[0]));
        bool all_inside = true;
        for (const Read& read : reads_in({definition_.body[0]})) {
            if (stays_in_range(bound_, executed_, read.tensor, read.coordinates)) continue;
            all_inside = false;
            const std::vector<Range> shape = ranges_of(bound_.shape(read.tensor));
            joint.insert(joint.end(), read.coordinates.begin(), read.coordinates.end());
            within.insert(within.end(), shape.begin(), shape.end());
        }
        if (all_inside || !score_is_infinite_outside()) return true;
        const auto add_scored = [&](ElementSet& reached, const IterationBox& box,
                                    const std::vector<ExprPtr>& coordinates) {
            const ExecutedIterations share(bound_, box);
            if (share.none()) return;
            for (const IterationBox& part : share.project(iterators_in(coordinates)))
                add_image(reached, bound_, coordinates, part, std::span(within).first(coordinates.size()));
        };
        ElementSet in_whole(map.size());
        add_scored(in_whole, whole_box(bound_), joint);
        return std::ranges::all_of(boxes, [&](const IterationBox& box) {
            ElementSet in_share(map.size());
            add_scored(in_share, box, joint);
            ElementSet executed(map.size());
            add_scored(executed, box, map);
            ElementSet either = in_whole;
            add_scored(either, box, map);
            return in_share.count() == in_whole.count() + executed.count() - either.count();
        });
    }

    static std::vector<IterationBox> weights(const ExecutedIterations& once, const std::vector<int>& free) {
        std::vector<IterationBox> found;
        if (once.none()) return found;
        for (const IterationBox& box : once.project(free)) {
            IterationBox kept;
            for (const int x : free) kept.push_back(box[static_cast<size_t>(x)]);
            found.push_back(std::move(kept));
        }
        return found;
    }

    const BoundDefinition& bound_;
    const Definition& definition_;
    ExecutedIterations executed_;
    std::optional<bool> commutes_;
};

}  // namespace

std::string text(const Sbp& sbp) {
    switch (sbp.kind) {
        case Sbp::Kind::kSplit:
            return fmt::format("S({})", sbp.axis);
        case Sbp::Kind::kBroadcast:
            return "B";
        case Sbp::Kind::kPartial:
            return fmt::format("P({})", name(sbp.monoid));
    }
    return "";
}

std::vector<std::optional<Signature>> derive_sbp(const BoundDefinition& bound) {
    const BoundDefinition any = for_all_contents(bound);
    SbpDerivation derivation(any);
    std::vector<std::optional<Signature>> facts;
    for (size_t i = 0; i < bound.definition.iterators.size(); ++i)
        facts.push_back(derivation.halve(static_cast<int>(i)));
    return facts;
}

}  // namespace tessera::facts
