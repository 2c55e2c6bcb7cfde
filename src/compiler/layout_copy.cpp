// A layout is a nest of loops over its physical axes, in the order of storage; each loop moves the source by
// its divisor times the stride of its axis. Elements that lie together in both forms are copied as one atom:
// the last loop if it runs along the rows, with any loops that continue it. With `lanes <0:16, 1:4>` and
// elements of four bits an atom has two bytes, and no element is taken out of its byte:
//
//     source  a0a1a2a3 a4a5a6a7 ...       stored  a0a1a2a3 b0b1b2b3 ... p0p1p2p3   a4a5a6a7 b4b5b6b7 ...
//             b0b1b2b3 b4b5b6b7 ...
//             ...
//
// The two innermost loops are a transposition. It goes by squares, along the rows of the source: rows that
// lie a power of two apart share the sets of a cache, and atom by atom every line would be evicted before its
// next atom is wanted.
//
// If an atom is no whole number of bytes, elements become bytes first, and a stream of bits again at the end.

#include "compiler/layout_copy.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "ir/element_bits.h"
#include "support/error.h"

namespace tessera::compiler {
namespace {

/// Atoms of a row that are copied before the next row: a line of every cache has 64 bytes.
constexpr int64_t line_atoms(size_t atom_bytes) {
    return std::max<int64_t>(64 / static_cast<int64_t>(atom_bytes), 8);
}

/// Two loops over atoms; steps are in bytes, those of the inner one in the packed form are an atom.
struct Tile {
    int64_t outer, inner;
    int64_t outer_source, inner_source;
    int64_t outer_packed;
    size_t atom;
};

/// `from` and `to` as the direction says; a `kBytes` of zero is any number of bytes.
template <size_t kBytes, bool kPacks>
void copy_tile(const std::byte* from, std::byte* to, const Tile& tile) {
    const int64_t atom = kBytes == 0 ? static_cast<int64_t>(tile.atom) : static_cast<int64_t>(kBytes);
    const int64_t block = tile.inner_source > tile.outer_source ? line_atoms(tile.atom) : tile.outer;
    for (int64_t begin = 0; begin < tile.outer; begin += block) {
        const int64_t end = std::min(tile.outer, begin + block);
        for (int64_t j = 0; j < tile.inner; ++j)
            for (int64_t i = begin; i < end; ++i) {
                const int64_t source = i * tile.outer_source + j * tile.inner_source;
                const int64_t packed = i * tile.outer_packed + j * atom;
                std::memcpy(to + (kPacks ? packed : source), from + (kPacks ? source : packed),
                            kBytes == 0 ? tile.atom : kBytes);
            }
    }
}

using CopyTile = void (*)(const std::byte*, std::byte*, const Tile&);

template <bool kPacks>
CopyTile copier_of(size_t atom) {
    switch (atom) {
        case 1:
            return copy_tile<1, kPacks>;
        case 2:
            return copy_tile<2, kPacks>;
        case 3:
            return copy_tile<3, kPacks>;
        case 4:
            return copy_tile<4, kPacks>;
        case 8:
            return copy_tile<8, kPacks>;
        case 16:
            return copy_tile<16, kPacks>;
        default:
            return copy_tile<0, kPacks>;
    }
}

int64_t product(std::span<const int64_t> extents) {
    return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

/// Elements of less than a byte, each in a byte.
std::vector<std::byte> widened(std::span<const std::byte> stream, int bits, size_t elements) {
    std::vector<std::byte> bytes(elements);
    read_element_bits(stream, bits, {reinterpret_cast<uint8_t*>(bytes.data()), elements});
    return bytes;
}

void narrow(std::span<const std::byte> bytes, int bits, std::span<std::byte> stream) {
    write_element_bits({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, bits, stream);
}

}  // namespace

/// Goes through the loops of some groups. The two innermost are left to `copy_tile`.
template <bool kPacks>
class LayoutCopy::Walk {
public:
    using Source = std::conditional_t<kPacks, const std::byte, std::byte>;
    using Packed = std::conditional_t<kPacks, std::byte, const std::byte>;

    Walk(const LayoutCopy& copy, int64_t element_bits, Source* source, Packed* packed)
        : copy_(copy),
          loops_(copy.loops_),
          bits_(element_bits),
          source_(source),
          packed_(packed),
          atom_(static_cast<size_t>(bytes(copy.atom_))),
          coordinates_(copy.shape_.size() + 1, 0) {}

    void run(Groups groups) {
        const Groups rows = copy_.are_rows_ ? copy_.rows_of(groups) : Groups{0, 0};
        origin_ = {bytes(rows.first * copy_.row_elements_), bytes(groups.first * copy_.group_elements_)};
        groups_ = groups;
        level(0, 0, 0, true);
    }

private:
    struct Offsets {
        int64_t source, packed;
    };

    int64_t bytes(int64_t elements) const { return elements * bits_ / 8; }

    /// Steps of a loop from the present coordinate that stay in the tensor.
    int64_t existing(const Loop& loop, int64_t extent) const {
        if (!loop.is_padded) return extent;
        const int64_t left = copy_.shape_[loop.axis] - coordinates_[loop.axis];
        return std::clamp<int64_t>((left + loop.divisor - 1) / loop.divisor, 0, extent);
    }

    /// The loop at `at`, and those within; offsets are in bytes of the whole tensor.
    void level(size_t at, int64_t source, int64_t packed, bool is_inside) {
        const Loop& loop = loops_[at];
        const Groups steps = at == 0 ? groups_ : Groups{0, loop.extent};
        const bool is_last = at + 1 == loops_.size();
        int64_t& coordinate = coordinates_[loop.axis];
        const int64_t before = coordinate;
        const auto go_to = [&](int64_t step) {
            coordinate = before + step * loop.divisor;
            return Offsets{source + bytes(step * loop.source_step), packed + bytes(step * loop.packed_step)};
        };
        const int64_t count = steps.last - steps.first;
        if (is_last) {
            tile(kOnce, 1, loop, count, go_to(steps.first), is_inside);
        } else if (at + 2 == loops_.size() && !(loop.is_padded && loop.axis == loops_.back().axis)) {
            tile(loop, count, loops_.back(), loops_.back().extent, go_to(steps.first), is_inside);
        } else {
            for (int64_t i = steps.first; i < steps.last; ++i) {
                const Offsets offsets = go_to(i);
                level(at + 1, offsets.source, offsets.packed, is_inside && existing(loop, 1) > 0);
            }
        }
        coordinate = before;
    }

    void tile(const Loop& outer, int64_t outer_extent, const Loop& inner, int64_t inner_extent,
              const Offsets& offsets, bool is_inside) {
        Tile tile{.outer = is_inside ? existing(outer, outer_extent) : 0,
                  .inner = is_inside ? existing(inner, inner_extent) : 0,
                  .outer_source = bytes(outer.source_step),
                  .inner_source = bytes(inner.source_step),
                  .outer_packed = inner_extent * static_cast<int64_t>(atom_),
                  .atom = atom_};
        Packed* const at_packed = packed_ + (offsets.packed - origin_.packed);
        if constexpr (kPacks)
            if (tile.outer < outer_extent || tile.inner < inner_extent)
                std::memset(at_packed, 0, static_cast<size_t>(outer_extent * tile.outer_packed));
        if (tile.outer == 0 || tile.inner == 0) return;
        Source* const at_source = source_ + (offsets.source - origin_.source);
        CopyTile copy_tile = copier_of<kPacks>(atom_);
        if (tile.outer == 1 && tile.inner_source == static_cast<int64_t>(atom_)) {
            tile.atom *= static_cast<size_t>(std::exchange(tile.inner, 1));
            copy_tile = compiler::copy_tile<0, kPacks>;
        }
        if constexpr (kPacks)
            copy_tile(at_source, at_packed, tile);
        else
            copy_tile(at_packed, at_source, tile);
    }

    static constexpr Loop kOnce = {1, 0, 0, 0, 1, false};

    const LayoutCopy& copy_;
    const std::vector<Loop>& loops_;
    int64_t bits_;
    Source* source_;
    Packed* packed_;
    size_t atom_;
    std::vector<int64_t> coordinates_;
    Groups groups_;
    Offsets origin_{};
};

std::vector<LayoutCopy::Loop> LayoutCopy::merged(const std::vector<int64_t>& strides,
                                                 const Layout& layout) const {
    std::vector<int64_t> lanes(shape_.size(), 1);
    for (const Lane& lane : layout.lanes) lanes[static_cast<size_t>(lane.axis)] *= lane.factor;
    std::vector<Loop> loops;
    int64_t packed_step = 1;
    std::vector<PhysicalAxis> axes = physical_axes(layout, shape_);
    if (axes.empty()) axes.push_back({.axis = 0, .divisor = 1, .is_outer = true, .extent = 1});
    for (size_t p = axes.size(); p-- > 0; packed_step *= axes[p].extent) {
        const auto axis = static_cast<size_t>(axes[p].axis);
        const bool is_padded = axis < shape_.size() && shape_[axis] % lanes[axis] != 0;
        const int64_t step = axis < strides.size() ? axes[p].divisor * strides[axis] : 0;
        const Loop loop{axes[p].extent, step, packed_step, axis, axes[p].divisor, is_padded};
        // The groups stay a loop of their own.
        Loop* const within = loops.empty() || p == 0 ? nullptr : &loops.back();
        if (within && !is_padded && !within->is_padded && step == within->extent * within->source_step)
            within->extent *= loop.extent;
        else
            loops.push_back(loop);
    }
    std::reverse(loops.begin(), loops.end());
    return loops;
}

LayoutCopy::LayoutCopy(const std::vector<int64_t>& shape, const Layout& layout, int element_bits)
    : shape_(shape), bits_(element_bits) {
    TESSERA_CHECK(bits_ >= 1 && (bits_ <= 8 || bits_ == 16 || bits_ == 32 || bits_ == 64),
                  "elements of {} bits", bits_);
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
    if (!strides.empty()) row_elements_ = strides.front();
    loops_ = merged(strides, layout);
    group_elements_ = loops_.front().packed_step;
    are_rows_ = loops_.front().axis == 0;
    if (loops_.size() > 1 && loops_.back().source_step == 1 && !loops_.back().is_padded) {
        atom_ = loops_.back().extent;
        loops_.pop_back();
    }
    const auto is_whole = [&](int64_t elements) { return elements * bits_ % 8 == 0; };
    is_wide_ = is_whole(atom_) && std::all_of(loops_.begin(), loops_.end(), [&](const Loop& loop) {
                   return loop.extent == 1 || is_whole(loop.source_step);
               });
    const int64_t rows = are_rows_ ? loops_.front().divisor * row_elements_ : 0;
    while (!is_whole(aligned_ * group_elements_) || !is_whole(aligned_ * rows)) aligned_ *= 2;
}

size_t LayoutCopy::packed_bytes(Groups groups) const {
    return stream_bytes(static_cast<size_t>((groups.last - groups.first) * group_elements_), bits_);
}

Groups LayoutCopy::rows_of(Groups groups) const {
    TESSERA_CHECK(are_rows_);
    const int64_t rows = all_rows().last, each = loops_.front().divisor;
    return {std::min(rows, groups.first * each), std::min(rows, groups.last * each)};
}

Groups LayoutCopy::groups_with(Groups rows) const {
    TESSERA_CHECK(are_rows_);
    const int64_t each = loops_.front().divisor * aligned_;
    return {rows.first / each * aligned_, std::min((rows.last + each - 1) / each * aligned_, all().last)};
}

int64_t LayoutCopy::source_elements(Groups groups) const {
    if (!are_rows_) return product(shape_);
    const Groups rows = rows_of(groups);
    return (rows.last - rows.first) * row_elements_;
}

size_t LayoutCopy::source_bytes(Groups groups) const {
    return stream_bytes(static_cast<size_t>(source_elements(groups)), bits_);
}

template <bool kPacks, typename Source, typename Packed>
void LayoutCopy::copy(Groups groups, std::span<Source> source, std::span<Packed> packed) const {
    TESSERA_CHECK(source.size() == source_bytes(groups) && packed.size() == packed_bytes(groups),
                  "{} bytes of the source and {} packed for groups {} to {}", source.size(), packed.size(),
                  groups.first, groups.last);
    if (source.empty() && packed.empty()) return;
    if (is_wide_) return Walk<kPacks>(*this, bits_, source.data(), packed.data()).run(groups);
    const auto elements = static_cast<size_t>(source_elements(groups));
    const auto stored = static_cast<size_t>((groups.last - groups.first) * group_elements_);
    if constexpr (kPacks) {
        const std::vector<std::byte> wide = widened(source, bits_, elements);
        std::vector<std::byte> result(stored);
        Walk<true>(*this, 8, wide.data(), result.data()).run(groups);
        narrow(result, bits_, packed);
    } else {
        const std::vector<std::byte> wide = widened(packed, bits_, stored);
        std::vector<std::byte> result(elements);
        Walk<false>(*this, 8, result.data(), wide.data()).run(groups);
        narrow(result, bits_, source);
    }
}

void LayoutCopy::pack(Groups groups, std::span<const std::byte> source, std::span<std::byte> packed) const {
    copy<true>(groups, source, packed);
}

void LayoutCopy::unpack(Groups groups, std::span<const std::byte> packed, std::span<std::byte> source) const {
    copy<false>(groups, source, packed);
}

std::vector<std::byte> pack(std::span<const std::byte> source, const std::vector<int64_t>& shape,
                            const Layout& layout, int element_bits) {
    const LayoutCopy copy(shape, layout, element_bits);
    std::vector<std::byte> packed(copy.packed_bytes(copy.all()));
    copy.pack(copy.all(), source, packed);
    return packed;
}

std::vector<std::byte> unpack(std::span<const std::byte> packed, const std::vector<int64_t>& shape,
                              const Layout& layout, int element_bits) {
    const LayoutCopy copy(shape, layout, element_bits);
    std::vector<std::byte> source(copy.source_bytes(copy.all()));
    copy.unpack(copy.all(), packed, source);
    return source;
}

}  // namespace tessera::compiler
