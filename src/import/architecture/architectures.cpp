#include "import/architecture/architectures.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "import/architecture/parse_architecture.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/stand_in.h"

namespace tessera::import {
namespace {

std::string_view shipped_text(std::string_view name) {
    for (const ShippedText& each : shipped_texts())
        if (each.name == name) return each.text;
    return {};
}

/// Those that a checkpoint may name. They are constants, so a process reads them once.
const std::vector<std::shared_ptr<const Architecture>>& named_architectures() {
    static const auto named = [] {
        std::vector<std::shared_ptr<const Architecture>> found;
        for (const ShippedText& each : shipped_texts()) {
            const auto architecture = shipped_architecture(each.name);
            if (!architecture->classes.empty() || !architecture->gguf_name.empty())
                found.push_back(architecture);
        }
        return found;
    }();
    return named;
}

}  // namespace

std::shared_ptr<const Architecture> read_architecture_file(const std::filesystem::path& file) {
    if (!std::filesystem::is_regular_file(file))
        throw Error(file.string(), "", "is no file", "expected the text of an architecture");
    const MappedFile mapped = MappedFile::open(file);
    return std::make_shared<const Architecture>(
        parse_architecture(mapped.text(), file.string(), shipped_text));
}

std::shared_ptr<const Architecture> shipped_architecture(std::string_view name) {
    const std::string_view text = shipped_text(name);
    if (text.empty()) return nullptr;
    return std::make_shared<const Architecture>(
        parse_architecture(text, std::string(name) + ".arch", shipped_text));
}

Architectures::Architectures(std::span<const std::filesystem::path> files) {
    for (const std::filesystem::path& file : files) own_.push_back(read_architecture_file(file));
}

std::vector<std::shared_ptr<const Architecture>> Architectures::all() const {
    std::vector<std::shared_ptr<const Architecture>> found = own_;
    found.insert(found.end(), named_architectures().begin(), named_architectures().end());
    return found;
}

std::shared_ptr<const Architecture> Architectures::find(std::string_view name) const {
    for (const auto& each : own_)
        if (each->name == name) return each;
    const auto shipped = shipped_architecture(name);
    return shipped && !shipped->classes.empty() ? shipped : nullptr;
}

std::shared_ptr<const Architecture> Architectures::find_class(std::string_view name) const {
    for (const auto& each : all())
        if (std::ranges::find(each->classes, name) != each->classes.end()) return each;
    return nullptr;
}

std::shared_ptr<const Architecture> Architectures::find_gguf(std::string_view name) const {
    for (const auto& each : all())
        if (!name.empty() && each->gguf_name == name) return each;
    return nullptr;
}

std::string Architectures::names() const {
    std::vector<std::string> names;
    for (const auto& each : all()) names.push_back(each->name);
    return fmt::to_string(fmt::join(names, ", "));
}

std::string Architectures::gguf_names() const {
    std::vector<std::string> names;
    for (const auto& each : all())
        if (!each->gguf_name.empty()) names.push_back(each->gguf_name);
    return fmt::to_string(fmt::join(names, ", "));
}

}  // namespace tessera::import
