#include "cost/recurrence_work.h"

#include <algorithm>

#include "ir/facts/linear_recurrence.h"
#include "ir/iterator_use.h"
#include "ir/recurrence.h"

namespace tessera::cost {
namespace {

class WorkOfLines {
public:
    WorkOfLines(const Definition& definition, const std::vector<int64_t>& extents, int x, int64_t lanes,
                int64_t registers)
        : d_(definition),
          extents_(extents),
          x_(x),
          lanes_(lanes),
          registers_(static_cast<double>(registers)) {}

    /// One value of the ordered iterator after the other.
    VectorWork one_by_one(double values) const {
        VectorWork work{.waits = 1};
        for (size_t line = 0; line < d_.lines.size(); ++line) add_line(line, values, work);
        return work;
    }

    /// `chunks` times `steps` values together (lowering/kernels/chunk.cpp).
    VectorWork together(const facts::LinearRecurrence& linear, double chunks, double steps) const {
        const double queries = static_cast<double>(d_.lines.size()) - 1, passes = linear.carry > 0 ? 2 : 1;
        const LineIterators state = line_iterators(d_, linear.carry);
        const double elements = chunks * trips(state.kept);
        std::vector<int> parallel = state.kept;
        std::erase(parallel, linear.n);
        const double groups = chunks * trips(parallel);
        std::erase(parallel, linear.x);
        const int64_t row = (extents_[static_cast<size_t>(linear.n)] + lanes_ - 1) / lanes_;
        const double rows = chunks * trips(parallel) * static_cast<double>(row);
        VectorWork work{.waits = 1};
        work.steps = elements * registers_;
        work.loads = (passes + 1) * elements * registers_;
        work.flops = passes * elements * registers_;
        work.folds = (steps * (queries + 1) + 1) * elements * registers_;
        // The values of a chunk that its results are made of, and the results.
        work.folds += queries * steps * (steps + 1) / 2 * groups * registers_;
        work.loads += (queries + 1) * steps * groups * registers_;
        // Keys and queries by rows, and their products.
        work.flops += (queries + 1) * steps * rows * registers_;
        work.loads += 2 * (queries + 1) * steps * rows * registers_;
        work.folds += queries * steps * (steps + 1) / 2 * rows * registers_;
        work.ends = queries * steps * (steps + 1) / 2 * chunks * trips(parallel);
        return work;
    }

private:
    double trips(const std::vector<int>& iterators) const {
        double all = 1;
        for (const int y : iterators) {
            const int64_t extent = extents_[static_cast<size_t>(y)];
            all *= static_cast<double>(y == x_ ? (extent + lanes_ - 1) / lanes_ : extent);
        }
        return all;
    }

    void add_line(size_t number, double values, VectorWork& work) const {
        const LineIterators iterators = line_iterators(d_, number);
        const double results = values * trips(iterators.kept) * registers_;
        const double points = results * trips(iterators.folded);
        const RecurrenceLine& line = d_.lines[number];
        work.steps += points;
        add(d_.body[number], points, iterators, work);
        if (line.post) add(line.post, results, iterators, work);
        work.loads += results;  // stored
        if (line.fold != Monoid::kNone) {
            work.folds += points;
            work.ends += results;
        }
    }

    /// The part that differs between the lanes, or all where the line has none.
    void add(const ExprPtr& expr, double times, const LineIterators& iterators, VectorWork& work) const {
        const bool has_lanes = contains(iterators.kept, x_);
        walk(expr, [&](const Expr& node) {
            const auto* call = std::get_if<Apply>(&node.node);
            if (!call) return !std::holds_alternative<Read>(node.node);
            if (!has_lanes || uses(call->arguments, x_)) {
                double& kind = is_special(call->function)            ? work.special
                               : call->function == Function::kDivide ? work.divisions
                                                                     : work.flops;
                kind += times;
            }
            return true;
        });
        // Those that a loop of the line changes; a fold of what the line above has made reads it with that.
        for (const Read& read : reads_in({expr})) {
            const bool is_changed =
                std::ranges::any_of(iterators.folded, [&](int y) { return uses(read.coordinates, y); });
            const bool is_carried = d_.tensors[static_cast<size_t>(read.tensor)].role == Role::kUpdate;
            if ((is_changed || is_carried) && (!has_lanes || uses(read.coordinates, x_))) work.loads += times;
        }
    }

    const Definition& d_;
    const std::vector<int64_t>& extents_;
    const int x_;
    const int64_t lanes_;
    const double registers_;
};

VectorWork together_with(VectorWork a, const VectorWork& b) {
    for (const auto& [name, member] : kVectorWorkCounts) a.*member += b.*member;
    return a;
}

}  // namespace

VectorWork recurrence_work(const Definition& recurrence, const std::vector<int64_t>& extents, int x,
                           int64_t lanes, int64_t registers, int64_t steps) {
    const WorkOfLines counting(recurrence, extents, x, lanes, registers);
    const int64_t values = extents[static_cast<size_t>(ordered_iterator(recurrence))];
    const auto linear = steps > 1 ? facts::linear_recurrence(recurrence, x) : std::nullopt;
    const int64_t chunks = linear ? values / steps : 0;
    const VectorWork rest = counting.one_by_one(static_cast<double>(values - chunks * steps));
    return chunks == 0 ? rest
                       : together_with(rest, counting.together(*linear, static_cast<double>(chunks),
                                                               static_cast<double>(steps)));
}

}  // namespace tessera::cost
