#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/definition.h"

/// Products of matrices in definitions: their factors, and what each iterator is to two of them. Which of
/// these a micro-kernel or a unit can compute is for kernels/, rules/ and partition/ to say.
namespace tessera::facts {

/// The casts that count as nothing.
enum class Casts : uint8_t {
    kAll,
    kToF32,  ///< in which compiled code computes; other casts round
};
const ExprPtr& below_casts(const ExprPtr& expr, Casts casts);

/// The factors of a product, from left to right, below such casts; the expression if it is none.
std::vector<ExprPtr> factors_of(const ExprPtr& expr, Casts casts);

/// The factors of the product that a definition sums, from left to right, below such casts; one factor if it
/// sums something else, none if it is no sum.
std::vector<ExprPtr> summed_factors(const Definition& definition, Casts casts);

/// Two factors without which nothing else is summed, casts aside: elements of operands; or the score of a
/// streaming softmax, which stands for its weight, and the value. Nothing where there are others.
std::optional<std::pair<ExprPtr, ExprPtr>> two_factors(const Definition& definition);

/// The iterators of C[rows, columns] = sum over `summed` of left[rows, summed] * right[columns, summed], each
/// list ascending. Kept is an iterator that stands in the map of a result.
struct ProductRoles {
    std::vector<int> rows;     ///< kept, of the left factor only
    std::vector<int> columns;  ///< kept, of the right factor only
    std::vector<int> summed;   ///< of both, not kept
    std::vector<int> batch;    ///< all others
    bool operator==(const ProductRoles&) const = default;
};
/// @param left, right iterators of the two factors
ProductRoles product_roles(const Definition& definition, const std::vector<int>& left,
                           const std::vector<int>& right);

}  // namespace tessera::facts
