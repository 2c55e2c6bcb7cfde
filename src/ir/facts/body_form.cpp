#include "ir/facts/body_form.h"

#include <algorithm>

#include "ir/facts/touched.h"

namespace tessera::facts {
namespace {

AlgebraOptions algebra_options(const BoundDefinition& bound, const ExecutedIterations& iterations,
                               const BodyFormOptions& options) {
    AlgebraOptions algebra;
    algebra.real_tensor = options.real_tensor;
    algebra.folded = options.folded;
    algebra.finite_reads = options.finite_reads;
    algebra.iterators = iterations.ranges();
    algebra.constant_read = [&bound, &iterations,
                             outside = options.outside](const Read& read) -> std::optional<double> {
        if (reaches_anything(bound, iterations, read.tensor, read.coordinates)) return std::nullopt;
        return outside;
    };
    if (options.outside_in_ranges)
        algebra.outside = [&bound, &iterations,
                           outside = options.outside](const Read& read) -> std::optional<double> {
            if (stays_in_range(bound, iterations, read.tensor, read.coordinates)) return std::nullopt;
            return outside;
        };
    return algebra;
}

// The reads of a monomial, each of which makes it 0 where it is out of range.
std::vector<Read> factors_read(const Algebra& algebra, const Monomial& monomial) {
    std::vector<Read> reads;
    for (const auto& [id, exponent] : monomial)
        if (const AlgebraAtom& atom = algebra.atom(id); atom.kind == AlgebraAtom::Kind::kRead && exponent > 0)
            reads.push_back({atom.index, false, atom.coordinates});
    return reads;
}

}  // namespace

BodyForm::BodyForm(const BoundDefinition& bound, const ExprPtr& expr, const ExecutedIterations& iterations,
                   const BodyFormOptions& options)
    : algebra(bound, algebra_options(bound, iterations, options)), value(algebra.normal_form(expr)) {
    if (options.outside != 0) return;
    std::erase_if(value, [&](const auto& term) {
        const std::vector<Read> reads = factors_read(algebra, term.first);
        const bool may_leave = std::ranges::any_of(reads, [&](const Read& read) {
            return !stays_in_range(bound, iterations, read.tensor, read.coordinates);
        });
        return may_leave && reads.size() > 1 && !reach_together(bound, iterations, reads);
    });
}

}  // namespace tessera::facts
