#include "cost/evaluate.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "cost/stopped_loops.h"
#include "ir/iterator_use.h"
#include "kernels/parameters.h"
#include "lowering/numbered_nest.h"
#include "support/error.h"

namespace tessera::cost {

using lowering::TiledKernel;
using lowering::TiledOperator;

namespace {

/// Of a call of a product beyond what the table shows, since it lists long calls: addresses, the first loads
/// and the last stores, some 30 cycles.
constexpr double kCallSeconds = 10e-9;

Evaluation impossible(const std::string& why) {
    return {.seconds = std::numeric_limits<double>::infinity(), .why_infinite = why};
}

}  // namespace

double Evaluator::seconds_of(const LeafCost& cost) {
    return cost.near_seconds + cost.calls * kCallSeconds;
}

/// A kernel at one point.
class Evaluator::OfKernel {
public:
    OfKernel(Evaluator& evaluator, const TiledKernel& kernel, size_t point)
        : evaluator_(evaluator), kernel_(kernel), point_(point) {
        for (size_t l = 0; l < kernel.loops.size(); ++l) {
            const lowering::TiledLoop& loop = kernel.loops[l];
            const int64_t around =
                loop.outer >= 0 ? sizes_[static_cast<size_t>(loop.outer)] : extent_of(loop.op, loop.iterator);
            sizes_.push_back(std::max<int64_t>(1, std::min(loop.tile, around)));
            const double all = static_cast<double>(around) / static_cast<double>(sizes_.back());
            trips_.push_back(all * executed_share(static_cast<int>(l)));
            shares_.push_back(trips_.back() / all);
        }
    }

    /// Of the trips of all workers, those of the one with most. @pre the sizes of this loop and those around
    /// it are known
    double executed_share(int at) const {
        const lowering::TiledLoop& loop = kernel_.loops[static_cast<size_t>(at)];
        const int64_t x = std::max<int64_t>(1, extent_of(loop.op, loop.iterator)),
                      workers = evaluator_.workers_;
        const int64_t tile = sizes_.back(), trips = (x + tile - 1) / tile;
        const double part = loop.is_divided
                                ? static_cast<double>(std::min(x, (trips + workers - 1) / workers * tile)) /
                                      static_cast<double>(x)
                                : 1;
        if (!loop.is_stopped) return part;
        for (int outer = loop.outer; outer >= 0; outer = kernel_.loops[static_cast<size_t>(outer)].outer)
            if (kernel_.loops[static_cast<size_t>(outer)].is_stopped) return part;
        const int y = evaluator_.links_.operators[static_cast<size_t>(loop.op)]
                          .ends[static_cast<size_t>(loop.iterator)]
                          ->grows_with;
        const auto root = std::ranges::find(kernel_.operators, loop.op, &TiledOperator::op);
        if (y < 0 || root == kernel_.operators.end()) return part;
        const auto depth = static_cast<size_t>(std::ranges::find(root->loops, at) - root->loops.begin());
        const StoppedLoop stopped{x, extent_of(loop.op, y), extents(*root, depth)[static_cast<size_t>(y)]};
        return loop.is_divided ? executed_share_of_first(stopped, tile, workers)
                               : cost::executed_share(stopped);
    }

    /// Extents of an operator's iterators within one trip of its first `depth` loops.
    std::vector<int64_t> extents(const TiledOperator& tiled, size_t depth) const {
        std::vector<int64_t> found;
        for (size_t x = 0; x < tiled.ranges.size(); ++x) {
            int loop = tiled.ranges[x].loop;
            while (loop >= 0 && depth < tiled.loops.size() && loop >= tiled.loops[depth])
                loop = kernel_.loops[static_cast<size_t>(loop)].outer;
            found.push_back(loop >= 0 ? sizes_[static_cast<size_t>(loop)]
                                      : std::max<int64_t>(1, extent_of(tiled.op, static_cast<int>(x))));
        }
        return found;
    }

    double executions(const TiledOperator& tiled, size_t depth) const {
        double count = 1;
        for (size_t j = 0; j < depth; ++j) count *= trips_[static_cast<size_t>(tiled.loops[j])];
        return count;
    }

