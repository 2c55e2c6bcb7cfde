#include "compiler/unpack.h"

#include <cstring>

#include "ir/element_bits.h"
#include "support/error.h"

// A layout stores the element at x[0], x[1], ... at a sum of terms, each of which depends on one coordinate
// alone: every physical axis adds (x[axis] div divisor mod extent) times its stride. So one table for each
// axis holds the terms of its coordinates, and an element is found by as many additions as the tensor has
// axes. With lanes <0:2, 1:2> of a 4 x 4 matrix (outer groups first, then 2 x 2 squares):
//
//     x[0]   0  1  2  3      x[1]   0  1  2  3        x = (3, 2) lies at 10 + 4 = 14
//     adds   0  2  8 10      adds   0  1  4  5

namespace tessera::compiler {
namespace {

/// The term that each coordinate of each axis adds to the position.
std::vector<std::vector<int64_t>> position_tables(const std::vector<int64_t>& shape, const Layout& layout) {
    std::vector<std::vector<int64_t>> tables;
    for (const int64_t extent : shape) tables.emplace_back(static_cast<size_t>(extent), 0);
    const std::vector<PhysicalAxis> axes = physical_axes(layout, shape);
    int64_t stride = 1;
    for (size_t i = axes.size(); i-- > 0; stride *= axes[i].extent) {
        std::vector<int64_t>& table = tables[static_cast<size_t>(axes[i].axis)];
        for (size_t x = 0; x < table.size(); ++x) {
            const int64_t quotient = static_cast<int64_t>(x) / axes[i].divisor;
            table[x] += (axes[i].is_outer ? quotient : quotient % axes[i].extent) * stride;
        }
    }
    return tables;
}

template <size_t kBytes>
class Unpacker {
public:
    Unpacker(const std::byte* packed, std::byte* to, const std::vector<std::vector<int64_t>>& tables)
        : packed_(packed), to_(to), tables_(tables) {}

    void walk(size_t axis, int64_t position) {
        if (axis == tables_.size()) return copy(position);
        if (axis + 1 < tables_.size()) {
            for (const int64_t added : tables_[axis]) walk(axis + 1, position + added);
        } else {
            for (const int64_t added : tables_[axis]) copy(position + added);
        }
    }

private:
    void copy(int64_t position) {
        std::memcpy(to_, packed_ + position * int64_t{kBytes}, kBytes);
        to_ += kBytes;
    }

    const std::byte* packed_;
    std::byte* to_;
    const std::vector<std::vector<int64_t>>& tables_;
};

template <size_t kBytes>
void unpack_into(std::span<const std::byte> packed, std::span<std::byte> to,
                 const std::vector<std::vector<int64_t>>& tables) {
    Unpacker<kBytes>(packed.data(), to.data(), tables).walk(0, 0);
}

/// Elements of less than a byte, by way of one byte for each.
std::vector<std::byte> unpack_bits(std::span<const std::byte> packed, size_t stored, size_t elements,
                                   int bits, const std::vector<std::vector<int64_t>>& tables) {
    std::vector<std::byte> wide(stored), rows(elements), result(stream_bytes(elements, bits));
    for (size_t i = 0; i < stored; ++i)
        wide[i] = static_cast<std::byte>(element_bits(packed.data(), bits, i));
    unpack_into<1>(wide, rows, tables);
    write_element_bits({reinterpret_cast<const uint8_t*>(rows.data()), elements}, bits, result);
    return result;
}

}  // namespace

std::vector<std::byte> unpack(std::span<const std::byte> packed, const std::vector<int64_t>& shape,
                              const Layout& layout, int element_bits) {
    const auto stored = static_cast<size_t>(stored_elements(layout, shape));
    TESSERA_CHECK(packed.size() == stream_bytes(stored, element_bits), "{} bytes for {} elements",
                  packed.size(), stored);
    if (layout.is_row_major()) return {packed.begin(), packed.end()};
    size_t elements = 1;
    for (const int64_t extent : shape) elements *= static_cast<size_t>(extent);
    const auto tables = position_tables(shape, layout);
    if (element_bits < 8) return unpack_bits(packed, stored, elements, element_bits, tables);
    std::vector<std::byte> result(stream_bytes(elements, element_bits));
    switch (element_bits) {
        case 8:
            unpack_into<1>(packed, result, tables);
            break;
        case 16:
            unpack_into<2>(packed, result, tables);
            break;
        case 32:
            unpack_into<4>(packed, result, tables);
            break;
        case 64:
            unpack_into<8>(packed, result, tables);
            break;
        default:
            TESSERA_CHECK(false, "elements of {} bits", element_bits);
    }
    return result;
}

}  // namespace tessera::compiler
