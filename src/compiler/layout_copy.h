#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/tensor_type.h"

namespace tessera::compiler {

/// Steps [first, last) of the outermost physical axis of a layout. They lie one behind the other.
struct Groups {
    int64_t first = 0;
    int64_t last = 0;
};

/// Copies a row-major tensor of elements of 1 to 8, 16, 32 or 64 bits (below a byte: a stream of bits as
/// ElementType says) into a layout and back, in whole or in groups, which several threads may copy at once.
class LayoutCopy {
public:
    /// @pre the layout is legal for the shape
    LayoutCopy(const std::vector<int64_t>& shape, const Layout& layout, int element_bits);

    Groups all() const { return {0, loops_.front().extent}; }
    /// Groups that both begin and end with a byte begin at multiples of this.
    int64_t aligned_groups() const { return aligned_; }
    /// Bytes of the packed form.
    size_t packed_bytes(Groups groups) const;

    /// True if groups are rows of the source, in order: coordinates of its outermost axis. Else each may need
    /// elements from everywhere.
    bool are_rows() const { return are_rows_; }
    /// Coordinates of the outermost axis of the source; a scalar has one.
    Groups all_rows() const { return {0, shape_.empty() ? 1 : shape_.front()}; }
    /// @pre are_rows()
    Groups rows_of(Groups groups) const;
    Groups groups_with(Groups rows) const;
    /// Bytes of the source: of the rows of these groups if they are rows, else of all.
    size_t source_bytes(Groups groups) const;

    /// Padding becomes zero. @pre the groups are aligned, or reach to the end; both spans have as many bytes
    /// as said above
    void pack(Groups groups, std::span<const std::byte> source, std::span<std::byte> packed) const;
    /// The inverse: padding is dropped. @pre likewise, and all groups if they are not rows
    void unpack(Groups groups, std::span<const std::byte> packed, std::span<std::byte> source) const;

private:
    /// A physical axis, or several that are one in the source, too. Steps are in elements.
    struct Loop {
        int64_t extent;
        int64_t source_step;
        int64_t packed_step;
        size_t axis;
        int64_t divisor;
        bool is_padded;
    };
    template <bool kPacks>
    class Walk;

    int64_t source_elements(Groups groups) const;
    std::vector<Loop> merged(const std::vector<int64_t>& strides, const Layout& layout) const;
    template <bool kPacks, typename Source, typename Packed>
    void copy(Groups groups, std::span<Source> source, std::span<Packed> packed) const;

    std::vector<int64_t> shape_;
    int bits_;
    std::vector<Loop> loops_;  ///< outermost first; the first one is the groups
    int64_t atom_ = 1;         ///< elements that lie together in both forms
    bool is_wide_ = true;      ///< all atoms are whole bytes at whole bytes
    bool are_rows_ = true;
    int64_t aligned_ = 1;
    int64_t row_elements_ = 1;    ///< of the source
    int64_t group_elements_ = 1;  ///< of the packed form
};

/// The whole tensor at once.
std::vector<std::byte> pack(std::span<const std::byte> source, const std::vector<int64_t>& shape,
                            const Layout& layout, int element_bits);
std::vector<std::byte> unpack(std::span<const std::byte> packed, const std::vector<int64_t>& shape,
                              const Layout& layout, int element_bits);

}  // namespace tessera::compiler
