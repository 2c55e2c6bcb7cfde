#include "compiler/pack.h"

#include <algorithm>
#include <cstring>

#include "ir/element_bits.h"
#include "support/error.h"

// The physical axes are walked in the order of storage; each moves the source by its divisor times the stride
// of its axis. The rest of an axis beyond the tensor's shape is padding.
//
// The innermost axes decide the speed. A last axis of stride one is copied. Where the last axis is a lane
// across rows and the one before it runs along them, as in the usual `lanes <0:16>` of a matrix,
//
//     source  a0 a1 a2 ... a15     stored  a0 b0 ... p0  a1 b1 ... p1  ...
//             b0 b1 b2 ... b15
//             ...
//
// a square of both is transposed at a time: rows that lie a power of two apart share the sets of a cache, and
// element by element every one of them would be evicted before its next element is wanted.
//
// Elements of less than a byte are gathered as bytes, and become a stream of bits when the buffer is written.

namespace tessera::compiler {
namespace {

constexpr size_t kPiece = size_t{256} * 1024;
/// Rows of a square: 64 bytes, a line of every cache, hold 16 elements of 4 bytes.
constexpr int64_t kSquare = 16;

/// `count` elements from `first` on, `stride` elements apart in the source.
template <size_t kBytes>
void gather(const std::byte* source, int64_t first, int64_t stride, int64_t count, std::byte* to,
            int64_t to_stride) {
    source += first * int64_t{kBytes};
    for (int64_t i = 0; i < count; ++i)
        std::memcpy(to + i * to_stride * int64_t{kBytes}, source + i * stride * int64_t{kBytes}, kBytes);
}

template <int kBits>
void gather_bits(const std::byte* source, int64_t first, int64_t stride, int64_t count, std::byte* to,
                 int64_t to_stride) {
    for (int64_t i = 0; i < count; ++i)
        to[i * to_stride] =
            static_cast<std::byte>(element_bits(source, kBits, static_cast<size_t>(first + i * stride)));
}

using Gather = void (*)(const std::byte*, int64_t, int64_t, int64_t, std::byte*, int64_t);

Gather gather_for(int element_bits) {
    switch (element_bits) {
        case 2:
            return gather_bits<2>;
        case 3:
            return gather_bits<3>;
        case 4:
            return gather_bits<4>;
        case 5:
            return gather_bits<5>;
        case 6:
            return gather_bits<6>;
        case 8:
            return gather<1>;
        case 16:
            return gather<2>;
        case 32:
            return gather<4>;
        case 64:
            return gather<8>;
        default:
            TESSERA_CHECK(false, "elements of {} bits", element_bits);
    }
}

class Packer {
public:
    Packer(std::span<const std::byte> source, const std::vector<int64_t>& shape, const Layout& layout,
           int element_bits, const PackSink& write)
        : source_(source),
          shape_(shape),
          element_bits_(element_bits),
          element_bytes_(stream_bytes(1, element_bits)),
          gather_(gather_for(element_bits)),
          write_(write),
          axes_(physical_axes(layout, shape)),
          strides_(shape.size(), 1),
          coordinates_(shape.size(), 0),
          buffer_(kPiece + 8) {
        for (size_t axis = shape.size(); axis-- > 1;) strides_[axis - 1] = strides_[axis] * shape[axis];
    }

    void run() {
        if (axes_.empty()) {
            gather_(source_.data(), 0, 1, 1, room(1), 1);
        } else {
            walk(0, 0, true);
        }
        flush(used_);
    }

private:
    void walk(size_t level, int64_t offset, bool is_inside) {
        if (level + 1 == axes_.size()) return last(offset, is_inside);
        if (level + 2 == axes_.size() && is_transposition()) return transpose(offset, is_inside);
        const PhysicalAxis& axis = axes_[level];
        int64_t& coordinate = coordinates_[static_cast<size_t>(axis.axis)];
        const int64_t before = coordinate;
        for (int64_t i = 0; i < axis.extent; ++i) {
            coordinate = before + i * axis.divisor;
            walk(level + 1, offset + i * stride(axis),
                 is_inside && coordinate < shape_[static_cast<size_t>(axis.axis)]);
        }
        coordinate = before;
    }

