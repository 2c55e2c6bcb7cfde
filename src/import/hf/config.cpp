#include "import/hf/config.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "import/architecture/ignored_settings.h"
#include "import/architecture/read_settings.h"
#include "import/end_ids.h"
#include "import/hf/python_numbers.h"
#include "import/hf/quantisation_settings.h"
#include "import/hf/rope_settings.h"
#include "import/hf/settings.h"
#include "import/hf/unsupported_settings.h"
#include "import/rope_bases.h"
#include "support/error.h"
#include "support/json.h"
#include "support/json_bounds.h"
#include "support/mapped_file.h"

namespace tessera::import {
namespace {

/// `model_type` decides; `architectures` may only name a class of that type, or stand in for it.
std::shared_ptr<const Architecture> read_architecture(HfSettings& settings, const Architectures& known,
                                                      Findings& findings) {
    const std::vector<std::string> classes = settings.texts("architectures");
    const auto type = settings.text("model_type");
    if (!type && classes.empty())
        throw Error(settings.path(), "model_type", "is missing, and so is `architectures`",
                    "the architecture must be named: " + known.names());
    auto found = type ? known.find(*type) : known.find_class(classes.front());
    if (!found) {
        findings.unsupported.push_back(
            fmt::format("architecture {}: known are {}", type ? *type : classes.front(), known.names()));
        return nullptr;
    }
    const bool is_one = std::ranges::any_of(classes, [&](const std::string& each) {
        return std::ranges::find(found->classes, each) != found->classes.end();
    });
    if (!classes.empty() && !is_one)
        settings.refuse("architectures", fmt::format("expected {}", found->classes.front()));
    return found;
}

/// The settings of config.json, which have names within objects, too: "attn_config.clip_qkv".
class HfFile final : public SettingsFile {
public:
    explicit HfFile(HfSettings& settings) : settings_(settings) {}

    const FormatNames& names_of(const Setting& setting) const override { return setting.hf; }
    bool is_stated(const std::string& field) override {
        const auto place = find(field);
        return place && place->settings.is_stated(place->field);
    }
    bool is_null(const std::string& field) override { return !at(field).settings.has(at(field).field); }
    bool is_list(const std::string& field) override { return at(field).settings.is_list(at(field).field); }

    Scalar read(const std::string& field, const Setting& setting, int64_t low, int64_t high) override {
        auto [settings, own] = at(field);
        if (setting.type == SettingType::kPattern && settings.is_text(own)) return {period_of(settings, own)};
        if (!has_list(setting) || !(settings.is_list(own) || setting.is_list))
            return {settings.integer(own, {low, high})};
        return {list_of(setting, settings.integers(own, {low, high}))};
    }
    Scalar read(const std::string& field, const Setting& setting, double low, double high) override {
        auto [settings, own] = at(field);
        if (!has_list(setting) || !settings.is_list(own)) return {settings.real(own, {low, high})};
        std::vector<Scalar> all;
        for (const double each : settings.reals(own, {low, high})) append(all, each);
        return {std::move(all)};
    }
    Scalar read(const std::string& field, const Setting& setting) override {
        auto [settings, own] = at(field);
        if (setting.type == SettingType::kBool) return {settings.boolean(own, false)};
        if (!has_list(setting) && settings.is_boolean(own)) return {settings.shown(own)};
        if (!has_list(setting)) return {settings.text(own).value_or("")};
        std::vector<Scalar> all;
        for (const std::string& each : settings.texts(own)) append(all, each);
        return {std::move(all)};
    }
    std::string shown(const std::string& field) override { return at(field).settings.shown(at(field).field); }
    void refuse(const std::string& field, const std::string& what) override {
        at(field).settings.refuse(at(field).field, what);
    }
    void warn(const std::string& field, const std::string& what) override {
        at(field).settings.warn(at(field).field, what);
    }
    void ignore(const std::string& field) override {
        if (auto place = find(field)) place->settings.ignore(place->field);
    }
    const std::string& path() const override { return settings_.path(); }
    std::string place_of(const std::string& field) const override { return field; }
    bool is_gguf() const override { return false; }
    int64_t embedding_rows() const override { return 0; }
    bool has_tensor(const std::string&) const override { return false; }

private:
    struct Place {
        HfSettings settings;
        std::string field;
    };

    /// "LLLG": a letter for each layer of a period, of which the last alone is global.
    static int64_t period_of(HfSettings& settings, const std::string& field) {
        const std::string letters = settings.text(field).value_or("");
        if (letters.size() < 2 || letters != std::string(letters.size() - 1, 'L') + "G")
            throw Error(
                settings.path(), field,
                fmt::format("is {}, expected a period, or one in letters: \"LLLG\"", settings.shown(field)));
        return std::ssize(letters);
    }

    static bool has_list(const Setting& setting) {
        return setting.is_list || setting.is_alike || setting.is_per_layer;
    }

    /// Empty if an object on the way to it is missing.
    std::optional<Place> find(const std::string& field) const {
        const size_t dot = field.find('.');
        if (dot == std::string::npos) return Place{settings_, field};
        auto inner = settings_.object(field.substr(0, dot));
        if (!inner) return std::nullopt;
        return HfFile(*inner).find(field.substr(dot + 1));
    }
    Place at(const std::string& field) const {
        auto place = find(field);
        return place ? *place : Place{settings_, field};
    }