    Evaluation evaluate(std::span<const int> leaves, const std::vector<bool>& is_tile) {
        measure_footprints();
        Evaluation sum;
        sum.levels.resize(evaluator_.capacity_.size());
        for (size_t i = 0; i < kernel_.operators.size(); ++i) {
            const TiledOperator& tiled = kernel_.operators[i];
            const plan::Leaf& leaf = evaluator_.leaf(leaves[i]);
            std::vector<int64_t> of_call = extents(tiled, tiled.loops.size());
            if (leaf.kernel->combines_parts) only_parts(tiled.op, of_call);
            const LeafCost& price =
                evaluator_.price(leaves[i], evaluator_.number_of_extents(tiled.op, of_call));
            if (!price.why_infinite.empty() && sum.why_infinite.empty())
                sum.why_infinite = fmt::format(
                    "{}: {}", evaluator_.links_.operators[static_cast<size_t>(tiled.op)].node->name,
                    price.why_infinite);
            const Definition& definition =
                *evaluator_.links_.operators[static_cast<size_t>(tiled.op)].node->definition();
            const std::set<int> streamed =
                leaf.kernel->streamed ? leaf.kernel->streamed(definition, leaf) : std::set<int>{};
            Evaluation here;
            here.levels.resize(sum.levels.size());
            transfer(tiled, leaf, definition, streamed, price.stall_per_byte, is_tile, here);
            // A product's time holds with its data in the near level, that of other operators with it in L1.
            double waiting = 0;
            for (size_t level = 0; level < sum.levels.size(); ++level) {
                if (level <= (streamed.empty() ? 0 : evaluator_.model_.near_level())) continue;
                const double seconds = here.levels[level] * rate(level);
                sum.levels[level] += seconds;
                waiting += seconds;
            }
            const double calls = executions(tiled, tiled.loops.size());
            const double near = seconds_of(price) * calls;
            sum.compute += near;
            sum.calls += calls;
            sum.stalls += here.stalls;
            sum.seconds += std::max(near + here.stalls, waiting);
        }
        if (!sum.why_infinite.empty()) sum.seconds = std::numeric_limits<double>::infinity();
        return sum;
    }

    /// The parts of the workers are in place of what was folded.
    void only_parts(int op, std::vector<int64_t>& extents) const {
        for (size_t x = 0; x < extents.size(); ++x)
            if (evaluator_.links_.operators[static_cast<size_t>(op)].is_reduction(static_cast<int>(x)))
                extents[x] = evaluator_.workers_;
    }

    /// Bytes of each storage that it touches outside of its tiles.
    std::map<int, double> touched(const std::vector<bool>& is_tile) const {
        std::map<int, double> sizes;
        for (const TiledOperator& tiled : kernel_.operators) {
            for (size_t t = 0; t < facts(tiled).tensors.size(); ++t) {
                const Tensor& tensor = facts(tiled).tensors[t];
                if (is_in_tiles(tiled, tensor, is_tile)) continue;
                double& size = sizes[tensor.storage];
                size = std::max(size, bytes(tiled, t, extents(tiled, 0)));
            }
        }
        return sizes;
    }

    double buffer_bytes(const std::vector<bool>& is_tile) const {
        double sum = 0;
        for (const TiledOperator& tiled : kernel_.operators) {
            if (!is_tile[static_cast<size_t>(tiled.op)]) continue;
            for (size_t t = 0; t < facts(tiled).tensors.size(); ++t) {
                const Tensor& tensor = facts(tiled).tensors[t];
                if (tensor.is_result) sum += bytes(tiled, t, extents(tiled, common_loops(tiled, tensor)));
            }
        }
        return sum;
    }

    /// The level in which a step finds a tensor; empty: as a kernel finds it that runs alone.
    std::function<size_t(const Tensor&)> found_in;

private:
    static bool is_in_tiles(const TiledOperator& tiled, const Tensor& tensor,
                            const std::vector<bool>& is_tile) {
        return tensor.is_result ? is_tile[static_cast<size_t>(tiled.op)]
                                : tensor.producer >= 0 && is_tile[static_cast<size_t>(tensor.producer)];
    }
    const Operator& facts(const TiledOperator& tiled) const {
        return evaluator_.operators_[static_cast<size_t>(tiled.op)];
    }
    int64_t extent_of(int op, int x) const {
        return evaluator_.operators_[static_cast<size_t>(op)].points[point_].extents[static_cast<size_t>(x)];
    }

