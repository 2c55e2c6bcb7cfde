#include "import/gguf/gguf_file.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "support/error.h"
#include "support/stand_in.h"

// The file, front to back; numbers are little-endian, strings are a length of 8 bytes and the bytes.
//
//   "GGUF" | version u32 | tensors u64 | pairs u64
//   pairs   x { key string | type u32 | value }
//   tensors x { name string | rank u32 | extents u64 x rank | type u32 | offset u64 }
//   padding to the alignment | data: every tensor at its offset from here, a multiple of the alignment

namespace tessera::import {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr uint32_t kDefaultAlignment = 32;
// Limits of ggml itself: GGML_MAX_DIMS, GGML_MAX_NAME.
constexpr uint32_t kMostDimensions = 4;
constexpr size_t kLongestTensorName = 64;
// The shortest description: an empty name (8), rank (4), one extent (8), type (4), offset (8).
constexpr uint64_t kShortestTensor = 32;
// More than any model has. A tensor takes ten times the memory of its shortest description.
constexpr uint64_t kMostTensors = 1 << 17;

void check_version(const GgufCursor& cursor, uint32_t version) {
    if (version == 2 || version == 3) return;
    // A big-endian file shows its version in the upper half.
    if (version != 0 && (version & 0xffffu) == 0)
        cursor.fail("version", "the file is big-endian, which is not supported");
    cursor.fail("version", fmt::format("is {}, supported are 2 and 3", version));
}

/// Multiplies sizes that come from the file. False when the product does not fit.
bool multiply(uint64_t& product, uint64_t factor) {
    return !__builtin_mul_overflow(product, factor, &product);
}

}  // namespace

int64_t GgufTensor::elements() const {
    int64_t product = 1;
    for (const int64_t extent : dimensions) product *= extent;
    return product;
}

bool GgufFile::is_gguf(const std::filesystem::path& path) {
    return MappedFile::open(path).text().starts_with(kMagic);
}

GgufFile GgufFile::open(const std::filesystem::path& path) {
    MappedFile file = MappedFile::open(path);
    refuse_stand_in(file.text(), path.string());
    GgufFile result = parse(file.bytes(), path.string());
    result.file_ = std::move(file);
    return result;
}

GgufFile GgufFile::parse(std::span<const std::byte> bytes, std::string name) {
    GgufFile result;
    result.bytes_ = bytes;
    result.path_ = std::move(name);
    GgufCursor cursor(bytes, result.path_);

    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!text.starts_with(kMagic))
        throw Error(result.path_, "", "is not a GGUF file: it does not start with \"GGUF\"");
    cursor.take(kMagic.size(), "magic");
    result.version_ = cursor.read<uint32_t>("version");
    check_version(cursor, result.version_);
    const auto tensor_count = cursor.read<uint64_t>("number of tensors");
    const auto pair_count = cursor.read<uint64_t>("number of metadata pairs");
    result.metadata_ = GgufMetadata::read(cursor, pair_count, result.path_);
    result.read_tensors(cursor, tensor_count);
    result.place_tensors(cursor.offset());
    return result;
}

