#include "compiler/pack.h"

#include <cstring>

#include "support/error.h"

namespace tessera {
namespace {

constexpr size_t kPiece = 256 * 1024;

/// Walks the physical axes in the order of storage; each moves the source by its divisor times the axis'
/// stride.
class Packer {
public:
    Packer(std::span<const std::byte> source, const std::vector<int64_t>& shape, const Layout& layout,
           size_t element_bytes, const std::function<void(std::span<const std::byte>)>& write)
        : source_(source),
          shape_(shape),
          element_bytes_(element_bytes),
          write_(write),
          axes_(physical_axes(layout, shape)),
          strides_(shape.size(), 1),
          coordinates_(shape.size(), 0) {
        for (size_t axis = shape.size(); axis-- > 1;) strides_[axis - 1] = strides_[axis] * shape[axis];
        buffer_.reserve(kPiece + element_bytes);
    }

    void run() {
        if (axes_.empty()) {
            element(true, 0);
        } else {
            walk(0, 0);
        }
        flush();
    }

private:
    void walk(size_t level, int64_t offset) {
        const PhysicalAxis& axis = axes_[level];
        const auto a = static_cast<size_t>(axis.axis);
        const int64_t before = coordinates_[a];
        for (int64_t i = 0; i < axis.extent; ++i) {
            coordinates_[a] = before + i * axis.divisor;
            const int64_t at = offset + i * axis.divisor * strides_[a];
            if (level + 1 < axes_.size()) {
                walk(level + 1, at);
            } else {
                element(is_inside(), at);
            }
        }
        coordinates_[a] = before;
    }

    bool is_inside() const {
        for (size_t axis = 0; axis < shape_.size(); ++axis) {
            if (coordinates_[axis] >= shape_[axis]) return false;
        }
        return true;
    }

    void element(bool exists, int64_t offset) {
        const size_t end = buffer_.size();
        buffer_.resize(end + element_bytes_);
        if (exists)
            std::memcpy(buffer_.data() + end, source_.data() + static_cast<size_t>(offset) * element_bytes_,
                        element_bytes_);
        if (buffer_.size() >= kPiece) flush();
    }

    void flush() {
        if (!buffer_.empty()) write_(buffer_);
        buffer_.clear();
    }

    std::span<const std::byte> source_;
    const std::vector<int64_t>& shape_;
    size_t element_bytes_;
    const std::function<void(std::span<const std::byte>)>& write_;
    std::vector<PhysicalAxis> axes_;
    std::vector<int64_t> strides_;
    std::vector<int64_t> coordinates_;
    std::vector<std::byte> buffer_;
};

}  // namespace

void pack(std::span<const std::byte> source, const std::vector<int64_t>& shape, const Layout& layout,
          size_t element_bytes, const std::function<void(std::span<const std::byte>)>& write) {
    size_t elements = 1;
    for (const int64_t extent : shape) elements *= static_cast<size_t>(extent);
    TESSERA_CHECK(source.size() == elements * element_bytes, "{} bytes for {} elements", source.size(),
                  elements);
    if (layout.is_row_major()) {
        write(source);
        return;
    }
    Packer(source, shape, layout, element_bytes, write).run();
}

}  // namespace tessera