    /// The last axis, in pieces of the buffer.
    void last(int64_t offset, bool is_inside) {
        const PhysicalAxis& axis = axes_.back();
        const int64_t exist = is_inside ? existing(axis) : 0;
        const auto most = static_cast<int64_t>(kPiece / element_bytes_);
        for (int64_t begin = 0; begin < axis.extent; begin += most) {
            const int64_t count = std::min(most, axis.extent - begin);
            const int64_t copied = std::clamp<int64_t>(exist - begin, 0, count);
            std::byte* to = room(count);
            if (stride(axis) == 1 && copied > 0 && element_bits_ >= 8) {
                std::memcpy(to, source_.data() + static_cast<size_t>(offset + begin) * element_bytes_,
                            static_cast<size_t>(copied) * element_bytes_);
            } else {
                gather_(source_.data(), offset + begin * stride(axis), stride(axis), copied, to, 1);
            }
        }
    }

    bool is_transposition() const {
        const PhysicalAxis& along = axes_[axes_.size() - 2];
        const PhysicalAxis& lane = axes_.back();
        return stride(along) == 1 && lane.axis != along.axis &&
               static_cast<size_t>(kSquare * lane.extent) * element_bytes_ <= kPiece;
    }

    void transpose(int64_t offset, bool is_inside) {
        const PhysicalAxis& along = axes_[axes_.size() - 2];
        const PhysicalAxis& lane = axes_.back();
        const int64_t columns = is_inside ? existing(along) : 0;
        const int64_t lanes = is_inside ? existing(lane) : 0;
        for (int64_t begin = 0; begin < along.extent; begin += kSquare) {
            const int64_t count = std::min(kSquare, along.extent - begin);
            const int64_t copied = std::clamp<int64_t>(columns - begin, 0, count);
            std::byte* to = room(count * lane.extent);
            for (int64_t i = 0; i < lanes; ++i)
                gather_(source_.data(), offset + begin + i * stride(lane), 1, copied,
                        to + i * static_cast<int64_t>(element_bytes_), lane.extent);
        }
    }

    int64_t stride(const PhysicalAxis& axis) const {
        return axis.divisor * strides_[static_cast<size_t>(axis.axis)];
    }
    /// Steps of an axis, from the present coordinate, that stay in the tensor.
    int64_t existing(const PhysicalAxis& axis) const {
        const auto a = static_cast<size_t>(axis.axis);
        const int64_t left = shape_[a] - coordinates_[a];
        return std::min(axis.extent, (left + axis.divisor - 1) / axis.divisor);
    }

    /// Zeros for so many elements in the buffer. @pre they fit into an empty one
    std::byte* room(int64_t elements) {
        const size_t bytes = static_cast<size_t>(elements) * element_bytes_;
        if (used_ + bytes > kPiece) flush(used_ / 8 * 8);
        std::byte* begin = buffer_.data() + used_;
        std::memset(begin, 0, bytes);
        used_ += bytes;
        return begin;
    }
    /// Writes the first `count` bytes of the buffer. Eight elements of any size end with a byte.
    void flush(size_t count) {
        if (count == 0) return;
        std::span<std::byte> piece = std::span(buffer_).first(count);
        if (element_bits_ < 8) {
            narrowed_.resize(stream_bytes(count, element_bits_));
            write_element_bits({reinterpret_cast<const uint8_t*>(piece.data()), count}, element_bits_,
                               narrowed_);
            piece = narrowed_;
        }
        write_(piece);
        std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(count),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(used_), buffer_.begin());
        used_ -= count;
    }

    std::span<const std::byte> source_;
    const std::vector<int64_t>& shape_;
    int element_bits_;
    size_t element_bytes_;  ///< in the buffer
    Gather gather_;
    const PackSink& write_;
    std::vector<PhysicalAxis> axes_;
    std::vector<int64_t> strides_;
    std::vector<int64_t> coordinates_;
    std::vector<std::byte> buffer_;
    std::vector<std::byte> narrowed_;
    size_t used_ = 0;
};

}  // namespace

void pack(std::span<const std::byte> source, const std::vector<int64_t>& shape, const Layout& layout,
          int element_bits, const PackSink& write) {
    size_t elements = 1;
    for (const int64_t extent : shape) elements *= static_cast<size_t>(extent);
    TESSERA_CHECK(source.size() == stream_bytes(elements, element_bits), "{} bytes for {} elements",
                  source.size(), elements);
    if (elements == 0) return;
    if (!layout.is_row_major()) return Packer(source, shape, layout, element_bits, write).run();
    for (; !source.empty(); source = source.subspan(std::min(kPiece, source.size())))
        write(source.first(std::min(kPiece, source.size())));
}

}  // namespace tessera::compiler
