#include "import/gguf/gguf_parts.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "support/error.h"

namespace tessera::import {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNumberKey = "split.no";
constexpr const char* kCountKey = "split.count";
constexpr const char* kTensorsKey = "split.tensors.count";
/// Each is a mapping of its own; the largest models have some thirty.
constexpr int64_t kMostParts = 4096;
/// "-00001-of-00003".
constexpr size_t kDigitsOfPart = 5;
constexpr size_t kSuffixLength = 2 * kDigitsOfPart + 5;

struct PartName {
    std::string_view model;
    int64_t number = 0;  ///< from 1
    int64_t count = 0;
};

std::optional<int64_t> digits(std::string_view text) {
    int64_t value = 0;
    for (const char c : text) {
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
        value = value * 10 + (c - '0');
    }
    return value;
}

/// The part that a file's name without its extension names.
std::optional<PartName> part_name(std::string_view stem) {
    if (stem.size() <= kSuffixLength) return std::nullopt;
    const std::string_view suffix = stem.substr(stem.size() - kSuffixLength);
    const auto number = digits(suffix.substr(1, kDigitsOfPart));
    const auto count = digits(suffix.substr(kSuffixLength - kDigitsOfPart));
    if (suffix.front() != '-' || suffix.substr(1 + kDigitsOfPart, 4) != "-of-" || !number || !count)
        return std::nullopt;
    if (*number < 1 || *number > *count || *count > kMostParts) return std::nullopt;
    return PartName{stem.substr(0, stem.size() - kSuffixLength), *number, *count};
}

fs::path sibling(const fs::path& path, std::string_view model, int64_t number, int64_t count) {
    return path.parent_path() /
           fmt::format("{}-{:05}-of-{:05}{}", model, number, count, path.extension().string());
}

struct PartFacts {
    int64_t number = 0;  ///< from 0
    int64_t count = 1;
};

PartFacts facts_of(const GgufFile& file) {
    const GgufMetadata& metadata = file.metadata();
    PartFacts facts{metadata.get_integer(kNumberKey).value_or(0),
                    metadata.get_integer(kCountKey).value_or(1)};
    facts.count = std::max<int64_t>(facts.count, 1);  // llama.cpp takes 0 as a whole file
    if (facts.count > kMostParts)
        throw Error(file.path(), kCountKey,
                    fmt::format("is {}, expected at most {}", facts.count, kMostParts));
    if (facts.number < 0 || facts.number >= facts.count)
        throw Error(file.path(), kNumberKey,
                    fmt::format("is {}, expected 0 to {}: the parts are {}", facts.number, facts.count - 1,
                                facts.count));
    return facts;
}

/// The name, from which those of the other parts follow; it must agree with the file's contents.
PartName checked_name(const GgufFile& file, const PartFacts& facts, const std::string& stem) {
    const auto name = part_name(stem);
    if (!name || name->count != facts.count || name->number != facts.number + 1)
        throw Error(file.path(), "",
                    fmt::format("is part {} of {}, expected a name that ends in -{:05}-of-{:05}.gguf",
                                facts.number + 1, facts.count, facts.number + 1, facts.count),
                    "the other parts are found by their names: rename them as they were");
    return *name;
}

GgufFile open_part(const fs::path& path, int64_t number, const PartName& name) {
    if (std::error_code ignored; !fs::exists(path, ignored))
        throw Error(path.string(), "",
                    fmt::format("is missing: it is part {} of the {} of a model", number, name.count),
                    "put all parts into one folder");
    return GgufFile::open(path);
}

}  // namespace

GgufParts GgufParts::open(const fs::path& path) {
    std::vector<GgufFile> parts;
    GgufFile given = GgufFile::open(path);
    const PartFacts facts = facts_of(given);
    if (facts.count > 1) {
        const std::string stem = path.stem().string();
        const PartName name = checked_name(given, facts, stem);
        for (int64_t number = 1; number <= name.count; ++number) {
            if (number != name.number)
                parts.push_back(open_part(sibling(path, name.model, number, name.count), number, name));
        }
        parts.insert(parts.begin() + (name.number - 1), std::move(given));
    } else {
        parts.push_back(std::move(given));
    }
    return GgufParts(std::move(parts));
}

GgufFile GgufParts::open_first(const fs::path& path) {
    GgufFile given = GgufFile::open(path);
    const PartFacts facts = facts_of(given);
    if (facts.number == 0) return given;
    const std::string stem = path.stem().string();
    const PartName name = checked_name(given, facts, stem);
    return open_part(sibling(path, name.model, 1, name.count), 1, name);
}

std::vector<fs::path> GgufParts::names(const fs::path& path) {
    const std::string stem = path.stem().string();
    const auto name = part_name(stem);
    if (!name) return {path};
    std::vector<fs::path> all;
    for (int64_t number = 1; number <= name->count; ++number)
        all.push_back(sibling(path, name->model, number, name->count));
    return all;
}

std::string_view GgufParts::model_name(std::string_view stem) {
    const auto name = part_name(stem);
    return name ? name->model : stem;
}

GgufParts::GgufParts(std::vector<GgufFile> parts) {
    TESSERA_CHECK(!parts.empty());
    const int64_t count = std::ssize(parts);
    int64_t tensors = 0;
    for (int64_t i = 0; i < count; ++i) {
        const GgufFile& part = parts[static_cast<size_t>(i)];
        const PartFacts facts = facts_of(part);
        if (facts.count != count || facts.number != i)
            throw Error(part.path(), kNumberKey,
                        fmt::format("says part {} of {}, expected part {} of {}", facts.number + 1,
                                    facts.count, i + 1, count),
                        "the parts are of different models, or were renamed");
        for (const GgufTensor& tensor : part.tensors())
            for (const auto& before : parts_)
                if (before->find_tensor(tensor.name))
                    throw Error(part.path(), std::string(tensor.name),
                                fmt::format("is also in {}", before->path()));
        tensors += std::ssize(part.tensors());
        parts_.push_back(std::make_shared<const GgufFile>(std::move(parts[static_cast<size_t>(i)])));
    }
    const auto expected = first().metadata().get_integer(kTensorsKey);
    if (count > 1 && expected && *expected != tensors)
        throw Error(first().path(), kTensorsKey,
                    fmt::format("is {}, but the {} parts have {} tensors", *expected, count, tensors),
                    "the parts are of different models");
}

const GgufTensor* GgufParts::find_tensor(std::string_view name) const {
    for (const auto& part : parts_)
        if (const GgufTensor* tensor = part->find_tensor(name)) return tensor;
    return nullptr;
}

}  // namespace tessera::import
