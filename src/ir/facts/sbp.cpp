#include "ir/facts/sbp.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/facts/body_form.h"
#include "ir/facts/commute.h"
#include "ir/facts/contributions.h"
#include "ir/facts/depends.h"
#include "ir/facts/executed.h"
#include "ir/facts/image.h"
#include "ir/facts/touched.h"
#include "support/error.h"

// A tensor is split on an axis if the elements that each device reaches lie in its part; the bounding boxes
// of the images of the parts of the box show that. Then no device reads what it lacks, and
//
//   - a result that is split is right: every iteration that reaches an element runs on the device that holds
//     it;
//   - a result of a split reduction is P(monoid): each device folds its iterations, if the post-expression
//     commutes;
//   - any other result must be the same on all devices, which a part of the iterations gives only where the
//     others add nothing new: to max and min when nothing depends on the iterator, and to the weights'
//     M and L.
//
// On an inner level all this must hold in every group, for the operator that the group sees: its iterations
// are the whole box (restricted_to).

namespace tessera::facts {
namespace {

using Boxes = std::vector<IterationBox>;  ///< of the devices, in order

// Decides whether a signature is true for one group, whose devices each execute one part of an iterator.
class GroupSplit {
public:
    // @param bound the operator that the group sees @pre it outlives this
    GroupSplit(const BoundDefinition& bound, int iterator, int64_t count, int64_t grain)
        : bound_(bound),
          definition_(bound.definition),
          iterator_(iterator),
          boxes_(static_cast<size_t>(count), whole_box(bound)) {
        for (int64_t j = 0; j < count; ++j) {
            Range& range = boxes_[static_cast<size_t>(j)][static_cast<size_t>(iterator)];
            range = part_of(range, count, j, grain);
        }
    }

    bool is_true(const Signature& signature) const {
        for (const int result : definition_.results()) {
            const Sbp& placed = signature[static_cast<size_t>(result)];
            if (placed.kind == Sbp::Kind::kPartial && !partial_is_right(result)) return false;
            if (placed.kind == Sbp::Kind::kBroadcast && !copies_are_right(result)) return false;
        }
        return definition_.monoid != Monoid::kSoftmaxSum || weights_agree();
    }

private:
    const ExecutedIterations& executed() const {
        if (!executed_) executed_.emplace(bound_, whole_box(bound_));
        return *executed_;
    }

    // @pre the post-expression commutes with the monoid
    bool partial_is_right(int result) const {
        if (definition_.monoid == Monoid::kSoftmaxSum) return weighted_sums_have_one_maximum();
        if (!definition_.post || !definition_.where) return true;
        if (!is_named_in({definition_.where}) && !is_named_in(bound_.tensor(result).map)) return true;
        if (!executed().is_exact()) return post_takes_identity(bound_);
        // A device may fold nothing into an element that the other one makes a number.
        const int64_t whole = folded_elements(result, whole_box(bound_));
        for (const IterationBox& box : boxes_)
            if (folded_elements(result, box) != whole) return post_takes_identity(bound_);
        return true;
    }

