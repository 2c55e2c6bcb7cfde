#pragma once

#include <optional>
#include <string>
#include <vector>

#include "import/onnx/form_folding.h"
#include "import/onnx/onnx_model.h"
#include "import/weights.h"
#include "ir/graph.h"

namespace tessera::import::onnx {

/// A value of an ONNX graph while it is imported: known, or made by the graph of the IR, or both.
struct Operand {
    DataType type = DataType::kUndefined;
    std::vector<Dim> shape;               ///< no axes: a scalar, which the IR holds as [1]
    std::optional<TensorContents> known;  ///< contents, where they are known when the model is compiled
    std::optional<ValueId> id;            ///< in the graph, once something reads it there
    /// The elements, where they are known up to the symbols of the graph, and do not all follow without them.
    std::optional<Forms> forms = {};
    /// The same of what a node computes from its places alone, such as 0, 1, 2, ... along a symbolic extent.
    std::optional<Forms> places = {};
    /// The extents of its value in the graph, where it is the first part of that; else empty.
    std::vector<Dim> room = {};
    bool may_exceed = false;  ///< UINT64 that arithmetic makes, maybe 2^63 or more (unsigned_range.h)
    std::string cache = {};   ///< of an aliased input: its name; it can only be appended to

    size_t rank() const { return shape.size(); }
    bool is_static() const;
    /// @throws Error if one is symbolic
    std::vector<int64_t> extents() const;
    int64_t elements() const;
    ElementType element() const;  ///< @pre the IR has the type
};

/// @throws Error for an aliased input, to which a step only appends
void expect_readable(const Operand& operand);
/// As the IR holds it: with one axis at least.
std::vector<Dim> stored_shape(const std::vector<Dim>& shape);
std::vector<Dim> dims_of(const std::vector<int64_t>& extents);

/// Limits of what a model may ask for: of one extent, of the elements of a tensor, and of those of a table
/// that is made when the model is imported.
inline constexpr int64_t kMostExtent = int64_t{1} << 31;
inline constexpr int64_t kMostElements = int64_t{1} << 40;
inline constexpr int64_t kMostKnown = int64_t{1} << 21;
/// @throws Error for a shape beyond them
void check_size(const std::vector<Dim>& shape);

/// The contents of a file. @throws Error for a type that the IR cannot hold
Operand operand_of(const Tensor& tensor);
/// A known operand of these numbers, rounded to the type. @pre the IR has the type
Operand known_numbers(DataType type, const std::vector<int64_t>& shape, const std::vector<double>& numbers);
Operand known_scalar(DataType type, double number);
/// The same of INT64, exact.
Operand known_int64(const std::vector<int64_t>& shape, const std::vector<int64_t>& integers);
/// Elements of INT64, INT32 or BOOL by their forms; known where no symbol occurs.
Operand operand_of_forms(DataType type, const std::vector<Dim>& shape, Forms forms);
/// The forms of an operand that has some, or is known. @pre of integers
std::optional<Forms> forms_of(const Operand& operand);
/// The contents as numbers. @pre known, of a type of the IR
std::vector<double> numbers_of(const Operand& operand);
/// The same of integers, exact. @pre as above
std::vector<int64_t> integers_of(const Operand& operand);

}  // namespace tessera::import::onnx
