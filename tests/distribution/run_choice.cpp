#include "distribution/run_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "ir/body_value.h"
#include "ir/facts/exact_casts.h"

namespace tessera::distribution {
namespace {

using Device = std::vector<int64_t>;
using Tensors = std::vector<TensorData>;

constexpr double kGarbage = std::numeric_limits<double>::quiet_NaN();

std::vector<Device> devices_of(const Placement& placement) {
    std::vector<Device> all{{}};
    for (const Level& level : placement.levels) {
        std::vector<Device> more;
        for (const Device& outer : all)
            for (int64_t j = 0; j < level.count; ++j) {
                more.push_back(outer);
                more.back().push_back(j);
            }
        all = std::move(more);
    }
    return all;
}

class Runner {
public:
    Runner(const Operator& op, const Placement& placement, const Choice& choice)
        : definition_(facts::without_exact_casts(op.bound.definition)),
          extents_(op.bound.extents),
          placement_(placement),
          choice_(choice),
          devices_(devices_of(placement)) {}

    std::vector<std::string> run(const Tensors& contents) {
        const Tensors whole = interpret(definition_, extents_, contents, "whole", false);
        std::vector<Tensors> parts;  // of each device
        const std::vector<Tensors> held = spread(contents);
        for (size_t d = 0; d < devices_.size(); ++d) parts.push_back(execute(devices_[d], held[d]));
        const std::vector<int> results = definition_.results();
        for (size_t r = 0; r < results.size(); ++r) compare(r, results[r], parts, whole, contents);
        return std::move(broken_);
    }

private:
    // The part of an extent that a device keeps, levels one after the other: each grain goes to a device, the
    // first ones have one more. @param grain of a level that cuts; 0 of another
    template <typename Grain>
    std::pair<int64_t, int64_t> kept(int64_t extent, const Device& device, Grain&& grain) const {
        int64_t first = 0;
        for (size_t level = 0; level < device.size(); ++level) {
            if (grain(level) == 0) continue;
            const int64_t grains = extent / grain(level), count = placement_.levels[level].count;
            for (int64_t j = 0; j < device[level]; ++j)
                first += (grains / count + (j < grains % count)) * grain(level);
            extent = (grains / count + (device[level] < grains % count)) * grain(level);
        }
        return {first, first + extent};
    }

    bool holds(int tensor, const Device& device, size_t position) const {
        const auto& shape = extents_.shapes[static_cast<size_t>(tensor)];
        const Form& form = choice_.forms[static_cast<size_t>(tensor)];
        auto left = static_cast<int64_t>(position);
        for (size_t axis = shape.size(); axis > 0; --axis) {
            const int64_t at = left % shape[axis - 1];
            left /= shape[axis - 1];
            const auto [first, last] = kept(shape[axis - 1], device, [&](size_t level) {
                return form[level] == split(static_cast<int>(axis) - 1, form[level].grain) ? form[level].grain
                                                                                           : 0;
            });
            if (at < first || at >= last) return false;
        }
        return true;
    }

    // Which summand a device has: the coordinates of the levels that are partial.
    std::vector<int64_t> summand(int tensor, const Device& device) const {
        std::vector<int64_t> coordinates;
        for (size_t level = 0; level < device.size(); ++level)
            if (choice_.forms[static_cast<size_t>(tensor)][level].kind == Sbp::Kind::kPartial)
                coordinates.push_back(device[level]);
        return coordinates;
    }

    std::vector<Tensors> spread(const Tensors& contents) {
        std::vector<Tensors> held(devices_.size(), contents);
        for (size_t t = 0; t < contents.size(); ++t) {
            const int tensor = static_cast<int>(t);
            const Role role = definition_.tensors[t].role;
            if (role == Role::kOut || role == Role::kIndex) continue;
            add_summands(tensor, contents[t], held);
            for (size_t d = 0; d < devices_.size(); ++d)
                for (size_t i = 0; i < contents[t].values.size(); ++i)
                    if (!holds(tensor, devices_[d], i)) held[d][t].values[i] = kGarbage;
        }
        return held;
    }

    void add_summands(int tensor, const TensorData& data, std::vector<Tensors>& held) {
        const auto t = static_cast<size_t>(tensor);
        std::vector<std::vector<int64_t>> different;
        for (const Device& device : devices_)
            if (std::ranges::find(different, summand(tensor, device)) == different.end())
                different.push_back(summand(tensor, device));
        std::vector<std::vector<double>> parts(different.size(), data.values);
        for (size_t i = 0; i < data.values.size(); ++i)
            for (size_t p = 0; p + 1 < parts.size(); ++p) {
                parts[p][i] = std::uniform_real_distribution<double>(-2, 2)(random_);
                parts.back()[i] -= parts[p][i];
            }
        for (size_t d = 0; d < devices_.size(); ++d) {
            const auto which = std::ranges::find(different, summand(tensor, devices_[d])) - different.begin();
            held[d][t].values = parts[static_cast<size_t>(which)];
        }
    }