    /// Bytes of a tensor with these extents of the iterators.
    double bytes(const TiledOperator& tiled, size_t tensor, const std::vector<int64_t>& extents) const {
        const AtPoint& here = facts(tiled).points[point_];
        return std::min(facts(tiled).tensors[tensor].bytes(extents) * here.padding[tensor],
                        here.whole[tensor]);
    }

    /// What one trip of each loop touches, each storage once; and the whole kernel.
    void measure_footprints() {
        footprints_.assign(kernel_.loops.size() + 1, 0);
        std::vector<std::pair<int, double>> touched;  // by storage
        for (size_t loop = 0; loop <= kernel_.loops.size(); ++loop) {
            touched.clear();
            const bool is_whole = loop == kernel_.loops.size();
            for (const TiledOperator& tiled : kernel_.operators) {
                const auto at = std::ranges::find(tiled.loops, static_cast<int>(loop));
                if (!is_whole && at == tiled.loops.end()) continue;
                const auto within =
                    extents(tiled, is_whole ? 0 : static_cast<size_t>(at - tiled.loops.begin()) + 1);
                for (size_t t = 0; t < facts(tiled).tensors.size(); ++t) {
                    const int storage = facts(tiled).tensors[t].storage;
                    const double size = bytes(tiled, t, within);
                    auto known = std::ranges::find(touched, storage, &std::pair<int, double>::first);
                    if (known == touched.end()) known = touched.insert(touched.end(), {storage, 0});
                    known->second = std::max(known->second, size);
                }
            }
            for (const auto& [storage, size] : touched) footprints_[loop] += size;
        }
    }

    double rate(size_t level) const { return evaluator_.model_.seconds_per_byte(level, evaluator_.workers_); }

    bool runs_with(const TiledOperator& tiled, const Tensor& tensor, int loop) const {
        return std::ranges::any_of(tensor.accesses, [&](const std::vector<int>& access) {
            return std::ranges::any_of(access,
                                       [&](int x) { return lowering::changes(kernel_, loop, tiled, x); });
        });
    }

    /// Whether each trip of the loop folds a part of the operator's reduction.
    bool folds(const TiledOperator& tiled, int loop) const {
        const lowering::BlockLinks::Operator& op = evaluator_.links_.operators[static_cast<size_t>(tiled.op)];
        for (int x = 0; x < static_cast<int>(tiled.ranges.size()); ++x)
            if (op.is_reduction(x) && lowering::changes(kernel_, loop, tiled, x)) return true;
        return false;
    }

    void transfer(const TiledOperator& tiled, const plan::Leaf& leaf, const Definition& definition,
                  const std::set<int>& streamed, double stall, const std::vector<bool>& is_tile,
                  Evaluation& sum) const {
        std::vector<std::vector<int64_t>> within;  // by depth
        for (size_t depth = 0; depth <= tiled.loops.size(); ++depth) within.push_back(extents(tiled, depth));
        for (size_t t = 0; t < facts(tiled).tensors.size(); ++t) {
            const Tensor& tensor = facts(tiled).tensors[t];
            if (definition.tensors[t].role == Role::kIndex) continue;
            if (leaf.kernel->combines_parts) {
                const double parts =
                    static_cast<double>(evaluator_.workers_) * facts(tiled).points[point_].whole[t];
                if (tensor.is_result)
                    sum.levels[evaluator_.level_of(parts)] += executions(tiled, tiled.loops.size()) *
                                                              static_cast<double>(evaluator_.workers_) *
                                                              bytes(tiled, t, within.back());
                continue;
            }
            const bool is_streamed = streamed.contains(static_cast<int>(t));
            const auto move = [&](size_t level, double bytes) {
                // A line that is written to memory is read first, and the store waits for it.
                const bool is_read_first = tensor.is_result && level + 1 == sum.levels.size();
                sum.levels[level] += (is_read_first ? 2 : 1) * bytes;
                if (is_streamed)
                    sum.stalls += bytes * evaluator_.model_.stall_per_byte(stall, level, evaluator_.workers_);
                if (is_read_first) sum.stalls += 2 * bytes * rate(level);
            };
            size_t first = 0;  // the outermost loop that the tile of a value is inside of
            if (is_in_tiles(tiled, tensor, is_tile)) {
                first = common_loops(tiled, tensor);
                const double footprint = first == 0
                                             ? footprints_.back()
                                             : footprints_[static_cast<size_t>(tiled.loops[first - 1])];
                move(evaluator_.level_of(footprint),
                     executions(tiled, first) * bytes(tiled, t, within[first]));
            } else {
                const double whole = facts(tiled).points[point_].whole[t];
                double share = 1;
                for (const int loop : tiled.loops)
                    if (runs_with(tiled, tensor, loop)) share *= shares_[static_cast<size_t>(loop)];
                move(found_in             ? found_in(tensor)
                     : tensor.is_constant ? evaluator_.constants_
                                          : evaluator_.level_of(whole),
                     share * tensor.lines_read(within.back()) * bytes(tiled, t, within[0]));
            }
            for (size_t j = first; j < tiled.loops.size(); ++j) {
                const int loop = tiled.loops[j];
                if (runs_with(tiled, tensor, loop)) continue;
                const double again = (trips_[static_cast<size_t>(loop)] - 1) * executions(tiled, j) *
                                     bytes(tiled, t, within[j + 1]);
                const size_t level = evaluator_.level_of(footprints_[static_cast<size_t>(loop)]);
                move(level, again);
                // A product that is folded in parts is loaded before each and stored behind it. The table has
                // times of long reductions; those of a streaming softmax are of short ones.
                if (tensor.is_result && leaf.kernel->product.n && folds(tiled, loop))
                    sum.stalls += 2 * again * rate(level);
            }
            transfer_inside(tiled, leaf, definition, t, within.back(), move);
        }
    }

