#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/integer_value.h"
#include "ir/interpreter.h"

namespace tessera {

/// Minimum and maximum that propagate NaN, as IEEE 754-2019 `minimum` and `maximum` do.
double smallest(double a, double b);
double largest(double a, double b);
/// Two numbers folded. @pre the monoid folds numbers
double fold(Monoid monoid, double a, double b);
/// Floor division and remainder in float64; the remainder has the sign of the divisor and is exact.
double floor_div(double a, double b);
double floor_mod(double a, double b);

/// The value of one operation of a body on float64 arguments.
double apply_function(Function function, std::span<const double> arguments);

/// Bodies, predicates and maps at one iteration.
class BodyValue {
public:
    /// Without `held` all elements may be read.
    BodyValue(const Definition& definition, const BoundExtents& extents,
              const std::vector<TensorData>& tensors, const std::string& where,
              const HeldElements* held = nullptr);
    BodyValue(const BodyValue&) = delete;
    BodyValue& operator=(const BodyValue&) = delete;

    std::vector<int64_t> iterators;  ///< the iteration
    double folded = 0;               ///< value of Folded
    double outside = 0;              ///< value of a read outside the tensor

    double value(const Expr& expr) const;
    /// The value of one component of a map.
    int64_t coordinate(const Expr& component) const;
    /// The row-major position of the element at these coordinates, empty outside the tensor.
    std::optional<int64_t> position(int tensor, const std::vector<ExprPtr>& coordinates) const;
    /// "at t = 3, d = 1", for errors.
    std::string iteration() const;

private:
    struct Evaluated {
        double value;
        bool is_integer;  ///< made of integers alone; there is one integer 0, without a sign
    };
    Evaluated evaluate(const Expr& expr) const;
    double read(const Read& read) const;
    int64_t read_index(const Read& read) const;
    void check_held(const Read& read, int64_t position) const;

    const Definition& definition_;
    const BoundExtents& extents_;
    const std::vector<TensorData>& tensors_;
    const std::string& where_;
    const HeldElements* held_;
    IntegerScope scope_;
};

}  // namespace tessera
