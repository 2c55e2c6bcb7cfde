#include "import/npy/npy_weights.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/error.h"
#include "support/near_names.h"

namespace tessera::import {
namespace {

/// The number of names that an error lists before it counts the others.
constexpr size_t kListedNames = 8;

/// The tensor that a graph expects from one source.
struct Wanted {
    ElementType element;
    std::vector<int64_t> shape;
    std::string constant;
    bool operator==(const Wanted& other) const { return element == other.element && shape == other.shape; }
};

std::string wanted_text(const Wanted& wanted) {
    return fmt::format("{}[{}]", name(wanted.element), fmt::join(wanted.shape, ", "));
}

std::map<std::string, Wanted> wanted_sources(const Graph& graph, const std::string& where) {
    std::map<std::string, Wanted> all;
    for (const Value& value : graph.values) {
        if (value.kind != ValueKind::kConstant) continue;
        for (size_t s = 0; s < value.sources.size(); ++s) {
            const Wanted wanted{value.type.element, value.part_shape(s % value.parts()), value.name};
            const auto [at, is_new] = all.emplace(value.sources[s], wanted);
            if (!is_new && !(at->second == wanted))
                throw Error(where, value.sources[s],
                            fmt::format("is {} for {} and {} for {}", wanted_text(at->second),
                                        at->second.constant, wanted_text(wanted), wanted.constant),
                            "give them sources of their own");
        }
    }
    return all;
}

void refuse_unknown(const std::map<std::string, Wanted>& wanted,
                    const std::map<std::string, std::filesystem::path>& files, const std::string& where) {
    for (const auto& [name, path] : files) {
        if (wanted.contains(name)) continue;
        std::vector<std::string> known;
        for (const auto& [source, each] : wanted) known.push_back(source);
        const std::vector<std::string> near = near_names(name, known);
        throw Error(where, name, "is the source of no constant",
                    near.empty() ? "the graph names them: constant w: f32[40, 48] from \"w\""
                                 : fmt::format("there is {}", fmt::join(near, ", ")));
    }
}

void refuse_missing(const std::map<std::string, Wanted>& wanted,
                    const std::map<std::string, std::filesystem::path>& files, const std::string& where) {
    std::vector<std::string> missing;
    size_t count = 0;
    for (const auto& [source, each] : wanted) {
        if (files.contains(source)) continue;
        if (++count <= kListedNames) missing.push_back(fmt::format("{}: {}", source, wanted_text(each)));
    }
    if (count == 0) return;
    const std::string more = count > kListedNames ? fmt::format(" and {} more", count - kListedNames) : "";
    throw Error(where, "",
                fmt::format("has constants without contents: {}{}", fmt::join(missing, "; "), more),
                "give each a file: --constant NAME=FILE.npy");
}

}  // namespace

NpyWeights::NpyWeights(const Graph& graph, const std::map<std::string, std::filesystem::path>& files,
                       const std::string& where) {
    const std::map<std::string, Wanted> wanted = wanted_sources(graph, where);
    refuse_unknown(wanted, files, where);
    refuse_missing(wanted, files, where);
    for (const auto& [name, want] : wanted) {
        NpyFile file = NpyFile::open(files.at(name));
        file.array().expect_type(want.element, name);
        if (file.shape() != want.shape)
            throw Error(file.where(), name,
                        fmt::format("has shape [{}], expected [{}]", fmt::join(file.shape(), ", "),
                                    fmt::join(want.shape, ", ")));
        const bool is_stored = want.element != ElementType::kBF16;
        StoredTensor tensor{.type = file.type(), .element = want.element, .shape = want.shape, .bytes = {}};
        if (is_stored) tensor.bytes = file.bytes();
        sources_.emplace(name, Source{std::move(file), std::move(tensor)});
    }
}

const StoredTensor* NpyWeights::find(std::string_view name) const {
    const auto found = sources_.find(name);
    return found == sources_.end() ? nullptr : &found->second.tensor;
}

std::vector<std::string> NpyWeights::names() const {
    std::vector<std::string> names;
    for (const auto& [name, source] : sources_) names.push_back(name);
    return names;
}

TensorContents NpyWeights::contents(std::string_view name) const {
    const auto found = sources_.find(name);
    TESSERA_CHECK(found != sources_.end(), "{}", name);
    const Source& source = found->second;
    if (source.tensor.element != ElementType::kBF16) return {.bytes = source.tensor.bytes, .owner = nullptr};
    const auto rounded = std::make_shared<std::vector<std::byte>>(source.file.elements(ElementType::kBF16));
    return {.bytes = *rounded, .owner = rounded};
}

}  // namespace tessera::import
