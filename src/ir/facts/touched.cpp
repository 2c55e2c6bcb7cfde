#include "ir/facts/touched.h"

#include "ir/checked_arithmetic.h"
#include "ir/facts/image.h"

namespace tessera::facts {

std::vector<Touched> derive_touched(const BoundDefinition& bound) {
    const ExecutedIterations executed(bound, whole_box(bound));
    std::vector<Touched> facts;
    for (size_t t = 0; t < bound.definition.tensors.size(); ++t) {
        const int tensor = static_cast<int>(t);
        ElementSet reached(static_cast<size_t>(bound.rank(tensor)));
        const std::vector<Range> within = ranges_of(bound.shape(tensor));
        if (!executed.none())
            for (const Access& access : accesses_of(bound.definition, tensor)) {
                if (access.in_predicate) continue;
                for (const IterationBox& box : executed.project(iterators_in(access.coordinates)))
                    add_image(reached, bound, access.coordinates, box, within);
            }
        for (const Access& access : accesses_of(bound.definition, tensor))
            if (access.in_predicate) add_image(reached, bound, access.coordinates, whole_box(bound), within);
        const int64_t elements = reached.count();
        const int64_t in_bits = checked_mul(elements, bits(bound.tensor(tensor).type), bound.where);
        facts.push_back({elements, in_bits / 8 + (in_bits % 8 != 0)});
    }
    return facts;
}

namespace {

/// True if an executed iteration has coordinates within these ranges.
bool any_product(const BoundDefinition& bound, const ExecutedIterations& executed,
                 const std::vector<ExprPtr>& coordinates, const std::vector<Range>& within) {
    bool any = false;
    for (const IterationBox& box : executed.project(iterators_in(coordinates))) {
        for_each_product(bound, coordinates, box, within, [&](const std::vector<IntegerSet>&) {
            any = true;
            return false;
        });
        if (any) return true;
    }
    return false;
}

}  // namespace

bool reaches_anything(const BoundDefinition& bound, const ExecutedIterations& executed, int tensor,
                      const std::vector<ExprPtr>& coordinates) {
    if (executed.none()) return false;
    const std::vector<Range> within = ranges_of(bound.shape(tensor));
    return any_product(bound, executed, coordinates, within);
}

bool reach_together(const BoundDefinition& bound, const ExecutedIterations& executed,
                    const std::vector<Read>& reads) {
    constexpr int64_t kCombinations = int64_t{1} << 20;
    std::vector<ExprPtr> coordinates;
    std::vector<Range> within;
    for (const Read& read : reads) {
        const std::vector<Range> shape = ranges_of(bound.shape(read.tensor));
        coordinates.insert(coordinates.end(), read.coordinates.begin(), read.coordinates.end());
        within.insert(within.end(), shape.begin(), shape.end());
    }
    int64_t combinations = 1;
    for (const int i : iterators_in(coordinates))
        if (__builtin_mul_overflow(combinations, bound.extents.iterators[static_cast<size_t>(i)],
                                   &combinations) ||
            combinations > kCombinations)
            return true;
    return any_product(bound, executed, coordinates, within);
}

bool stays_in_range(const BoundDefinition& bound, const ExecutedIterations& executed, int tensor,
                    const std::vector<ExprPtr>& coordinates) {
    const std::vector<int64_t>& shape = bound.shape(tensor);
    const std::vector<Range> anywhere(shape.size(), Range{-(int64_t{1} << 60), int64_t{1} << 60});
    if (executed.none()) return true;
    for (const IterationBox& box : executed.project(iterators_in(coordinates))) {
        const auto around = image_bounds(bound, coordinates, box, anywhere);
        for (size_t a = 0; around && a < shape.size(); ++a)
            if ((*around)[a].first < 0 || (*around)[a].last > shape[a]) return false;
    }
    return true;
}

}  // namespace tessera::facts