    /// A product goes over groups of columns outside and over blocks of rows inside: what no column indexes
    /// is read again for every group of them, behind all rows and a panel of the others.
    template <typename Move>
    void transfer_inside(const TiledOperator& tiled, const plan::Leaf& leaf, const Definition& definition,
                         size_t t, const std::vector<int64_t>& extents, const Move& move) const {
        if (!leaf.kernel->product.n || !leaf.is_given(*leaf.kernel->product.n)) return;
        const int n = plan::iterator_of(definition, leaf, *leaf.kernel->product.n);
        const Tensor& tensor = facts(tiled).tensors[t];
        for (const std::vector<int>& access : tensor.accesses)
            if (contains(access, n)) return;
        const auto columns = std::max<int64_t>(
            1, leaf.number(kernels::parameter::kLanes) * leaf.number(kernels::parameter::kGroups));
        const int64_t all = extents[static_cast<size_t>(n)];
        if (all <= columns) return;
        std::vector<int64_t> group = extents;
        group[static_cast<size_t>(n)] = columns;
        double footprint = 0;
        for (size_t other = 0; other < facts(tiled).tensors.size(); ++other)
            footprint += bytes(tiled, other, group);
        const double again = (static_cast<double>(all) / static_cast<double>(columns) - 1) *
                             executions(tiled, tiled.loops.size());
        move(evaluator_.level_of(footprint), again * bytes(tiled, t, extents));
    }

    /// Number of loops around both the operator and the others that make or read the tensor.
    size_t common_loops(const TiledOperator& tiled, const Tensor& tensor) const {
        size_t common = tiled.loops.size();
        for (const TiledOperator& other : kernel_.operators) {
            const bool touches = std::ranges::any_of(
                facts(other).tensors, [&](const Tensor& t) { return t.storage == tensor.storage; });
            if (!touches) continue;
            size_t shared = 0;
            while (shared < common && shared < other.loops.size() &&
                   other.loops[shared] == tiled.loops[shared])
                ++shared;
            common = shared;
        }
        return common;
    }

