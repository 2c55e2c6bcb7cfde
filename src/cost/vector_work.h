#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/definition.h"
#include "ir/tensor_type.h"

namespace tessera {

/// What the micro-kernel `loops` does on a part of an operator, counted from its definition: operations on
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
    bool operator==(const VectorWork&) const = default;
};

/// As the machine's table names it.
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
};
/// In this order.
std::array<double, kVectorWorkCounts.size()> counts(const VectorWork& work);
std::map<std::string, int64_t> named(const VectorWork& work);  ///< rounded; 0 left out
VectorWork vector_work_of(const std::map<std::string, int64_t>& named);

/// Over a part with these extents of the iterators, with `lanes` lanes along iterator x (-1: scalars).
/// `layouts`: of the tensors, as Definition::tensors; without them all are row-major.
VectorWork vector_work(const Definition& definition, const std::vector<int64_t>& extents, int x,
                       int64_t lanes, const std::vector<Layout>& layouts = {});

}  // namespace tessera
