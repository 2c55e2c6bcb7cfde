#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/architecture/term.h"

/// An architecture as its text says it (docs/architectures.md): the settings and tensors of its checkpoints,
/// and the computation of a step. Nothing here depends on a checkpoint.
namespace tessera::import {

/// The names of something in one format, of which the first one that is there counts.
struct FormatNames {
    std::vector<std::string> names;
    TermPtr absent;  ///< what counts where none is there; null: one must be
    TermPtr null;    ///< what counts where the file says null; null: that is an error
};

enum class SettingType : uint8_t {
    kInteger,
    kReal,
    kBool,
    kText,
    kActivation,  ///< a text that names an activation function, as transformers spells it
    kPattern,     ///< for each layer: a list of truth values, or a period n, which leaves out each n-th layer
};

/// As the text spells it: "int", "pattern".
std::string_view name(SettingType type);

struct Setting {
    std::string name;
    SettingType type = SettingType::kInteger;
    bool is_list = false;
    bool is_per_layer = false;         ///< a list with one value for each layer
    bool is_alike = false;             ///< one value, or a list of equal ones for all layers
    TermPtr low, high;                 ///< bounds of a number; null: none
    std::vector<std::string> choices;  ///< of a text; empty: any
    FormatNames hf, gguf;
    std::string where;
};

struct Let {
    std::string name;
    TermPtr value;
    std::string where;
};

/// Something that is said about a setting where a condition holds.
struct Verdict {
    enum class Kind : uint8_t {
        kRefuse,  ///< reported with all others that are not supported
        kWarn,
        kExpect,  ///< an error if the condition does not hold: the file is damaged
    };
    Kind kind = Kind::kRefuse;
    std::string setting;
    TermPtr condition;
    std::string text;  ///< {NAME} in it stands for the value of a setting
    std::string where;
};

/// The tables of a rotary position embedding.
struct RopeText {
    std::string name;      ///< "rope": constants rope_cos and rope_sin
    TermPtr width;         ///< of the heads that are rotated
    FormatNames hf, gguf;  ///< of the base
    std::string kind;  ///< layers whose parameters have a place of their own: "full_attention"; empty: all
    bool has_longrope = false;
    bool has_proportional = false;  ///< "proportional" turns a part of the pairs of whole heads: Gemma 4
    std::vector<std::string> part_names;  ///< further names of the fraction that is rotated
    TermPtr part;            ///< the fraction by default, where a folder may state one; null: heads are whole
    TermPtr rotated;         ///< elements of a head, where no fraction says it; null: by the fraction
    bool has_alpha = false;  ///< "dynamic" with a constant alpha stretches the base: Hunyuan
    bool has_gguf_part = false;  ///< `rope.dimension_count` may be below the width
    TermPtr original_context;    ///< by default; null: the positions of the model
    TermPtr base;                ///< counts whatever a file says, perhaps by layer; null: that of the file
    TermPtr first;               ///< the position whose angle the first token has; null: 0
    /// In GGUF files the tables are multiplied by it, whatever a scaling says; null or without a value: as it
    /// says.
    TermPtr gguf_level;
    bool is_fixed = false;  ///< no file says anything of these tables
    std::string where;
};

struct TensorText {
    std::string name;  ///< of the constant in the graph: "q_weight"
    std::vector<TermPtr>
        shape;             ///< three axes: a matrix for each index of the first, stored together or apart
    bool is_bare = false;  ///< `tensor`: its stored names are whole; else they lack ".weight" and ".bias"
    TermPtr bias;          ///< whether there is one: true, false or stored; null: never
    std::vector<std::string> hf, gguf;
    bool is_transposed = false;  ///< in folders
    std::string tied;            ///< the tensor that stands in for it
    TermPtr tied_when;
    TermPtr when;
    std::string where;
};

/// A stored tensor whose rows are those of several, where a checkpoint has it.
struct FusedText {
    struct Part {
        std::string tensor;
        TermPtr rows;            ///< of each repetition; null: all of the tensor's
        bool is_turned = false;  ///< its rows are columns of the tensor's matrices
    };
    bool is_bare = false;
    bool is_transposed = false;  ///< in folders, or in GGUF files if these alone have it
    std::vector<std::string> hf, gguf;
    TermPtr repeat;  ///< so often the parts' rows follow one another; null: once
    std::vector<Part> parts;
    TermPtr when;
    std::string where;
};

struct Assignment {
    std::vector<std::string> names;    ///< several only of `split`
    std::vector<std::string> indices;  ///< of NAME[i, j]; empty: the whole value
    bool has_indices = false;
    /// A state that goes from token to token: its value of the token before stands on the right.
    bool is_carried = false;
    std::vector<TermPtr> extents;  ///< of the indices; null where what is read by an index alone says it
    TermPtr value;
    TermPtr when;  ///< null: always
    std::string where;
};

/// Numbers that stand in the place of a source's tokens (docs/architectures.md): token p has the rows from
/// every * p + first on.
struct FeaturesText {
    TermPtr width;  ///< of a row
    TermPtr taps;   ///< rows of a token
    TermPtr every;
    TermPtr first;
    TermPtr count;  ///< tokens of every source
    std::string where;
};

/// The model outside of its layers, or a layer.
struct Section {
    std::vector<TensorText> tensors;
    std::vector<FusedText> fused;
    std::vector<std::string> unused;  ///< ends of names of tensors that are stored, but computed anew
    std::vector<Assignment> assignments;
};

/// A setting without an effect.
struct IgnoredSetting {
    std::string name;  ///< in the file
    TermPtr value;     ///< the only one that has none; null: whatever it is
    std::string where;
};

struct Architecture {
    std::string name;  ///< `model_type` of config.json
    std::vector<std::string>
        classes;            ///< in `architectures` of config.json; none: a text for others to begin with
    std::string gguf_name;  ///< `general.architecture`; empty: no such files
    std::vector<Setting> settings;
    std::vector<Let> lets;
    std::vector<Verdict> verdicts;
    std::vector<IgnoredSetting> ignored_hf, ignored_gguf;
    std::vector<RopeText> ropes;
    std::optional<FeaturesText> features;
    std::vector<std::string> hf_layers,
        gguf_layers;      ///< "model.layers.{}."; several where stacks have their own
    TermPtr layer_place;  ///< which of them a layer has; null: the first
    TermPtr layer_count;
    TermPtr layer_number;  ///< in the names of a layer's tensors; null: its own
    Section model, layer;

    const Setting* setting(std::string_view setting_name) const;
};

/// The names that the tool itself asks the settings for, whatever the architecture.
inline constexpr const char* kVocabularySetting = "vocabulary";
inline constexpr const char* kPositionsSetting = "positions";
inline constexpr const char* kTiedSetting = "tied";

}  // namespace tessera::import
