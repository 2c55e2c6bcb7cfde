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
constexpr const char* kKnown = "known are linear, llama3, yarn and longrope";
constexpr const char* kOriginalContext = "original_max_position_embeddings";

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
    rope.original_context = scaling.integer(kOriginalContext, {1, limits::kPositions});
    if (!(rope.high_frequency_factor > rope.low_frequency_factor))
        throw Error(scaling.path(), "rope_scaling.high_freq_factor",
                    fmt::format("is {}, expected more than low_freq_factor = {}", rope.high_frequency_factor,
                                rope.low_frequency_factor));
}

int64_t read_original_context(HfSettings& scaling, std::optional<int64_t> absent) {
    return scaling.integer(kOriginalContext, {1, limits::kPositions}, absent);
}

void read_yarn(HfSettings& scaling, const RopeDefaults& defaults, RopeConfig& rope) {
    if (!(rope.base > 1))
        throw Error(scaling.path(), "rope_theta",
                    fmt::format("is {}, expected more than 1 for yarn", rope.base));
    rope.scaling = RopeConfig::Scaling::kYarn;
    rope.original_context = read_original_context(scaling, defaults.max_positions);
    const double ratio =
        static_cast<double>(defaults.max_positions) / static_cast<double>(rope.original_context);
    rope.factor = scaling.real("factor", kFactor, ratio);
    rope.fast_rotations = scaling.real("beta_fast", kFactor, rope.fast_rotations);
    rope.slow_rotations = scaling.real("beta_slow", kFactor, rope.slow_rotations);
    rope.is_ramp_truncated = scaling.boolean("truncate", true);
    const double weight = scaling.real("mscale", {0, 1e6}, 0),
                 all = scaling.real("mscale_all_dim", {0, 1e6}, 0);
    const double amplitude = weight != 0 && all != 0
                                 ? yarn_amplitude(rope.factor, weight) / yarn_amplitude(rope.factor, all)
                                 : yarn_amplitude(rope.factor);
    rope.amplitude = scaling.real("attention_factor", kFactor, amplitude);
}

/// Which factors count depends on the context that a model is compiled for, as in llama.cpp; transformers
/// looks at the length of each text.
void read_longrope(HfSettings& scaling, const RopeDefaults& defaults, RopeConfig& rope) {
    rope.scaling = RopeConfig::Scaling::kLongRope;
    rope.original_context = read_original_context(scaling, defaults.original_context);
    const double ratio =
        static_cast<double>(defaults.max_positions) / static_cast<double>(rope.original_context);
    const double factor = scaling.real("factor", kFactor, ratio);
    rope.amplitude =
        scaling.real("attention_factor", kFactor, longrope_amplitude(factor, rope.original_context));
    rope.short_factors = scaling.reals("short_factor", kFactor);
    rope.long_factors = scaling.reals("long_factor", kFactor);
}

/// "dynamic" depends on the length of each text. account_for refuses the remaining settings: these objects
/// hold nothing harmless.
RopeConfig read_scaling(HfSettings scaling, const RopeDefaults& defaults, RopeConfig rope) {
    rope.base = scaling.real("rope_theta", kBase, rope.base);
    scaling.refuse_unless_number("partial_rotary_factor", 1, "rotation of a part of each head");
    const std::string type = read_type(scaling);
    if (type == "yarn" && !defaults.has_longrope) {
        read_yarn(scaling, defaults, rope);
    } else if (type == "longrope" || (defaults.has_longrope && (type == "su" || type == "yarn"))) {
        read_longrope(scaling, defaults, rope);
    } else if (type == "llama3") {
        read_llama3(scaling, rope);
    } else if (type == "linear") {
        rope.scaling = RopeConfig::Scaling::kLinear;
        rope.factor = scaling.real("factor", kFactor);
    } else if (type == "default" || type == "none") {
        scaling.refuse_unless_number("factor", 1, fmt::format("a scaling without a type; {}", kKnown));
    } else {
        scaling.refuse(scaling.has("rope_type") ? "rope_type" : "type",
                       fmt::format("scaling of the rotary position embedding; {}", kKnown));
        scaling.ignore_all();
    }
    // Only "yarn" and "longrope" multiply by it.
    if (rope.scaling != RopeConfig::Scaling::kYarn && rope.scaling != RopeConfig::Scaling::kLongRope)
        scaling.refuse_unless_number("attention_factor", 1, "a scale of the rotated queries and keys");
    scaling.ignore(kOriginalContext);
    scaling.ignore("finetuned");
    return rope;
}

/// If there are several by types of layers, that of `layer_type` counts.
std::optional<RopeConfig> read_field(HfSettings& settings, const char* field, const char* layer_type,
                                     const RopeDefaults& defaults, const RopeConfig& without) {
    auto parameters = settings.object(field);
    if (!parameters) return std::nullopt;
    const std::vector<std::string> types = parameters->objects();
    if (types.empty()) return read_scaling(*parameters, defaults, without);
    for (const std::string& type : types) parameters->ignore(type);
    auto own = parameters->object(layer_type);
    if (!own) {
        settings.refuse(field, fmt::format("none for layers of {}", layer_type));
        return std::nullopt;
    }
    return read_scaling(*own, defaults, without);
}

}  // namespace

RopeConfig read_rope(HfSettings& settings, const RopeDefaults& defaults) {
    RopeDefaults own = defaults;
    own.original_context =
        settings.integer(kOriginalContext, {1, limits::kPositions}, defaults.max_positions);
    RopeConfig rope;
    rope.base = settings.real("rope_theta", kBase, defaults.base);
    const auto parameters = read_field(settings, "rope_parameters", "full_attention", own, rope);
    const auto scaling =
        read_field(settings, "rope_scaling", "full_attention", own, parameters.value_or(rope));
    if (parameters && scaling && *parameters != *scaling)
        settings.refuse("rope_scaling", "another scaling than rope_parameters say");
    return scaling ? *scaling : parameters.value_or(rope);
}

RopeConfig read_local_rope(HfSettings& settings, const RopeDefaults& defaults) {
    RopeConfig rope;
    rope.base = settings.real("rope_local_base_freq", kBase, defaults.base);
    auto parameters = settings.object("rope_parameters");
    auto own = parameters ? parameters->object("sliding_attention") : std::nullopt;
    return own ? read_scaling(*own, defaults, rope) : rope;
}

}  // namespace tessera::import