    HfSettings& settings_;
};

double number_in(const TermPtr& term, double otherwise, const ModelConfig& config, const std::string& where) {
    return term ? number_of(evaluate(term, config.scope(), where), where) : otherwise;
}

void read_ropes(HfSettings& settings, ModelConfig& config) {
    for (const RopeText& text : config.architecture->ropes) {
        RopeRules rules{.base = number_in(text.hf.absent, RopeRules().base, config, text.where),
                        .has_longrope = text.has_longrope,
                        .has_proportional = text.has_proportional,
                        .part_names = text.part_names,
                        .layer_type = text.kind,
                        .max_positions = config.max_positions};
        if (!text.hf.names.empty() || !text.kind.empty()) rules.base_names = text.hf.names;
        rules.head_width = integer_of(evaluate(text.width, config.scope(), text.where), text.where);
        if (text.part) rules.part = number_in(text.part, 1, config, text.where);
        if (text.original_context)
            rules.original_context =
                integer_of(evaluate(text.original_context, config.scope(), text.where), text.where);
        rules.has_alpha = text.has_alpha;
        ModelRope rope{text.is_fixed ? RopeConfig{} : read_rope(settings, rules), rules.head_width};
        if (text.rotated) {
            const int64_t rotated =
                integer_of(evaluate(text.rotated, config.scope(), text.where), text.where);
            if (rotated < 2 || rotated % 2 != 0 || rotated > rope.width)
                throw Error(settings.path(), text.name,
                            fmt::format("rotates {} of {} elements of a head", rotated, rope.width));
            rope.config.rotated = rotated == rope.width ? 0 : rotated;
        }
        config.ropes[text.name] = rope;
    }
    set_rope_bases(config);
}

/// Checks that no single range covers.
void check_ropes(const HfSettings& settings, const ModelConfig& config) {
    for (const auto& [name, rope] : config.ropes) {
        if (rope.width < 1 || rope.width > limits::kHeadWidth || 2 * rope.pairs() > rope.width)
            throw Error(
                settings.path(), "head_dim",
                fmt::format("is {}, expected an even number up to {}", rope.width, limits::kHeadWidth),
                "without head_dim it is hidden_size / num_attention_heads");
        for (const auto* factors : {&rope.config.short_factors, &rope.config.long_factors})
            if (rope.config.scaling == RopeConfig::Scaling::kLongRope && std::ssize(*factors) != rope.pairs())
                throw Error(settings.path(), "rope_scaling",
                            fmt::format("has {} factors, expected one for each of {} pairs", factors->size(),
                                        rope.pairs()));
    }
}

/// One number or a list; text has no meaning here.
void read_token_ids(HfSettings& settings, const std::string& file, ModelConfig& config, Findings& findings) {
    constexpr IntegerBounds kAny{INT64_MIN, INT64_MAX};
    add_end_ids(settings.integers("eos_token_id", kAny), file + "eos_token_id", config, findings);
    if (!settings.has_integers("bos_token_id")) return;
    for (const int64_t id : settings.integers("bos_token_id", kAny))
        check_token_id(id, file + "bos_token_id", config, findings);
}

void add_generation_config(const std::string& config_path, ModelConfig& config, Findings& findings) {
    const auto path = std::filesystem::path(config_path).parent_path() / "generation_config.json";
    if (!std::filesystem::exists(path)) return;
    HfSettings settings(read_json_object(path.string()), findings);
    read_token_ids(settings, "generation_config.json: ", config, findings);
}

/// config.json, in which Python may have written numbers that JSON has not.
JsonCursor read_config_object(const std::string& path) {
    const MappedFile file = MappedFile::open(path);
    if (file.text().find("Infinity") == std::string_view::npos) return read_json_object(path);
    check_json_bounds(file.text(), {}, path);
    JsonCursor document = parse_json(with_objects_of_numbers(file.text()), path, {});
    if (!document.is_object()) document.fail_expected("an object");
    return document;
}

}  // namespace

std::optional<ModelConfig> read_hf_config(const std::string& path, const Architectures& known,
                                          Findings& findings) {
    HfSettings settings(read_config_object(path), findings);
    const auto architecture = read_architecture(settings, known, findings);
    if (!architecture) {
        refuse_unsupported_settings(settings);
        return std::nullopt;
    }
    ModelConfig config{.architecture = architecture};
    HfFile file(settings);
    read_settings(file, config);
    read_ropes(settings, config);
    const auto old_type = settings.text("torch_dtype");
    config.stated_type = settings.text("dtype").value_or(old_type.value_or(""));
    config.packed = read_quantisation(settings, findings);
    ignore_settings(file, config);
    if (!config.layers_differ) judge_settings(file, config);
    refuse_unsupported_settings(settings);
    if (!config.layers_differ) check_ropes(settings, config);
    read_token_ids(settings, "", config, findings);
    add_generation_config(path, config, findings);
    account_for_rest(settings, findings);
    return config;
}

}  // namespace tessera::import
