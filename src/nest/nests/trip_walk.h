#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nest/nests/nest.h"
#include "nest/nests/ranges.h"

namespace tessera::nests {

/// Steps that a walk takes to remember a box.
inline constexpr int64_t kStepsOfBox = 16;

struct WalkOptions {
    /// Trips, passages, and what is remembered of them. A million takes about a second.
    int64_t steps = int64_t{1} << 24;
};

/// Over all units.
struct OperatorCounts {
    int64_t executions = 0;
    int64_t points = 0;          ///< iterations of the executed regions, `where` ignored
    int64_t held_points = 0;     ///< softmax_sum: the same with the iterators held that L does not use
    int64_t elements_ended = 0;  ///< to which a post-expression is applied
    bool operator==(const OperatorCounts&) const = default;
};

/// Loops, items and executions of a nest in their order. For `m:16@unit { load B; k:8 { c } e }` it goes
///
///     unit (m 0): pass load B, execute c (k 0), execute c (k 1), execute e;  unit (m 1): ..
///
/// Its clients decide what moves.
class TripWalk {
public:
    TripWalk(const TripWalk&) = delete;
    TripWalk& operator=(const TripWalk&) = delete;

protected:
    TripWalk(const Kernel& kernel, const Nest& nest, const WalkOptions& options);
    virtual ~TripWalk() = default;

    /// @throws Error beyond the steps that are allowed, and of counts beyond 64 bits
    void run() { run_brace(0, 0); }

    virtual void begin_unit() = 0;
    virtual void end_unit() = 0;
    virtual void pass(const Move& move) = 0;
    /// In the region `region_`, which is not empty. @param begins the reduction, if there is one
    virtual void execute(int op, bool begins) = 0;

    const Operator& op_at(int op) const { return kernel_.operators[static_cast<size_t>(op)]; }
    size_t depth_of(int op) const { return nest_.around[static_cast<size_t>(op)].size(); }
    void charge(int64_t steps);
    /// Covers what all operators read that read the tensor, when only the first `depth` loops count. False if
    /// that is nothing.
    bool box_of_readers(Ranges& ranges, int tensor, size_t depth, Box& box);
    /// The box that the maker's map reaches in these ranges.
    static void box_of_result(const Result& result, const facts::IterationBox& ranges, Box& box);

    const Kernel& kernel_;
    const Nest& nest_;
    Ranges ranges_;
    /// As if the units walked in step: in each unit the loops over units have one trip, over everything.
    Ranges ranges_of_all_units_;
    facts::IterationBox region_;
    int64_t units_ = 0;
    std::vector<OperatorCounts> operators_;    ///< as Kernel::operators
    std::optional<std::string> folded_twice_;  ///< why softmax_sum would be wrong

private:
    void run_brace(int number, size_t loop);
    void run_loop(int number, size_t at);
    void check_folds(const Loop& loop, int64_t count);
    void run_operator(int number);
    void count(int number, bool ends);

    int64_t steps_;
    int64_t steps_left_;
    facts::IterationBox reader_region_;
    Box reader_box_;
};

}  // namespace tessera::nests