    Tensors execute(const Device& device, const Tensors& data) const {
        Definition mine = definition_;
        for (size_t x = 0; x < mine.iterators.size(); ++x) {
            const auto [first, last] = kept(extents_.iterators[x], device, [&](size_t level) {
                const LevelChoice& cut = choice_.levels[level];
                const bool cuts_it =
                    cut.kind == LevelChoice::Kind::kIterator && cut.index == static_cast<int>(x);
                return cuts_it ? cut.grain : 0;
            });
            const ExprPtr at = iterator_ref(static_cast<int>(x));
            const ExprPtr inside = apply(Function::kAnd, {apply(Function::kGreaterEqual, {at, number(first)}),
                                                          apply(Function::kLess, {at, number(last)})});
            mine.where = mine.where ? apply(Function::kAnd, {inside, mine.where}) : inside;
        }
        return interpret(mine, extents_, data, "device", false);
    }

    // The value to which the partial results of a group of devices fold.
    std::vector<double> folded(size_t r, const std::vector<const Tensors*>& parts,
                               const Tensors& contents) const {
        std::vector<double> total = (*parts[0])[r].values;
        if (definition_.monoid == Monoid::kSoftmaxSum && parts.size() > 1)
            return folded_weights(r, parts, contents);
        for (size_t p = 1; p < parts.size(); ++p)
            for (size_t i = 0; i < total.size(); ++i) {
                const double more = (*parts[p])[r].values[i];
                double& sum = total[i];
                switch (monoid_of(r)) {
                    case Monoid::kSum:
                        sum += more;
                        break;
                    case Monoid::kProd:
                        sum *= more;
                        break;
                    case Monoid::kMax:
                        sum = largest(sum, more);
                        break;
                    default:
                        sum = smallest(sum, more);
                }
            }
        return total;
    }

    Monoid monoid_of(size_t r) const {
        for (const Sbp& entry : choice_.forms[static_cast<size_t>(definition_.results()[r])])
            if (entry.kind == Sbp::Kind::kPartial) return entry.monoid;
        return Monoid::kNone;
    }

    std::vector<double> folded_weights(size_t r, const std::vector<const Tensors*>& parts,
                                       const Tensors& contents) const {
        if (monoid_of(r) == Monoid::kSum) {  // a summand of the values, not of the positions
            std::vector<double> total((*parts[0])[r].values.size(), 0);
            for (const Tensors* part : parts)
                for (size_t i = 0; i < total.size(); ++i) total[i] += (*part)[r].values[i];
            return total;
        }
        std::vector<double> maximum = (*parts[0])[0].values;
        for (const Tensors* part : parts)
            for (size_t i = 0; i < maximum.size(); ++i)
                maximum[i] = largest(maximum[i], (*part)[0].values[i]);
        if (r == 0) return maximum;
        std::vector<double> total((*parts[0])[r].values.size(), 0);
        BodyValue at(definition_, extents_, contents, "fold");
        std::vector<bool> done(total.size(), false);
        const std::vector<int> results = definition_.results();
        at.iterators.assign(extents_.iterators.size(), 0);
        for (bool more = true; more;) {
            const auto place = [&](int tensor) {
                return static_cast<size_t>(
                    *at.position(tensor, definition_.tensors[static_cast<size_t>(tensor)].map));
            };
            const size_t m = place(results[0]);
            const size_t i = place(results[r]);
            for (const Tensors* part : parts)
                if (!done[i] && !std::isinf((*part)[0].values[m]))
                    total[i] += std::exp((*part)[0].values[m] - maximum[m]) * (*part)[r].values[i];
            done[i] = true;
            more = false;
            for (size_t x = at.iterators.size(); x > 0 && !more; --x) {
                more = ++at.iterators[x - 1] < extents_.iterators[x - 1];
                if (!more) at.iterators[x - 1] = 0;
            }
        }
        return total;
    }

    void compare(size_t r, int tensor, const std::vector<Tensors>& parts, const Tensors& whole,
                 const Tensors& contents) {
        for (size_t d = 0; d < devices_.size(); ++d) {
            // All devices that differ from this one at partial levels at most.
            std::vector<const Tensors*> group;
            const Form& form = choice_.forms[static_cast<size_t>(tensor)];
            for (size_t e = 0; e < devices_.size(); ++e) {
                bool same = true;
                for (size_t level = 0; level < form.size(); ++level)
                    same = same && (form[level].kind == Sbp::Kind::kPartial ||
                                    devices_[d][level] == devices_[e][level]);
                if (same) group.push_back(&parts[e]);
            }
            const std::vector<double> got = folded(r, group, contents);
            double scale = 1e-30;
            for (const double value : whole[r].values)
                if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
            for (size_t i = 0; i < got.size(); ++i)
                if (holds(tensor, devices_[d], i) && std::isfinite(whole[r].values[i]) &&
                    !(std::abs(got[i] - whole[r].values[i]) <= 1e-8 * scale)) {
                    broken_.push_back(fmt::format("{} as {} is {} at {}, expected {}",
                                                  definition_.tensors[static_cast<size_t>(tensor)].name,
                                                  text(form), got[i], i, whole[r].values[i]));
                    return;
                }
        }
    }

    Definition definition_;
    const BoundExtents& extents_;
    const Placement& placement_;
    const Choice& choice_;
    std::vector<Device> devices_;
    std::mt19937_64 random_{11};
    std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> run_choice(const Operator& op, const Placement& placement, const Choice& choice,
                                    const std::vector<TensorData>& contents) {
    return Runner(op, placement, choice).run(contents);
}

}  // namespace tessera::distribution
