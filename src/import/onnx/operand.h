#pragma once

#include <optional>
#include <string>
#include <vector>

#include "import/onnx/tensor_type.h"
#include "import/weights.h"
#include "ir/graph.h"

namespace tessera::import::onnx {

/// A value of an ONNX graph while it is imported: known, or made by the graph of the IR, or both.
struct Operand {
    DataType type = DataType::kUndefined;
    std::vector<Dim> shape;               ///< no axes: a scalar, which the IR holds as [1]
    std::optional<TensorContents> known;  ///< contents, where they are known when the model is compiled
    std::optional<ValueId> id;            ///< in the graph, once something reads it there

    size_t rank() const { return shape.size(); }
    bool is_static() const;
    /// @pre is_static()
    std::vector<int64_t> extents() const;
    int64_t elements() const;
    ElementType element() const;  ///< @pre the IR has the type
};

/// As the IR holds it: with one axis at least.
std::vector<Dim> stored_shape(const std::vector<Dim>& shape);
std::vector<Dim> dims_of(const std::vector<int64_t>& extents);

/// A known operand of these numbers, rounded to the type. @pre the IR has the type
Operand known_numbers(DataType type, const std::vector<int64_t>& shape, const std::vector<double>& numbers);
Operand known_scalar(DataType type, double number);
/// The contents as numbers. @pre known, of a type of the IR
std::vector<double> numbers_of(const Operand& operand);
/// The same of integers, exact. @pre as above
std::vector<int64_t> integers_of(const Operand& operand);

}  // namespace tessera::import::onnx
