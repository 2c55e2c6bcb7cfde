#include "import/npy/npy_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "ir/stored_number.h"
#include "support/atomic_file.h"
#include "support/checked.h"
#include "support/error.h"

namespace tessera::import {
namespace {

/// The number of elements that are converted before they are written.
constexpr size_t kWidenedPiece = size_t{16} * 1024;

/// A type as NumPy's `astype` takes it: "<f4" is float32.
struct NpyType {
    std::string_view type;
    std::string_view name;
    int64_t bytes;
};
constexpr std::array kNpyTypes = {
    NpyType{"<f8", "float64", 8}, NpyType{"<f4", "float32", 4}, NpyType{"<f2", "float16", 2},
    NpyType{"<i8", "int64", 8},   NpyType{"<i4", "int32", 4},   NpyType{"<i2", "int16", 2},
    NpyType{"|i1", "int8", 1},    NpyType{"<u8", "uint64", 8},  NpyType{"<u4", "uint32", 4},
    NpyType{"<u2", "uint16", 2},  NpyType{"|u1", "uint8", 1},   NpyType{"|b1", "bool", 1}};

const NpyType* find_type(std::string_view type) {
    const auto* found = std::ranges::find(kNpyTypes, type, &NpyType::type);
    return found == kNpyTypes.end() ? nullptr : found;
}

std::string type_list() {
    std::string list;
    for (const NpyType& type : kNpyTypes) list += fmt::format("{}{}", list.empty() ? "" : ", ", type.type);
    return list;
}

/// Arithmetic computes u64 as i64 (ir/element_type.h). @param stored u64, little-endian
void expect_numbers_of_i64(std::span<const std::byte> stored, const std::string& where) {
    constexpr size_t kBytes = sizeof(uint64_t);
    constexpr std::byte kHighest{0x80};
    for (size_t at = 0; at + kBytes <= stored.size(); at += kBytes) {
        if ((stored[at + kBytes - 1] & kHighest) == std::byte{0}) continue;
        throw Error(
            where, "",
            fmt::format("has a number of 2^63 or more as element {}, expected smaller ones", at / kBytes),
            "larger numbers of uint64 are not supported");
    }
}

/// Tells `sink` the bytes that an array of NumPy has for dense elements of this type, piece by piece.
void for_npy_bytes(ElementType type, std::span<const std::byte> elements,
                   const std::function<void(std::span<const std::byte>)>& sink) {
    if (type != ElementType::kBF16) return sink(elements);
    std::vector<float> piece;
    for (size_t i = 0; i < elements.size() / 2; i += piece.size()) {
        piece.resize(std::min(kWidenedPiece, elements.size() / 2 - i));
        for (size_t j = 0; j < piece.size(); ++j)
            piece[j] = static_cast<float>(stored_number(elements, type, i + j));
        sink(std::as_bytes(std::span(piece)));
    }
}

}  // namespace

std::string_view npy_type(ElementType type) {
    switch (type) {
        case ElementType::kF64:
            return "<f8";
        case ElementType::kI64:
            return "<i8";
        case ElementType::kI16:
            return "<i2";
        case ElementType::kU64:
            return "<u8";
        case ElementType::kU32:
            return "<u4";
        case ElementType::kU16:
            return "<u2";
        case ElementType::kBool:
            return "|b1";
        case ElementType::kF32:
        case ElementType::kBF16:
            return "<f4";
        case ElementType::kF16:
            return "<f2";
        case ElementType::kI32:
            return "<i4";
        case ElementType::kI8:
            return "|i1";
        case ElementType::kU8:
            return "|u1";
        default:  // of less than a byte
            break;
    }
    return "";
}

NpyFile NpyFile::open(const std::filesystem::path& path) {
    NpyFile result;
    result.file_ = MappedFile::open(path);
    result.array_ = npy_array(result.file_.bytes(), path.string());
    return result;
}

NpyArray npy_array(std::span<const std::byte> file, const std::string& where) {
    NpyHeader header = parse_npy_header({reinterpret_cast<const char*>(file.data()), file.size()}, where);
    if (header.type.starts_with('>'))
        throw Error(where, "", fmt::format("has elements `{}`, which are big-endian", header.type),
                    "save the array after `.astype(array.dtype.newbyteorder('<'))`");
    const NpyType* type = find_type(header.type);
    if (type == nullptr)
        throw Error(where, "", fmt::format("has elements `{}`, expected {}", header.type, type_list()),
                    "save the array after `.astype(numpy.float32)`, or another of these types");
    if (header.is_fortran)
        throw Error(where, "", "has its elements in the order of Fortran",
                    "save `numpy.ascontiguousarray(array)`");
    const std::optional<int64_t> elements = checked_product(std::span<const int64_t>(header.shape));
    const std::optional<int64_t> bytes = elements ? checked_mul(*elements, type->bytes) : std::nullopt;
    const size_t found = file.size() - header.bytes;
    if (!bytes || static_cast<uint64_t>(*bytes) != found)
        throw Error(where, "",
                    fmt::format("has {} bytes of elements, its header says {}: it is damaged", found,
                                bytes ? fmt::to_string(*bytes) : "more than there can be"));
    return {where, std::move(header.type), std::move(header.shape), file.subspan(header.bytes)};
}

void NpyArray::expect_type(ElementType wanted, const std::string& entity) const {
    const std::string_view expected = npy_type(wanted);
    TESSERA_CHECK(!expected.empty(), "{}", name(wanted));
    if (type == expected) return;
    throw Error(where, entity,
                fmt::format("has elements `{}`, expected {} (`{}`)", type, name(wanted), expected),
                fmt::format("give the array after `.astype(numpy.{})`", find_type(expected)->name));
}

std::vector<std::byte> NpyArray::elements(ElementType wanted) const {
    expect_type(wanted, "");
    const std::optional<int64_t> count = checked_product(std::span<const int64_t>(shape));
    if (!count || checked_mul(*count, find_type(type)->bytes) != std::ssize(bytes))
        throw Error(where, "",
                    fmt::format("has {} bytes of elements, which are not those of its shape", bytes.size()));
    if (wanted == ElementType::kU64) expect_numbers_of_i64(bytes, where);
    if (wanted == ElementType::kBool) {
        std::vector<std::byte> truths(bytes.begin(), bytes.end());
        for (std::byte& truth : truths) truth = std::byte{truth != std::byte{0}};  // any other one is true
        return truths;
    }
    if (wanted != ElementType::kBF16) return {bytes.begin(), bytes.end()};
    std::vector<std::byte> rounded(bytes.size() / 2);
    for (size_t i = 0; i < rounded.size() / 2; ++i)
        set_stored_number(rounded, wanted, i, stored_number(bytes, ElementType::kF32, i));
    return rounded;
}

std::vector<std::byte> npy_bytes(ElementType type, std::span<const std::byte> elements) {
    std::vector<std::byte> bytes;
    for_npy_bytes(type, elements, [&](std::span<const std::byte> piece) {
        bytes.insert(bytes.end(), piece.begin(), piece.end());
    });
    return bytes;
}

void write_npy(const std::filesystem::path& path, ElementType type, const std::vector<int64_t>& shape,
               std::span<const std::byte> elements) {
    const std::string_view spelled = npy_type(type);
    TESSERA_CHECK(!spelled.empty(), "{}", name(type));
    AtomicFile file(path);
    file.write(
        print_npy_header({.type = std::string(spelled), .is_fortran = false, .shape = shape, .bytes = 0}));
    for_npy_bytes(type, elements, [&](std::span<const std::byte> piece) { file.write(piece); });
    file.commit();
}

}  // namespace tessera::import