    // Partial sums are rescaled by how far their M is below that of the whole: each element of A must have
    // one M.
    bool weighted_sums_have_one_maximum() const {
        // Or M is the same on all devices.
        if (!value_depends({definition_.body[0]}) && !(definition_.where && is_named_in({definition_.where})))
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

    bool is_named_in(const std::vector<ExprPtr>& exprs) const {
        return std::ranges::binary_search(iterators_in(exprs), iterator_);
    }

    // True if the value may change with the iterator: by its number, or by the elements that are read.
    bool value_depends(const std::vector<ExprPtr>& exprs) const {
        bool found = false;
        for (const ExprPtr& expr : exprs)
            walk(expr, [&](const Expr& node) {
                if (const auto* i = std::get_if<IteratorRef>(&node.node))
                    found = found || i->index == iterator_;
                if (const auto* read = std::get_if<Read>(&node.node)) {
                    found = found || element_depends(bound_, read->coordinates, iterator_);
                    return false;
                }
                return !found;
            });
        return found;
    }

    bool copies_are_right(int result) const {
        const std::vector<ExprPtr>& map = bound_.tensor(result).map;
        // M and L of softmax_sum, computed once for the iterators that they do not use: see weights_agree.
        if (definition_.monoid == Monoid::kSoftmaxSum && !is_named_in(map)) return true;
        if ((executed().is_exact() && executed().none()) || contributes_nothing())
            return !definition_.post || keeps_identity() || same_reach(map);
        const bool folds_twice = definition_.monoid == Monoid::kMax || definition_.monoid == Monoid::kMin;
        std::vector<ExprPtr> values = definition_.body;
        if (definition_.post) values.push_back(definition_.post);
        return folds_twice && !element_depends(bound_, map, iterator_) && !value_depends(values) &&
               !(definition_.where && is_named_in({definition_.where}));
    }

    // True if every iteration folds the identity, or stores the 0 that stands there anyway.
    bool contributes_nothing() const {
        if (definition_.monoid == Monoid::kSoftmaxSum) return false;
        if (definition_.monoid == Monoid::kNone &&
            bound_.tensor(definition_.results()[0]).role == Role::kUpdate)
            return false;
        const double start = identity(definition_.monoid);
        return std::ranges::all_of(contributions(bound_, iteration_cases(bound_, definition_.body),
                                                 definition_.body[0], -1, start, start),
                                   [](const Contribution& c) { return c.outcome == Outcome::kIdentity; });
    }

    // True if the post-expression maps the identity to itself, wherever it is applied.
    bool keeps_identity() const {
        BoundDefinition unconditional = bound_;
        unconditional.definition.where = nullptr;
        const double start = identity(definition_.monoid);
        BodyFormOptions options;
        options.folded = ValueRange{start, start, std::isfinite(start)};
        const BodyForm form(unconditional, definition_.post,
                            ExecutedIterations(unconditional, whole_box(unconditional)), options);
        return constant_value(form.value) == start;
    }

    bool same_reach(const std::vector<ExprPtr>& map) const {
        const auto& shape = bound_.shape(definition_.results()[0]);
        const auto reach = [&](const IterationBox& box) {
            ElementSet reached(shape.size());
            add_image(reached, bound_, map, box, ranges_of(shape));
            return reached.count();
        };
        const int64_t whole = reach(whole_box(bound_));
        return std::ranges::all_of(boxes_, [&](const IterationBox& box) { return reach(box) == whole; });
    }

    // M and L are computed with the parallel iterators that they do not use held at their first executed
    // value. The predicate alone decides whether each device takes the same weights.
    bool weights_agree() const {
        const std::vector<ExprPtr>& map = bound_.tensor(definition_.results()[0]).map;
        if (definition_.iterators[static_cast<size_t>(iterator_)].is_reduction && !scores_agree())
            return false;
        if (!definition_.where) return true;
        std::vector<int> held;
        std::vector<int> free;
        for (size_t i = 0; i < definition_.iterators.size(); ++i) {
            const int x = static_cast<int>(i);
            const bool uses =
                definition_.iterators[i].is_reduction || std::ranges::binary_search(iterators_in(map), x);
            (uses ? free : held).push_back(x);
        }
        if (!executed().is_exact())
            return std::ranges::none_of(
                held, [&](int x) { return std::ranges::binary_search(iterators_in(definition_.where), x); });
        const ExecutedIterations whole = executed().held(held);
        for (const IterationBox& box : boxes_) {
            const ExecutedIterations share = ExecutedIterations(bound_, box).held(held);
            if (std::ranges::find(held, iterator_) != held.end()) {
                if (weights(share, free) != weights(whole, free)) return false;
            } else if (!share.none()) {
                for (const int x : held)
                    if (share.box()[static_cast<size_t>(x)] != whole.box()[static_cast<size_t>(x)])
                        return false;
            }
        }
        return true;
    }

    // An element of M that is never finite has NaN as its weights, in the whole and on some device alike. But
    // no device may have only infinite scores for an element that has finite ones in the whole.
    bool scores_agree() const {
        const double start = identity(definition_.monoid);
        const IterationCases cases = iteration_cases(bound_, {definition_.body[0]});
        const std::vector<Contribution> scores =
            contributions(bound_, cases, definition_.body[0], -1, start, start);
        if (std::ranges::all_of(scores, [](const Contribution& c) { return c.outcome == Outcome::kUsual; }))
            return true;
        const int result = definition_.results()[0];
        const auto add_all = [&](ElementSet& elements, const IterationBox& box, auto&& counts) {
            for (const Contribution& c : scores)
                if (counts(c))
                    add_reached(elements, c.part->bound, ExecutedIterations(c.part->bound, box), result);
        };
        const auto is_usual = [](const Contribution& c) { return c.outcome == Outcome::kUsual; };
        const auto is_any = [](const Contribution&) { return true; };
        ElementSet lost(static_cast<size_t>(bound_.rank(result)));
        add_all(lost, whole_box(bound_), [](const Contribution& c) {
            return c.outcome == Outcome::kAbsorbing && c.part->executed.is_exact();
        });
        ElementSet finite = lost;
        add_all(finite, whole_box(bound_), is_usual);
        return std::ranges::all_of(boxes_, [&](const IterationBox& box) {
            ElementSet in_share = lost;
            add_all(in_share, box, is_usual);
            ElementSet executed = lost;
            add_all(executed, box, is_any);
            ElementSet either = finite;
            add_all(either, box, is_any);
            return in_share.count() == finite.count() + executed.count() - either.count();
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
    mutable std::optional<ExecutedIterations> executed_;  ///< counted on first use
    int iterator_;
    Boxes boxes_;
};

}  // namespace

std::string text(const Sbp& sbp) {
    switch (sbp.kind) {
        case Sbp::Kind::kSplit:
            return sbp.grain == 1 ? fmt::format("S({})", sbp.axis)
                                  : fmt::format("S({}:{})", sbp.axis, sbp.grain);
        case Sbp::Kind::kBroadcast:
            return "B";
        case Sbp::Kind::kPartial:
            return fmt::format("P({})", name(sbp.monoid));
    }
    return "";
}

Splits::Splits(const BoundDefinition& bound) : bound_(for_all_contents(bound)) {}

// Axes with grains that every group can cut, the lowest axis first. An axis follows the iterator in its own
// proportion: with `h * 64 + e`, 64 elements for one h; with `k div 32`, one for 32 k.
std::vector<Splits::Axis> Splits::axes_to_split(int tensor, std::span<const Share> groups, int iterator,
                                                int64_t count, Cut cut, int64_t grain) const {
    const auto& shape = bound_.shape(tensor);
    const int64_t extent = bound_.extents.iterators[static_cast<size_t>(iterator)];
    std::vector<Axis> axes;
    for (size_t a = 0; a < shape.size(); ++a) {
        std::vector<int64_t> grains = {1};
        const bool is_whole = extent > 0 && shape[a] * grain % extent == 0;
        if (cut == Cut::kRagged && is_whole && shape[a] * grain > extent)
            grains.push_back(shape[a] * grain / extent);
        for (const int64_t each : grains) {
            const auto size = [&](const Share& group) {
                return group.tensors[static_cast<size_t>(tensor)][a].size();
            };
            const bool is_possible = std::ranges::all_of(
                groups, [&](const Share& group) { return can_cut(size(group), count, cut, each); });
            const bool is_known = each > 1 && std::ranges::all_of(groups, [&](const Share& group) {
                                      return size(group) / each % count == 0;
                                  });
            if (is_possible && !is_known) axes.push_back({static_cast<int>(a), each});
        }
    }
    return axes;
}

// The first of these axes on which each device of every group reaches only its own part; -1 if there is none.
Splits::Axis Splits::split_axis(int tensor, std::span<const Share> groups, int iterator, int64_t count,
                                Cut cut, int64_t grain) const {
    std::vector<Axis> axes = axes_to_split(tensor, groups, iterator, count, cut, grain);
    for (const std::vector<ExprPtr>& coordinates : accesses(bound_.definition, tensor)) {
        std::erase_if(
            axes, [&](const Axis& each) { return is_indirect(coordinates[static_cast<size_t>(each.axis)]); });
        for (const Share& group : groups)
            for (int64_t j = 0; j < count; ++j) {
                if (axes.empty()) return {};
                IterationBox box = group.iterations;
                Range& mine = box[static_cast<size_t>(iterator)];
                mine = part_of(mine, count, j, grain);
                const auto reached = image_bounds(bound_, coordinates, box, ranges_of(bound_.shape(tensor)));
                if (!reached) continue;
                std::erase_if(axes, [&](const Axis& each) {
                    const auto a = static_cast<size_t>(each.axis);
                    const Range part =
                        part_of(group.tensors[static_cast<size_t>(tensor)][a], count, j, each.grain);
                    return (*reached)[a].first < part.first || part.last < (*reached)[a].last;
                });
            }
    }
    return axes.empty() ? Axis{} : axes.front();
}

// One answer serves all groups: their partial results are partial results of the whole.
bool Splits::post_commutes() {
    if (!commutes_) commutes_ = facts::post_commutes(bound_);
    return *commutes_;
}

std::optional<Signature> Splits::split(std::span<const Share> groups, int iterator, int64_t count, Cut cut,
                                       int64_t grain) {
    const Definition& definition = bound_.definition;
    const bool is_partial = definition.iterators[static_cast<size_t>(iterator)].is_reduction;
    Signature signature;
    bool any_partial = false;
    for (size_t t = 0; t < definition.tensors.size(); ++t) {
        const int tensor = static_cast<int>(t);
        const Axis along = split_axis(tensor, groups, iterator, count, cut, grain);
        if (along.axis >= 0) {
            signature.push_back({Sbp::Kind::kSplit, along.axis, Monoid::kNone, along.grain});
        } else if ((is_partial || definition.is_recurrence()) && bound_.is_result(tensor)) {
            signature.push_back({Sbp::Kind::kPartial, -1, definition.monoid});
            any_partial = true;
        } else {
            signature.push_back({});
        }
    }
    if (any_partial && (definition.monoid == Monoid::kNone || definition.is_recurrence() ||
                        (definition.monoid != Monoid::kSoftmaxSum && !post_commutes())))
        return std::nullopt;
    for (const Share& group : groups) {
        if (definition.is_recurrence()) break;  // lines read each other at the same parallel iterations
        const BoundDefinition seen = restricted_to(bound_, group.iterations);
        if (!GroupSplit(seen, iterator, count, grain).is_true(signature)) return std::nullopt;
    }
    return signature;
}

std::vector<Share> Splits::parts(std::span<const Share> groups, const Signature& signature, int iterator,
                                 int64_t count, int64_t grain) {
    std::vector<Share> parts;
    for (const Share& group : groups)
        for (int64_t j = 0; j < count; ++j) {
            Share& mine = parts.emplace_back(group);
            Range& range = mine.iterations[static_cast<size_t>(iterator)];
            range = part_of(range, count, j, grain);
            for (size_t t = 0; t < signature.size(); ++t) {
                if (signature[t].kind != Sbp::Kind::kSplit) continue;
                Range& held = mine.tensors[t][static_cast<size_t>(signature[t].axis)];
                held = part_of(held, count, j, signature[t].grain);
            }
        }
    return parts;
}

std::vector<std::optional<Signature>> derive_sbp(const BoundDefinition& bound) {
    Splits splits(bound);
    const Share whole = whole_share(bound);
    std::vector<std::optional<Signature>> facts;
    for (size_t i = 0; i < bound.definition.iterators.size(); ++i)
        facts.push_back(bound.extents.iterators[i] < 2
                            ? std::nullopt
                            : splits.split({&whole, 1}, static_cast<int>(i), 2, Cut::kByElements));
    return facts;
}

}  // namespace tessera::facts
