#pragma once

#include <string>
#include <vector>

#include "lowering/movement/program.h"

/// Kernels that compute in numbers of 64 bits (movement::Kernel::arithmetic), a number at a time. Their text
/// is C as well as C++ and calls the functions of include/tessera/wide.h.
namespace tessera::backend {

/// The spellings that differ between the languages.
struct WideForms {
    std::string (*index)(const movement::Index& index);
    /// An element of F16, BF16 or less than a byte as a float, and the statement that stores a float in F16
    /// or BF16.
    std::string (*load)(const movement::Address& from);
    std::string (*store)(const movement::Address& to, const std::string& number);
    /// A float rounded to F16 or BF16.
    std::string (*rounded)(ElementType to, const std::string& number);
};

/// True if a kernel computes in them.
bool is_wide(const std::vector<movement::Program>& programs);
/// "double" or "int64_t".
const char* wide_type(ElementType arithmetic);
std::string wide_literal(double value, ElementType arithmetic);
/// The value as a number of the kernel. @pre it has no lanes
std::string wide_text(const movement::ValueExpr& value, ElementType arithmetic, const WideForms& forms);
std::string wide_condition(const movement::ValueExpr& value, ElementType arithmetic, const WideForms& forms);
/// The statement that stores a number of the kernel.
std::string wide_store(const movement::Address& to, const std::string& number, ElementType arithmetic,
                       const WideForms& forms);
/// The statement that folds a value into an accumulator.
std::string wide_fold(const movement::Accumulate& fold, ElementType arithmetic, const WideForms& forms);

}  // namespace tessera::backend