    Evaluator& evaluator_;
    const TiledKernel& kernel_;
    const size_t point_;
    std::vector<int64_t> sizes_;      ///< by loop: values of one trip
    std::vector<double> trips_;       ///< by loop: of the worker with most
    std::vector<double> shares_;      ///< by loop: those of all trips
    std::vector<double> footprints_;  ///< by loop: bytes of one trip; last: of the kernel
};

double Evaluator::barrier_seconds() const {
    double weights = 0;
    for (const WeightedSizes& point : points_) weights += point.weight;
    return weights * model_.barrier_seconds(workers_);
}

Evaluator::Part Evaluator::part(const TiledKernel& kernel, size_t at) {
    Part part;
    const TiledOperator& tiled = kernel.operators[at];
    for (size_t p = 0; p < points_.size(); ++p) {
        const OfKernel here(*this, kernel, p);
        part.extents.push_back(number_of_extents(tiled.op, here.extents(tiled, tiled.loops.size())));
        part.executions.push_back(here.executions(tiled, tiled.loops.size()));
    }
    return part;
}

double Evaluator::compute(const Part& part, int leaf) {
    double seconds = 0;
    for (size_t p = 0; p < points_.size(); ++p) {
        const LeafCost& cost = price(leaf, part.extents[p]);
        if (!cost.why_infinite.empty()) return std::numeric_limits<double>::infinity();
        seconds += points_[p].weight * seconds_of(cost) * part.executions[p];
    }
    return seconds;
}

Evaluator::Numbered Evaluator::numbered(const plan::Nest& nest, const std::vector<bool>& is_tile) {
    Numbered found{lowering::tiled_kernel(links_, lowering::numbered(links_, nest), is_tile), {}};
    for (const plan::Leaf* leaf : plan::leaves(nest))
        found.leaves.push_back(number_of(links_.find(leaf->node), *leaf));
    return found;
}

std::vector<Evaluation> Evaluator::at_points(const TiledKernel& kernel, std::span<const int> leaves,
                                             const std::vector<bool>& is_tile) {
    std::vector<Evaluation> all;
    for (size_t p = 0; p < points_.size(); ++p)
        all.push_back(OfKernel(*this, kernel, p).evaluate(leaves, is_tile));
    return all;
}

Evaluation Evaluator::operator()(const TiledKernel& kernel, std::span<const int> leaves,
                                 const std::vector<bool>& is_tile) {
    Evaluation mean = mean_of(at_points(kernel, leaves, is_tile));
    mean.buffer_bytes = OfKernel(*this, kernel, points_.size()).buffer_bytes(is_tile);
    return mean;
}

Evaluation Evaluator::operator()(const plan::Nest& nest, const std::vector<bool>& is_tile) {
    const Numbered found = numbered(nest, is_tile);
    if (!found.kernel.problem.empty()) return impossible(found.kernel.problem);
    return (*this)(found.kernel, found.leaves, is_tile);
}

std::vector<Evaluation> Evaluator::at_points(const plan::Nest& nest, const std::vector<bool>& is_tile) {
    const Numbered found = numbered(nest, is_tile);
    if (!found.kernel.problem.empty())
        return std::vector<Evaluation>(points_.size(), impossible(found.kernel.problem));
    return at_points(found.kernel, found.leaves, is_tile);
}

std::vector<Evaluator::Touched> Evaluator::touched(const TiledKernel& kernel,
                                                   const std::vector<bool>& is_tile) {
    std::map<ValueId, double> bytes;
    for (const auto& [storage, size] : OfKernel(*this, kernel, 0).touched(is_tile))
        bytes[storages_[static_cast<size_t>(storage)]] = size;
    std::vector<Touched> found;
    for (const auto& [storage, size] : bytes) found.push_back({storage, size});
    return found;
}

Evaluation Evaluator::after_others(const Numbered& kernel, const std::vector<bool>& is_tile,
                                   const std::map<ValueId, size_t>& levels) {
    if (!kernel.kernel.problem.empty()) return impossible(kernel.kernel.problem);
    OfKernel here(*this, kernel.kernel, 0);
    here.found_in = [&](const Tensor& tensor) {
        return levels.at(storages_[static_cast<size_t>(tensor.storage)]);
    };
    return here.evaluate(kernel.leaves, is_tile);
}

Evaluation Evaluator::mean_of(const std::vector<Evaluation>& at_points) const {
    Evaluation mean;
    mean.levels.resize(capacity_.size());
    for (size_t p = 0; p < points_.size(); ++p) {
        const double weight = points_[p].weight;
        const Evaluation& here = at_points[p];
        mean.compute += weight * here.compute;
        mean.calls += weight * here.calls;
        mean.stalls += weight * here.stalls;
        for (size_t level = 0; level < capacity_.size(); ++level)
            mean.levels[level] += weight * here.levels[level];
        mean.seconds += weight * here.seconds;
        if (mean.why_infinite.empty()) mean.why_infinite = here.why_infinite;
    }
    return mean;
}

}  // namespace tessera::cost
