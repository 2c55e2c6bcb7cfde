#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/facts/bound_definition.h"
#include "ir/facts/work.h"
#include "nest/nests/kernel_file.h"
#include "nest/nests/read_box.h"

/// Several operators that share tensors by name.
namespace tessera::nests {

/// An axis of a result: an iterator of its operator plus a constant >= 0.
struct ResultAxis {
    size_t iterator = 0;
    int64_t constant = 0;
};

/// An operand of an operator.
struct Operand {
    int tensor = 0;  ///< of the kernel
    ReadBox reads;
};

struct Result {
    int tensor = 0;  ///< of the kernel
    std::vector<ResultAxis> axes;
    uint64_t iterators = 0;  ///< bit i: iterator i stands on an axis
};

/// A definition under its test part, with all that a walk asks of it.
struct Operator {
    facts::BoundDefinition bound;
    std::vector<Operand> operands;  ///< in the order of declaration
    std::vector<Result> results;
    facts::WorkRates work;

    const std::string& name() const { return bound.definition.name; }
    Monoid monoid() const { return bound.definition.monoid; }
    const std::vector<int64_t>& extents() const { return bound.extents.iterators; }
    size_t iterators() const { return extents().size(); }
    bool is_reduction(size_t iterator) const { return bound.definition.iterators[iterator].is_reduction; }
    /// In `operands`; empty if it does not read the tensor.
    std::optional<size_t> operand(int tensor) const;
};

/// A tensor of the kernel. `outside`: nobody makes it.
struct Tensor {
    std::string name;
    ElementType type = ElementType::kF32;
    std::vector<int64_t> shape;
    int maker = -1;            ///< operator; -1: outside
    std::vector<int> readers;  ///< operators, in their order
    Box made;                  ///< what its maker's map reaches; the whole of an outside tensor
};

struct Kernel {
    std::string where;  ///< names the source in errors
    std::vector<Operator> operators;
    std::vector<Tensor> tensors;  ///< in the order in which they are named first

    int find_operator(std::string_view name) const;  ///< -1 if there is none
    int find_tensor(std::string_view name) const;    ///< -1 if there is none
    /// Bytes of a box of the tensor: elements x bits, rounded up to whole bytes.
    int64_t bytes(int tensor, const Box& box) const;
};

/// @throws Error for operators that make no kernel: names that mean two things, results that are made twice
/// or late, axes of a result that are no iterators, indirect coordinates out of range.
Kernel make_kernel(const KernelFile& file);

}  // namespace tessera::nests
