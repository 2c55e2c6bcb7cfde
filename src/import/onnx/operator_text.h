#pragma once

#include <string>
#include <vector>

#include "import/onnx/operand.h"

namespace tessera::import::onnx {

/// A structured operator that is being written, in the notation of operators (docs/operators.md): iterators,
/// what is read at which coordinates, and what a result's element is.
///
///     OperatorText("MatMul").over("m", 3).over("n", 4).folding("k", 8)
///         .read(a, "A", {"m", "k"}).read(b, "B", {"k", "n"})
///         .write(DataType::kFloat, {3, 4}, {"m", "n"}, "sum(A * B)")
class OperatorText {
public:
    explicit OperatorText(std::string name) : name_(std::move(name)) {}

    OperatorText& over(const std::string& iterator, const Dim& extent);
    OperatorText& folding(const std::string& iterator, const Dim& extent);
    /// An operand; a scalar has no coordinates.
    OperatorText& read(const Operand& operand, const std::string& name, std::vector<std::string> coordinates);
    /// An operand that maps may read.
    OperatorText& index(const Operand& operand, const std::string& name,
                        std::vector<std::string> coordinates);
    OperatorText& where(std::string predicate);
    /// Numbers of 64 bits, where the types alone would not ask for them.
    OperatorText& wide();
    /// The result; a scalar has no coordinates.
    OperatorText& write(DataType type, std::vector<Dim> shape, std::vector<std::string> coordinates,
                        std::string value);

    /// The result is contents of these extents that are there already, of which the iterations overwrite
    /// elements.
    OperatorText& update(DataType type, std::vector<Dim> shape, std::vector<std::string> coordinates,
                         std::string value);

    struct Tensor {
        Operand operand;
        std::string name;
        std::vector<std::string> coordinates;
        bool is_index;
    };
    /// In the order of the definition.
    std::vector<Tensor> operands() const;
    DataType result_type() const { return type_; }
    const std::vector<Dim>& result_shape() const { return shape_; }
    const std::string& name() const { return name_; }
    /// For ops::define.
    std::string text() const;
    /// The same without any iteration, where an extent is 0: elements are those of an empty fold.
    OperatorText of_nothing() const;
    /// The product of the extents; the largest number where one is symbolic.
    int64_t iterations() const;

private:
    struct Axis {
        std::string name;
        Dim extent;
        bool is_folded;
    };
    std::string arithmetic() const;

    std::string name_;
    std::vector<Axis> axes_;
    std::vector<Tensor> tensors_;
    std::string predicate_;
    bool is_wide_ = false, updates_ = false;
    DataType type_ = DataType::kUndefined;
    std::vector<Dim> shape_;
    std::vector<std::string> coordinates_;
    std::string value_;
};

}  // namespace tessera::import::onnx
