#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/architecture/architecture.h"

namespace tessera::import {

/// The text of an architecture that the tool has within: architectures/NAME.arch when it was built.
struct ShippedText {
    std::string_view name;
    std::string_view text;
};

/// All of them, by name. Those without a class are for others to begin with.
std::span<const ShippedText> shipped_texts();

/// The architectures that a checkpoint may be of: those that are shipped, and texts of the user's own, which
/// come before them. A text is read when something asks for it.
class Architectures {
public:
    Architectures() = default;
    /// @throws Error if a file cannot be read, or is no architecture
    explicit Architectures(std::span<const std::filesystem::path> files);

    /// By `model_type`, class, or `general.architecture`. Null if there is none.
    std::shared_ptr<const Architecture> find(std::string_view name) const;
    std::shared_ptr<const Architecture> find_class(std::string_view name) const;
    std::shared_ptr<const Architecture> find_gguf(std::string_view name) const;
    /// By the same names: "llama, mistral, qwen2, .."
    std::string names() const;
    std::string gguf_names() const;
    /// All that have a class, those of the user first.
    std::vector<std::shared_ptr<const Architecture>> all() const;

private:
    std::vector<std::shared_ptr<const Architecture>> own_;
};

/// @throws Error, as above
std::shared_ptr<const Architecture> read_architecture_file(const std::filesystem::path& file);
/// A shipped one, also one without a class. Null if there is none.
std::shared_ptr<const Architecture> shipped_architecture(std::string_view name);

}  // namespace tessera::import
