#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "import/architecture/architecture.h"
#include "import/architecture/evaluate.h"
#include "import/packed_form.h"
#include "import/rope_tables.h"

namespace tessera::import {

/// Rotary tables that a model has.
struct ModelRope {
    RopeConfig config;
    int64_t width = 0;  ///< of the heads that are rotated
    int64_t pairs() const { return rotated_pairs(config, width); }
    bool operator==(const ModelRope&) const = default;
};

/// The settings of a model, from either format, each within its bounds, as the text of its architecture asks
/// for them.
struct ModelConfig {
    std::shared_ptr<const Architecture> architecture;
    bool is_gguf = false;
    std::map<std::string, Scalar> settings;  ///< by their names in the text
    std::map<std::string, std::vector<Scalar>> settings_of_layers;
    int64_t layers = 0;
    int64_t vocabulary = 0;
    int64_t max_positions = 0;
    std::map<std::string, ModelRope> ropes;  ///< by their names in the text
    /// The tables that each layer reads by a name of the text, where they differ.
    std::map<std::string, std::vector<std::string>> ropes_of_layers;
    std::optional<bool> is_tied;       ///< empty: the head is the embedding if no head is stored
    std::optional<PackedForm> packed;  ///< matrices of a folder that are packed integers
    bool layers_differ = false;        ///< in a size: refused, and their tensors are not looked at
    std::vector<int64_t> end_ids;      ///< tokens that end a text
    std::string stated_type;           ///< of the weights, where the settings say so: "bfloat16"

    const std::string& name() const { return architecture->name; }
    /// The values of settings and `let`s; with a layer, also those that differ by layer.
    Scope scope(std::optional<int64_t> layer = std::nullopt) const;
    /// A setting or `let` by its name in the text. @throws Error if there is none, or it is of another kind
    Scalar value(const std::string& name, std::optional<int64_t> layer = std::nullopt) const;
    int64_t integer(const std::string& name, std::optional<int64_t> layer = std::nullopt) const;
    double real(const std::string& name, std::optional<int64_t> layer = std::nullopt) const;
};

/// The largest model that is accepted: larger settings are damage, and computed sizes never overflow.
namespace limits {
inline constexpr int64_t kLayers = 1024;
inline constexpr int64_t kHidden = 1 << 18;
inline constexpr int64_t kHeads = 4096;
inline constexpr int64_t kHeadWidth = 4096;
inline constexpr int64_t kVocabulary = 1 << 24;
inline constexpr int64_t kPositions = 1 << 24;
inline constexpr int64_t kElements = int64_t{1} << 40;  ///< of one tensor
}  // namespace limits

}  // namespace tessera::import
