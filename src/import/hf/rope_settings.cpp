#include "import/hf/rope_settings.h"

#include <cmath>

#include "import/model_config.h"
#include "support/error.h"

// Sources: modeling_rope_utils.py and configuration_utils.py of HuggingFace transformers. The place of the
// settings has changed three times:
//
//   {"rope_theta": 1e4, "rope_scaling": {"type": "linear", "factor": 2}}          before 4.43
//   {"rope_theta": 1e4, "rope_scaling": {"rope_type": "linear", "factor": 2}}
//   {"rope_parameters": {"rope_theta": 1e4, "rope_type": "linear", "factor": 2}}  from 5 on
//   {"rope_parameters": {"full_attention": {"rope_theta": 1e4, ...}, ...}}        by the types of layers
//
// A setting in the object overrides one beside it, except for `original_max_position_embeddings`, as in
// version 5.

namespace tessera::import {
namespace {

constexpr RealBounds kBase{1e-3, 1e15};
constexpr RealBounds kFactor{1e-3, 1e6};
constexpr RealBounds kPart{1e-3, 1};
constexpr const char* kKnown = "known are linear, llama3, yarn and longrope";
constexpr const char* kOriginalContext = "original_max_position_embeddings";
constexpr const char* kPartOfHead = "partial_rotary_factor";
constexpr const char* kParameters = "rope_parameters";
constexpr const char* kScaling = "rope_scaling";

/// The settings beside the object of a scaling.
struct BesideRope {
    RopeRules rules;
    std::optional<int64_t> original_context;
};

std::string read_type(HfSettings& scaling) {
    const auto type = scaling.text("rope_type"), old_type = scaling.text("type");
    if (type && old_type && *type != *old_type) scaling.refuse("type", "another scaling than rope_type says");
    return type ? *type : old_type.value_or("default");
}

/// Versions before 5 take the value in the object for "yarn" and "llama3".
int64_t read_original_context(HfSettings& scaling, const BesideRope& beside, const RopeConfig& rope) {
    const int64_t own = scaling.integer(kOriginalContext, {1, limits::kPositions},
                                        beside.original_context.value_or(beside.rules.max_positions));
    if (!beside.original_context) return own;
    if (own != *beside.original_context && rope.scaling != RopeConfig::Scaling::kLongRope)
        scaling.warn(kOriginalContext,
                     fmt::format("{} beside it counts, as in transformers 5", *beside.original_context));
    return *beside.original_context;
}

void read_llama3(HfSettings& scaling, const BesideRope& beside, RopeConfig& rope) {
    rope.scaling = RopeConfig::Scaling::kLlama3;
    rope.factor = scaling.real("factor", kFactor);
    rope.low_frequency_factor = scaling.real("low_freq_factor", kFactor);
    rope.high_frequency_factor = scaling.real("high_freq_factor", kFactor);
    rope.original_context = read_original_context(scaling, beside, rope);
    if (!(rope.high_frequency_factor > rope.low_frequency_factor))
        throw Error(scaling.path(), "rope_scaling.high_freq_factor",
                    fmt::format("is {}, expected more than low_freq_factor = {}", rope.high_frequency_factor,
                                rope.low_frequency_factor));
}

double ratio_of_contexts(const BesideRope& beside, const RopeConfig& rope) {
    return static_cast<double>(beside.rules.max_positions) / static_cast<double>(rope.original_context);
}

void read_yarn(HfSettings& scaling, const BesideRope& beside, RopeConfig& rope) {
    if (!(rope.base > 1))
        throw Error(scaling.path(), "rope_theta",
                    fmt::format("is {}, expected more than 1 for yarn", rope.base));
    if (rope.rotated % 2 != 0)
        scaling.refuse(kPartOfHead, fmt::format("yarn of {} elements, an odd number", rope.rotated));
    rope.scaling = RopeConfig::Scaling::kYarn;
    rope.original_context = read_original_context(scaling, beside, rope);
    rope.factor = scaling.real("factor", kFactor, ratio_of_contexts(beside, rope));
    rope.fast_rotations = scaling.real("beta_fast", kFactor, rope.fast_rotations);
    rope.slow_rotations = scaling.real("beta_slow", kFactor, rope.slow_rotations);
    // A class with parameters by types of layers does not find it there: it stays unread, and is refused.
    if (beside.rules.layer_type.empty()) rope.is_ramp_truncated = scaling.boolean("truncate", true);
    const double weight = scaling.real("mscale", {0, 1e6}, 0),
                 all = scaling.real("mscale_all_dim", {0, 1e6}, 0);
    const double amplitude = weight != 0 && all != 0
                                 ? yarn_amplitude(rope.factor, weight) / yarn_amplitude(rope.factor, all)
                                 : yarn_amplitude(rope.factor);
    rope.amplitude = scaling.real("attention_factor", kFactor, amplitude);
}

/// The context that a model is compiled for chooses the factors, as in llama.cpp; transformers looks at the
/// length of each text.
void read_longrope(HfSettings& scaling, const BesideRope& beside, RopeConfig& rope) {
    rope.scaling = RopeConfig::Scaling::kLongRope;
    rope.original_context = read_original_context(scaling, beside, rope);
    const double factor = scaling.real("factor", kFactor, ratio_of_contexts(beside, rope));
    rope.amplitude =
        scaling.real("attention_factor", kFactor, longrope_amplitude(factor, rope.original_context));
    rope.short_factors = scaling.reals("short_factor", kFactor);
    rope.long_factors = scaling.reals("long_factor", kFactor);
}

/// Rotates as many elements as Python's int() leaves.
void rotate_part(HfSettings& where, double part, const RopeRules& rules, RopeConfig& rope) {
    rope.rotated = 0;
    if (part == 1) return;
    if (!rules.part) return where.refuse(kPartOfHead, "rotation of a part of each head");
    rope.rotated = static_cast<int64_t>(static_cast<double>(rules.head_width) * part);
    if (rope.rotated < 1)
        throw Error(where.path(), kPartOfHead,
                    fmt::format("is {}, which rotates nothing of {} elements", part, rules.head_width));
}

/// The part of a head says how many of its pairs turn; the exponents are those of the whole head.
void read_proportional(HfSettings& scaling, const BesideRope& beside, RopeConfig& rope) {
    const double part = scaling.real(kPartOfHead, {0, 1}, 1);
    const auto width = static_cast<double>(beside.rules.head_width);
    rope.scaling = RopeConfig::Scaling::kProportional;
    rope.factor = scaling.real("factor", kFactor, 1);
    rope.still = beside.rules.head_width / 2 - static_cast<int64_t>(std::floor(part * width / 2));
}

/// "dynamic" depends on the length of each text. account_for refuses the remaining settings: these objects
/// hold nothing harmless.
RopeConfig read_object(HfSettings scaling, const BesideRope& beside, RopeConfig rope) {
    const bool has_longrope = beside.rules.has_longrope;
    rope.base = scaling.real("rope_theta", kBase, rope.base);
    const bool is_proportional = beside.rules.has_proportional && scaling.text("rope_type") == "proportional";
    if (is_proportional) rope.rotated = 0;
    if (!is_proportional && scaling.has(kPartOfHead))
        rotate_part(scaling, scaling.real(kPartOfHead, kPart), beside.rules, rope);
    const std::string type = read_type(scaling);
    if (type == "yarn" && !has_longrope) {
        read_yarn(scaling, beside, rope);
    } else if (type == "longrope" || (has_longrope && (type == "su" || type == "yarn"))) {
        read_longrope(scaling, beside, rope);
    } else if (type == "llama3") {
        read_llama3(scaling, beside, rope);
    } else if (type == "linear") {
        rope.scaling = RopeConfig::Scaling::kLinear;
        rope.factor = scaling.real("factor", kFactor);
    } else if (type == "dynamic" && beside.rules.has_alpha && scaling.has("alpha")) {
        // NTK-aware scaling by a constant: the base grows, and no frequency depends on a text's length.
        const auto width = static_cast<double>(rotated_elements(rope, beside.rules.head_width));
        rope.base *= std::pow(scaling.real("alpha", kFactor), width / (width - 2));
        for (const char* unread : {"factor", "mscale", "mscale_all_dim", "beta_fast", "beta_slow"})
            scaling.ignore(unread);
    } else if (type == "proportional" && beside.rules.has_proportional) {
        read_proportional(scaling, beside, rope);
    } else if (type == "default" || type == "none") {
        const bool has_type = scaling.has("rope_type") || scaling.has("type");
        scaling.refuse_unless_number("factor", 1,
                                     has_type ? fmt::format("type {} does not scale", type)
                                              : fmt::format("a scaling without a type; {}", kKnown));
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

/// `rope_parameters`, or what they hold for this type of layers. Other members stay unread.
std::optional<HfSettings> find_parameters(HfSettings& settings, const RopeRules& rules) {
    auto parameters = settings.object(kParameters);
    if (!parameters) return std::nullopt;
    if (!rules.layer_type.empty()) {
        if (parameters->is_stated(rules.layer_type) && !parameters->has(rules.layer_type))
            parameters->refuse(rules.layer_type, "layers of this type without rotation");
        return parameters->object(rules.layer_type);
    }
    if (parameters->objects().empty()) return parameters;
    settings.refuse(kParameters, "frequencies by types of layers, of which this architecture knows none");
    parameters->ignore_all();
    return std::nullopt;
}

BesideRope read_beside(HfSettings& settings, const RopeRules& rules, RopeConfig& rope) {
    BesideRope beside{.rules = rules, .original_context = rules.original_context};
    if (settings.is_stated(kOriginalContext)) beside.original_context.reset();
    if (settings.has(kOriginalContext))
        beside.original_context = settings.integer(kOriginalContext, {1, limits::kPositions});
    // A class that has parameters by types of layers looks into them alone.
    if (!rules.layer_type.empty()) beside.original_context.reset();
    if (rules.part) rotate_part(settings, *rules.part, rules, rope);
    std::vector<std::string> names = rules.part_names;
    names.insert(names.begin(), kPartOfHead);
    for (const std::string& name : names)
        if (settings.has(name)) rotate_part(settings, settings.real(name, kPart), rules, rope);
    return beside;
}

}  // namespace

RopeConfig read_rope(HfSettings& settings, const RopeRules& rules) {
    RopeConfig rope;
    rope.base = rules.base;
    bool is_stated = false;
    for (const std::string& name : rules.base_names) {
        if (settings.has(name) && !is_stated) rope.base = settings.real(name, kBase);
        is_stated = is_stated || settings.has(name);
    }
    const BesideRope beside = read_beside(settings, rules, rope);
    std::optional<RopeConfig> parameters, scaling;
    if (auto own = find_parameters(settings, rules)) parameters = read_object(*own, beside, rope);
    const bool has_scaling = !rules.base_names.empty() && rules.base_names.front() == "rope_theta";
    if (auto own = has_scaling ? settings.object(kScaling) : std::nullopt) {
        if (!own->objects().empty()) own->refuse(own->objects().front(), "a scaling by types of layers");
        scaling = read_object(*own, beside, parameters.value_or(rope));
    }
    if (parameters && scaling && *parameters != *scaling)
        settings.refuse(kScaling, "another scaling than rope_parameters say");
    return scaling ? *scaling : parameters.value_or(rope);
}

}  // namespace tessera::import
