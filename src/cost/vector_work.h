#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/definition.h"
#include "ir/tensor_type.h"
#include "lowering/plan/nest.h"

namespace tessera::cost {

/// The work of the micro-kernel `loops` on a part of an operator, counted from its definition: operations on
/// groups of lanes. Their weighted sum is its time (linear_model.h); the machine's table lists times with
/// these counts, so that the weights are the machine's.
struct VectorWork {
    double steps = 0;        ///< groups of lanes that the body runs over
    double flops = 0;        ///< + - * / min max .. of the body
    double divisions = 0;    ///< not by a constant power of two
    double special = 0;      ///< exp, rsqrt ..
    double loads = 0;        ///< and stores, of elements that lie side by side or are the same
    double gathers = 0;      ///< one lane after the other: loads and stores at a stride or at an index
    double conversions = 0;  ///< of types other than f32, read or written
    double folds = 0;        ///< into an accumulator, each after the one before
    double ends = 0;         ///< of folds: lanes to one number, and the post-expression
    double waits = 0;        ///< for the end of the last fold, on which the next operations depend
    bool operator==(const VectorWork&) const = default;
};

/// A count, as the machine's table names it.
struct VectorWorkCount {
    const char* name;
    double VectorWork::*member;
};
inline constexpr std::array kVectorWorkCounts = {
    VectorWorkCount{"steps", &VectorWork::steps},
    VectorWorkCount{"flops", &VectorWork::flops},
    VectorWorkCount{"divisions", &VectorWork::divisions},
    VectorWorkCount{"special", &VectorWork::special},
    VectorWorkCount{"loads", &VectorWork::loads},
    VectorWorkCount{"gathers", &VectorWork::gathers},
    VectorWorkCount{"conversions", &VectorWork::conversions},
    VectorWorkCount{"folds", &VectorWork::folds},
    VectorWorkCount{"ends", &VectorWork::ends},
    VectorWorkCount{"waits", &VectorWork::waits},
};
/// In this order.
std::array<double, kVectorWorkCounts.size()> counts(const VectorWork& work);
std::map<std::string, int64_t> named(const VectorWork& work);  ///< rounded; 0 left out
VectorWork vector_work_of(const std::map<std::string, int64_t>& named);

/// One call over a part with these extents of the iterators, with `lanes` lanes along iterator x (-1:
/// scalars). `layouts`: of the tensors, as Definition::tensors; without them all are row-major. `registers`:
/// the number that a group of lanes takes; each folds into an accumulator of its own, so their folds go on
/// side by side.
VectorWork vector_work(const Definition& definition, const std::vector<int64_t>& extents, int x,
                       int64_t lanes, const std::vector<Layout>& layouts = {}, int64_t registers = 1);
/// The work of a leaf on a machine whose vector unit has so many lanes.
VectorWork vector_work(const Definition& definition, const std::vector<int64_t>& extents,
                       const plan::Leaf& leaf, int64_t lanes_of_a_register,
                       const std::vector<Layout>& layouts = {});

}  // namespace tessera::cost
