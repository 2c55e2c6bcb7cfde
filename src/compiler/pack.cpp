#include "compiler/pack.h"

#include <algorithm>
#include <cstring>

#include "support/error.h"

// The physical axes are walked in the order of storage; each moves the source by its divisor times the stride
// of its axis. What remains of an axis beyond the tensor's shape is padding.
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

namespace tessera {
namespace {

constexpr size_t kPiece = 256 * 1024;
/// Rows of a square: 64 bytes, a line of every cache, hold 16 elements of 4 bytes.
constexpr int64_t kSquare = 16;

/// `count` elements, `stride` elements apart in the source.
template <size_t kBytes>
void gather(const std::byte* source, int64_t stride, int64_t count, std::byte* to, int64_t to_stride) {
    for (int64_t i = 0; i < count; ++i)
        std::memcpy(to + i * to_stride * int64_t{kBytes}, source + i * stride * int64_t{kBytes}, kBytes);
}

using Gather = void (*)(const std::byte*, int64_t, int64_t, std::byte*, int64_t);

Gather gather_for(size_t element_bytes) {
    switch (element_bytes) {
        case 1:
            return gather<1>;
        case 2:
            return gather<2>;
        case 4:
            return gather<4>;
        case 8:
            return gather<8>;
        default:
            TESSERA_CHECK(false, "elements of {} bytes", element_bytes);
    }
}

class Packer {
public:
    Packer(std::span<const std::byte> source, const std::vector<int64_t>& shape, const Layout& layout,
           size_t element_bytes, const PackSink& write)
        : source_(source),
          shape_(shape),
          element_bytes_(element_bytes),
          gather_(gather_for(element_bytes)),
          write_(write),
          axes_(physical_axes(layout, shape)),
          strides_(shape.size(), 1),
          coordinates_(shape.size(), 0),
          buffer_(kPiece) {
        for (size_t axis = shape.size(); axis-- > 1;) strides_[axis - 1] = strides_[axis] * shape[axis];
    }

    void run() {
        if (axes_.empty()) {
            std::memcpy(room(1), at(0), element_bytes_);
        } else {
            walk(0, 0, true);
        }
        flush();
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
            if (stride(axis) == 1 && copied > 0) {
                std::memcpy(to, at(offset + begin), static_cast<size_t>(copied) * element_bytes_);
            } else {
                gather_(at(offset + begin * stride(axis)), stride(axis), copied, to, 1);
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
                gather_(at(offset + begin + i * stride(lane)), 1, copied,
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
    const std::byte* at(int64_t offset) const {
        return source_.data() + offset * static_cast<int64_t>(element_bytes_);
    }

    /// Zeros for so many elements in the buffer. @pre they fit into an empty one
    std::byte* room(int64_t elements) {
        const size_t bytes = static_cast<size_t>(elements) * element_bytes_;
        if (used_ + bytes > kPiece) flush();
        std::byte* begin = buffer_.data() + used_;
        std::memset(begin, 0, bytes);
        used_ += bytes;
        return begin;
    }
    void flush() {
        if (used_ != 0) write_(std::span(buffer_).first(used_));
        used_ = 0;
    }

    std::span<const std::byte> source_;
    const std::vector<int64_t>& shape_;
    size_t element_bytes_;
    Gather gather_;
    const PackSink& write_;
    std::vector<PhysicalAxis> axes_;
    std::vector<int64_t> strides_;
    std::vector<int64_t> coordinates_;
    std::vector<std::byte> buffer_;
    size_t used_ = 0;
};

}  // namespace

void pack(std::span<const std::byte> source, const std::vector<int64_t>& shape, const Layout& layout,
          size_t element_bytes, const PackSink& write) {
    size_t elements = 1;
    for (const int64_t extent : shape) elements *= static_cast<size_t>(extent);
    TESSERA_CHECK(source.size() == elements * element_bytes, "{} bytes for {} elements", source.size(),
                  elements);
    if (elements == 0) return;
    if (!layout.is_row_major()) return Packer(source, shape, layout, element_bytes, write).run();
    for (; !source.empty(); source = source.subspan(std::min(kPiece, source.size())))
        write(source.first(std::min(kPiece, source.size())));
}

}  // namespace tessera