void GgufFile::read_tensors(GgufCursor& cursor, uint64_t count) {
    cursor.check_count(count, kShortestTensor, "tensors");
    if (count > kMostTensors)
        cursor.fail("tensors", fmt::format("are {}, expected at most {}", count, kMostTensors));
    tensors_.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
        GgufTensor tensor;
        tensor.name = cursor.read_string(fmt::format("name of tensor {}", i));
        if (tensor.name.empty() || tensor.name.size() > kLongestTensorName)
            cursor.fail(fmt::format("tensor {}", i), fmt::format("has a name of {} bytes, expected 1 to {}",
                                                                 tensor.name.size(), kLongestTensorName));
        if (!index_.emplace(tensor.name, i).second)
            cursor.fail(tensor.name, "occurs twice among the tensors");

        const auto rank = cursor.read<uint32_t>(tensor.name);
        if (rank == 0 || rank > kMostDimensions)
            cursor.fail(tensor.name,
                        fmt::format("has {} dimensions, expected 1 to {}", rank, kMostDimensions));
        uint64_t elements = 1;
        for (uint32_t d = 0; d < rank; ++d) {
            const auto extent = cursor.read<uint64_t>(tensor.name);
            if (extent == 0 || !multiply(elements, extent) ||
                elements > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
                cursor.fail(
                    tensor.name,
                    fmt::format("has the extent {} in dimension {}: empty, or too many elements", extent, d));
            tensor.dimensions.push_back(static_cast<int64_t>(extent));
        }

        const auto number = cursor.read<uint32_t>(tensor.name);
        const auto type = ggml_type_of(number);
        if (!type)
            cursor.fail(tensor.name, fmt::format("has the type number {}, which is not a ggml type", number));
        tensor.type = *type;
        const GgmlTypeInfo& facts = info(*type);
        if (tensor.dimensions.front() % facts.block_elements != 0)
            cursor.fail(tensor.name,
                        fmt::format("has rows of {} elements, expected a multiple of the {} in a block of {}",
                                    tensor.dimensions.front(), facts.block_elements, facts.name));
        tensor.bytes = elements / facts.block_elements;
        if (!multiply(tensor.bytes, facts.block_bytes))
            cursor.fail(tensor.name,
                        fmt::format("has {} elements of type {}: too many bytes", elements, facts.name));
        tensor.offset = cursor.read<uint64_t>(tensor.name);
        tensors_.push_back(std::move(tensor));
    }
}

void GgufFile::place_tensors(size_t header_end) {
    if (tensors_.empty()) return;  // a file with a vocabulary alone may end without padding
    const uint32_t alignment = metadata_.get_u32("general.alignment").value_or(kDefaultAlignment);
    if (!std::has_single_bit(alignment))
        throw Error(path_, "general.alignment", fmt::format("is {}, expected a power of two", alignment));
    const uint64_t size = bytes_.size();
    const uint64_t data = (header_end + (alignment - 1)) / alignment * alignment;
    for (GgufTensor& tensor : tensors_) {
        if (tensor.offset % alignment != 0)
            throw Error(
                path_, std::string(tensor.name),
                fmt::format("lies at offset {}, expected a multiple of {}", tensor.offset, alignment));
        if (data > size || tensor.offset > size - data || tensor.bytes > size - data - tensor.offset)
            throw Error(
                path_, std::string(tensor.name),
                fmt::format(
                    "needs {} bytes at offset {} of the data, but the file has {} bytes in all, {} of "
                    "them header: it is cut off or damaged",
                    tensor.bytes, tensor.offset, size, std::min(data, size)));
        tensor.offset += data;
    }
    // No writer shares bytes between tensors: an overlap is damage.
    std::vector<const GgufTensor*> by_offset;
    for (const GgufTensor& tensor : tensors_) by_offset.push_back(&tensor);
    std::sort(by_offset.begin(), by_offset.end(),
              [](const auto* a, const auto* b) { return a->offset < b->offset; });
    for (size_t i = 1; i < by_offset.size(); ++i)
        if (by_offset[i]->offset < by_offset[i - 1]->offset + by_offset[i - 1]->bytes)
            throw Error(path_, std::string(by_offset[i]->name),
                        fmt::format("overlaps the tensor `{}`", by_offset[i - 1]->name));
}

const GgufTensor* GgufFile::find_tensor(std::string_view name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &tensors_[found->second];
}

std::span<const std::byte> GgufFile::bytes(const GgufTensor& tensor) const {
    return bytes_.subspan(tensor.offset, tensor.bytes);
}

void GgufFile::release(std::span<const std::byte> part) const {
    if (file_.size() != 0) file_.release(part);
}

}  // namespace tessera::import
