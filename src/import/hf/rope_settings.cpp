#include "import/hf/rope_settings.h"

#include "import/decoder_config.h"
#include "support/error.h"

// Sources: modeling_rope_utils.py and configuration_utils.py of HuggingFace transformers. Where the settings
// lie has changed three times:
//
//   {"rope_theta": 1e4, "rope_scaling": {"type": "linear", "factor": 2}}          before 4.43
//   {"rope_theta": 1e4, "rope_scaling": {"rope_type": "linear", "factor": 2}}
//   {"rope_parameters": {"rope_theta": 1e4, "rope_type": "linear", "factor": 2}}  from 5 on
//   {"rope_parameters": {"full_attention": {"rope_theta": 1e4, ...}, ...}}        by the types of layers

namespace tessera::import {
namespace {

constexpr RealBounds kBase{1e-3, 1e15};
constexpr RealBounds kFactor{1e-3, 1e6};

std::string read_type(HfSettings& scaling) {
    const auto type = scaling.text("rope_type"), old_type = scaling.text("type");
    if (type && old_type && *type != *old_type) scaling.refuse("type", "another scaling than rope_type says");
    return type ? *type : old_type.value_or("default");
}

void read_llama3(HfSettings& scaling, RopeConfig& rope) {
    rope.scaling = RopeConfig::Scaling::kLlama3;
    rope.factor = scaling.real("factor", kFactor);
    rope.low_frequency_factor = scaling.real("low_freq_factor", kFactor);
    rope.high_frequency_factor = scaling.real("high_freq_factor", kFactor);
    rope.original_context = scaling.integer("original_max_position_embeddings", {1, limits::kPositions});
    if (!(rope.high_frequency_factor > rope.low_frequency_factor))
        throw Error(scaling.path(), "rope_scaling.high_freq_factor",
                    fmt::format("is {}, expected more than low_freq_factor = {}", rope.high_frequency_factor,
                                rope.low_frequency_factor));
}

/// "llama3" and "linear" scale frequencies only; the other forms also depend on the length of the text.
/// account_for refuses the remaining settings: these objects hold nothing harmless.
RopeConfig read_scaling(HfSettings scaling, RopeConfig rope) {
    rope.base = scaling.real("rope_theta", kBase, rope.base);
    scaling.refuse_unless_number("partial_rotary_factor", 1, "rotation of a part of each head");
    // Only "yarn" and "longrope" multiply by it.
    scaling.refuse_unless_number("attention_factor", 1, "a scale of the rotated queries and keys");
    scaling.ignore("original_max_position_embeddings");
    scaling.ignore("finetuned");
    const std::string type = read_type(scaling);
    if (type == "default" || type == "none") {
        scaling.refuse_unless_number("factor", 1, "a scaling without a type; known are linear and llama3");
    } else if (type == "linear") {
        rope.scaling = RopeConfig::Scaling::kLinear;
        rope.factor = scaling.real("factor", kFactor);
    } else if (type == "llama3") {
        read_llama3(scaling, rope);
    } else {
        scaling.refuse(scaling.has("rope_type") ? "rope_type" : "type",
                       "scaling of the rotary position embedding; known are linear and llama3");
        scaling.ignore_all();
    }
    return rope;
}

/// If there are several by types of layers, that of full attention counts: layers of other types are refused.
std::optional<RopeConfig> read_field(HfSettings& settings, const char* field, const RopeConfig& without) {
    auto parameters = settings.object(field);
    if (!parameters) return std::nullopt;
    const std::vector<std::string> types = parameters->objects();
    if (types.empty()) return read_scaling(*parameters, without);
    for (const std::string& type : types) parameters->ignore(type);
    auto full = parameters->object("full_attention");
    if (!full) {
        settings.refuse(field, "none for layers of full_attention");
        return std::nullopt;
    }
    return read_scaling(*full, without);
}

}  // namespace

RopeConfig read_rope(HfSettings& settings) {
    RopeConfig rope;
    rope.base = settings.real("rope_theta", kBase, rope.base);
    const auto parameters = read_field(settings, "rope_parameters", rope);
    const auto scaling = read_field(settings, "rope_scaling", parameters.value_or(rope));
    if (parameters && scaling && *parameters != *scaling)
        settings.refuse("rope_scaling", "another scaling than rope_parameters say");
    return scaling ? *scaling : parameters.value_or(rope);
}

}  // namespace tessera::import
