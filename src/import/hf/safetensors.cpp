#include "import/hf/safetensors.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "support/checked.h"
#include "support/error.h"
#include "support/json.h"
#include "support/stand_in.h"

namespace tessera::import {
namespace {

/// As the reference implementation limits it.
constexpr size_t kLongestHeader = 100'000'000;
constexpr size_t kMostAxes = 8;

struct DataType {
    std::string_view name;
    int64_t bits;
    std::optional<ElementType> element;
};

constexpr DataType kDataTypes[] = {
    {"F32", 32, ElementType::kF32},
    {"F16", 16, ElementType::kF16},
    {"BF16", 16, ElementType::kBF16},
    {"I32", 32, ElementType::kI32},
    {"I8", 8, ElementType::kI8},
    {"U8", 8, ElementType::kU8},
    {"F64", 64, {}},
    {"I64", 64, {}},
    {"U64", 64, {}},
    {"U32", 32, {}},
    {"I16", 16, {}},
    {"U16", 16, {}},
    {"BOOL", 8, {}},
    {"F8_E4M3", 8, {}},
    {"F8_E5M2", 8, {}},
    {"F8_E8M0", 8, {}},
    {"F4", 4, {}},
    {"C64", 64, {}},
};

/// Numbers of a list, none of them negative.
std::vector<int64_t> sizes_of(const JsonCursor& list) {
    std::vector<int64_t> all;
    for (const JsonCursor& each : list.items()) all.push_back(each.integer(0, INT64_MAX));
    return all;
}

void check_size(const StoredTensor& tensor, int64_t bits_each, const JsonCursor& entry) {
    const auto elements = checked_product(std::span<const int64_t>(tensor.shape));
    const auto bits_all = elements ? checked_mul(*elements, bits_each) : std::nullopt;
    if (!bits_all || *bits_all % 8 != 0 || *bits_all / 8 != std::ssize(tensor.bytes))
        entry.fail(fmt::format("has {} bytes, which do not hold {} elements of its shape {}",
                               tensor.bytes.size(), tensor.type, entry.at("shape").shown()));
}

/// The tensor that an entry of the header describes.
StoredTensor read_entry(const JsonCursor& entry, std::span<const std::byte> data) {
    const std::string type = entry.at("dtype").string();
    const auto known = std::find_if(std::begin(kDataTypes), std::end(kDataTypes),
                                    [&](const DataType& each) { return each.name == type; });
    StoredTensor tensor{.type = type, .shape = sizes_of(entry.at("shape"))};
    if (tensor.shape.size() > kMostAxes)
        entry.fail(fmt::format("has {} axes, expected at most {}", tensor.shape.size(), kMostAxes));
    const JsonCursor place = entry.at("data_offsets");
    const std::vector<int64_t> offsets = sizes_of(place);
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > std::ssize(data))
        place.fail_expected(
            fmt::format("two ascending numbers up to {}, the size of the contents", data.size()));
    tensor.bytes =
        data.subspan(static_cast<size_t>(offsets[0]), static_cast<size_t>(offsets[1] - offsets[0]));
    if (known != std::end(kDataTypes)) {
        tensor.element = known->element;
        check_size(tensor, known->bits, entry);
    }
    return tensor;
}

/// The tensors follow one another and fill the contents. @throws Error naming the first that does not.
void check_places(const std::string& path, const std::map<std::string, StoredTensor, std::less<>>& tensors,
                  std::span<const std::byte> data) {
    std::vector<std::tuple<size_t, size_t, const std::string*>> places;
    for (const auto& [name, tensor] : tensors) {
        const auto begin = static_cast<size_t>(tensor.bytes.data() - data.data());
        places.emplace_back(begin, begin + tensor.bytes.size(), &name);
    }
    std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) {
        return std::tie(std::get<0>(a), std::get<1>(a), *std::get<2>(a)) <
               std::tie(std::get<0>(b), std::get<1>(b), *std::get<2>(b));
    });
    size_t end = 0;
    for (const auto& [begin, next_end, name] : places) {
        if (begin != end)
            throw Error(path, *name,
                        fmt::format("begins at {} of the contents, {} where the tensor before it ends at {}",
                                    begin, begin < end ? "inside," : "behind a gap,", end));
        end = next_end;
    }
    if (end != data.size())
        throw Error(path, "", fmt::format("holds {} bytes that belong to no tensor", data.size() - end));
}

}  // namespace

SafetensorsFile SafetensorsFile::open(const std::string& path) {
    SafetensorsFile result;
    result.file_ = MappedFile::open(path);
    const std::span<const std::byte> all = result.file_.bytes();
    refuse_text(result.file_.text(), path);
    uint64_t length = 0;
    if (all.size() < sizeof(length))
        throw Error(path, "",
                    fmt::format("has {} bytes, fewer than the length of a header needs", all.size()));
    std::memcpy(&length, all.data(), sizeof(length));
    if (length > kLongestHeader || length > all.size() - sizeof(length))
        throw Error(path, "",
                    fmt::format("claims a header of {} bytes, but {} follow and at most {} are read", length,
                                all.size() - sizeof(length), kLongestHeader),
                    "the file is cut off, or no safetensors file");
    const auto header_bytes = static_cast<size_t>(length);
    const std::string_view text = result.file_.text().substr(sizeof(length), header_bytes);
    const std::span<const std::byte> data = all.subspan(sizeof(length) + header_bytes);

    const JsonCursor header = parse_json(text, path, {.bytes = kLongestHeader, .depth = 4});
    for (const std::string& name : header.keys())
        if (name != "__metadata__") result.tensors_.emplace(name, read_entry(header.at(name), data));
    check_places(path, result.tensors_, data);
    return result;
}

const StoredTensor* SafetensorsFile::find(std::string_view name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second;
}

std::vector<std::string> SafetensorsFile::names() const {
    std::vector<std::string> all;
    for (const auto& [name, tensor] : tensors_) all.push_back(name);
    return all;
}

void SafetensorsFile::release(std::string_view name) const {
    if (const StoredTensor* tensor = find(name)) file_.release(tensor->bytes);
}

}  // namespace tessera::import
