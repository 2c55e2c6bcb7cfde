#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/element_type.h"

namespace tessera::import {

/// A tensor as a checkpoint stores it.
struct StoredTensor {
    std::string type;                    ///< as the file calls it: "F32", "BF16", "Q4_K"
    std::optional<ElementType> element;  ///< empty for a type that has no counterpart
    std::vector<int64_t> shape;          ///< row-major, outermost axis first
    std::span<const std::byte> bytes;    ///< little-endian, of any alignment; lives as long as the source;
                                         ///< empty where contents are made on demand
};

/// The bytes of a tensor, little-endian and row-major; elements of less than a byte as ElementType says.
struct TensorContents {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;  ///< keeps them; null where the source does
};

/// A tensor that is read by rows, ranges of its outermost axis (a scalar is one row). Any thread may read.
class TensorRows {
public:
    virtual ~TensorRows() = default;
    /// Rows [first, last). @pre they are whole bytes
    virtual TensorContents rows(int64_t first, int64_t last) const = 0;
};

/// The source of the contents of a graph's constants, by the names of Value::sources. To be used by one
/// thread at a time, except for the rows that it opened.
class WeightSource {
public:
    virtual ~WeightSource() = default;
    /// Null if there is none.
    virtual const StoredTensor* find(std::string_view name) const = 0;
    /// All names, sorted.
    virtual std::vector<std::string> names() const = 0;
    /// The contents of the tensor; if they have to be computed, they are freed with the result. @pre
    /// find(name)
    virtual TensorContents contents(std::string_view name) const;
    /// The same by rows; the source must outlive it. Here they are rows of the whole contents.
    virtual std::unique_ptr<TensorRows> open_rows(std::string_view name) const;
    /// Tells that the bytes are not needed for now: mapped pages may leave memory. They can be read again.
    virtual void release(std::string_view /*name*/) const {}
};

/// Rows of existing contents. @pre elements of the shape, each of the same number of bits, fill them
std::unique_ptr<TensorRows> rows_of(TensorContents contents, const std::vector<int64_t>& shape);

}  // namespace tessera::import
