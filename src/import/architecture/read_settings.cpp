#include "import/architecture/read_settings.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/architecture/functions.h"
#include "support/error.h"

namespace tessera::import {
namespace {

constexpr int64_t kLargestSetting = int64_t{1} << 53;

/// Settings are read when something asks for them, since the default of one may be made of others.
class Reader {
public:
    Reader(SettingsFile& file, ModelConfig& config) : file_(file), config_(config) {}

    void run() {
        const Architecture& architecture = *config_.architecture;
        config_.layers =
            integer_of(evaluate(architecture.layer_count, scope(), architecture.name), architecture.name);
        if (config_.layers < 1 || config_.layers > limits::kLayers)
            throw Error(file_.path(), "layers",
                        fmt::format("are {}, expected 1 to {}", config_.layers, limits::kLayers));
        for (const Setting& each : architecture.settings) need(each);
    }

private:
    Scope scope(std::optional<int64_t> layer = std::nullopt) {
        return [this, layer](const std::string& name) -> std::optional<Scalar> {
            if (name == "embedding_rows") return Scalar{file_.embedding_rows()};
            if (file_.has_tensor(name)) return Scalar{true};
            if (const Setting* setting = config_.architecture->setting(name)) need(*setting);
            for (const Let& let : config_.architecture->lets)
                if (let.name == name) need_all(let.value);
            return config_.scope(layer)(name);
        };
    }

    /// Everything that a `let` is made of, since the configuration computes it.
    void need_all(const TermPtr& term) {
        if (++depth_ > 50) throw Error(file_.path(), "", "settings of the architecture depend on themselves");
        walk(term, [&](const Term& each) {
            if (each.kind != Term::Kind::kName && each.kind != Term::Kind::kElement) return;
            if (const Setting* setting = config_.architecture->setting(each.name)) need(*setting);
            for (const Let& let : config_.architecture->lets)
                if (let.name == each.name) need_all(let.value);
        });
        --depth_;
    }

    void need(const Setting& setting) {
        if (done_.contains(setting.name)) return;
        if (!begun_.insert(setting.name).second)
            throw Error(setting.where, setting.name, "depends on itself");
        if (setting.is_per_layer)
            read_of_layers(setting);
        else
            config_.settings[setting.name] = read_one(setting);
        done_.insert(setting.name);
    }

    /// The name that the file has for it; several must agree.
    std::string stated_name(const Setting& setting) {
        std::string found;
        for (const std::string& stated : file_.names_of(setting).names) {
            const std::string name = with_number(stated, config_.layers - 1);
            if (!file_.is_stated(name)) continue;
            if (found.empty())
                found = name;
            else if (file_.shown(name) != file_.shown(found))
                file_.refuse(name, fmt::format("another value than that of {}", found));
        }
        return found;
    }

    std::string first_name(const Setting& setting) const {
        const auto& names = file_.names_of(setting).names;
        return names.empty() ? setting.name : names.front();
    }

    Scalar read_one(const Setting& setting) {
        const std::string field = stated_name(setting);
        const FormatNames& format = file_.names_of(setting);
        if (!field.empty() && !file_.is_null(field)) return read_stated(setting, field);
        if (!field.empty()) {
            if (format.null) return default_of(setting, format.null, scope());
            if (setting.type == SettingType::kBool) return {false};
            if (format.absent && format.absent->is_name("null")) return {Null{}};
            fail_missing(setting, field);
        }
        if (!format.absent) fail_missing(setting, first_name(setting));
        return default_of(setting, format.absent, scope());
    }

    [[noreturn]] void fail_missing(const Setting& setting, const std::string& field) {
        throw Error(file_.path(), file_.place_of(field),
                    fmt::format("is missing, expected {}", expected(setting)));
    }

    int64_t low_of(const Setting& setting) {
        return setting.low ? integer_of(evaluate(setting.low, scope(), setting.where), setting.where)
                           : -kLargestSetting;
    }
    int64_t high_of(const Setting& setting) {
        return setting.high ? integer_of(evaluate(setting.high, scope(), setting.where), setting.where)
                            : kLargestSetting;
    }
    double real_bound(const TermPtr& term, double otherwise, const Setting& setting) {
        return term ? number_of(evaluate(term, scope(), setting.where), setting.where) : otherwise;
    }
    double lowest_of(const Setting& setting) {
        return real_bound(setting.low, std::numeric_limits<double>::lowest(), setting);
    }
    double highest_of(const Setting& setting) {
        return real_bound(setting.high, std::numeric_limits<double>::max(), setting);
    }

    std::string expected(const Setting& setting) {
        switch (setting.type) {
            case SettingType::kInteger:
                return fmt::format("an integer from {} to {}", low_of(setting), high_of(setting));
            case SettingType::kReal:
                return fmt::format("a number from {} to {}", lowest_of(setting), highest_of(setting));
            case SettingType::kBool:
                return "true or false";
            case SettingType::kPattern:
                return "a period, or a truth value for each layer";
            case SettingType::kText:
            case SettingType::kActivation:
                break;
        }
        return "a text";
    }

    /// A default has the bounds of what a file says, but for a 0 that the text itself says: there is none of
    /// what a file can only say to be more.
    Scalar default_of(const Setting& setting, const TermPtr& term, const Scope& scope) {
        Scalar value = evaluate(term, scope, setting.where);
        const bool says_none = term->kind == Term::Kind::kNumber && term->number == 0;
        return checked(setting, std::move(value), says_none);
    }

    Scalar checked(const Setting& setting, Scalar value, bool is_unbounded) {
        if (setting.type == SettingType::kActivation)
            return activation(setting, first_name(setting), std::move(value));
        const bool is_number = setting.type == SettingType::kInteger || setting.type == SettingType::kReal;
        if (!is_number || value.is_null() || std::holds_alternative<std::vector<Scalar>>(value.data))
            return value;
        const double number = number_of(value, setting.where);
        const bool is_within = setting.type == SettingType::kInteger
                                   ? std::holds_alternative<int64_t>(value.data) &&
                                         number >= static_cast<double>(low_of(setting)) &&
                                         number <= static_cast<double>(high_of(setting))
                                   : number >= lowest_of(setting) && number <= highest_of(setting);
        if (!is_within && !is_unbounded)
            throw Error(file_.path(), file_.place_of(first_name(setting)),
                        fmt::format("is {}, expected {}", print(value), expected(setting)));
        if (setting.type == SettingType::kReal) value.data = number;
        return value;
    }

    Scalar activation(const Setting& setting, const std::string& field, Scalar value) {
        if (const auto* text = std::get_if<std::string>(&value.data))
            if (const std::string_view known = activation_of_transformers(*text); !known.empty())
                return {std::string(known)};
        file_.refuse(field, "known are silu, gelu, gelu_pytorch_tanh, quick_gelu, relu and relu2");
        (void)setting;
        return {std::string("silu")};
    }

    Scalar read_typed(const Setting& setting, const std::string& field) {
        if (setting.type == SettingType::kInteger || setting.type == SettingType::kPattern)
            return file_.read(field, setting, setting.type == SettingType::kPattern ? 0 : low_of(setting),
                              setting.type == SettingType::kPattern ? limits::kLayers : high_of(setting));
        if (setting.type == SettingType::kReal)
            return file_.read(field, setting, lowest_of(setting), highest_of(setting));
        return file_.read(field, setting);
    }

    Scalar read_stated(const Setting& setting, const std::string& field) {
        if (setting.is_alike && file_.is_list(field)) return alike(setting, field);
        Scalar value = read_typed(setting, field);
        if (setting.type == SettingType::kActivation) return activation(setting, field, std::move(value));
        const auto* list = std::get_if<std::vector<Scalar>>(&value.data);
        if (!setting.choices.empty())
            refuse_other_choices(setting, field, list ? *list : std::vector<Scalar>{value});
        return value;
    }

    Scalar alike(const Setting& setting, const std::string& field) {
        const Scalar value = read_typed(setting, field);
        const auto& all = std::get<std::vector<Scalar>>(value.data);
        if (std::ssize(all) != config_.layers)
            throw Error(file_.path(), file_.place_of(field),
                        fmt::format("is {}, expected {}, or one for each of {} layers", file_.shown(field),
                                    expected(setting), config_.layers));
        if (std::ranges::adjacent_find(all, std::not_equal_to<>()) == all.end()) return all.front();
        file_.refuse(field, "layers of different sizes");
        config_.layers_differ = true;
        return all.front();
    }

    bool refuse_other_choices(const Setting& setting, const std::string& field,
                              const std::vector<Scalar>& values) {
        for (const Scalar& value : values) {
            if (value.is_null()) continue;
            const std::string& text = text_of(value, setting.where);
            if (std::ranges::find(setting.choices, text) != setting.choices.end()) continue;
            file_.refuse(field, fmt::format("known are {}", listed(setting.choices)));
            return true;
        }
        return false;
    }

    static std::string listed(const std::vector<std::string>& names) {
        if (names.size() == 1) return names.front();
        return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
    }

    /// {} stands for the number of the layer, which may begin with zeros: numbers of equal width sort as
    /// texts.
    std::string with_number(std::string name, int64_t layer) const {
        const size_t at = name.find("{}");
        if (at == std::string::npos) return name;
        const auto padded = [&](size_t width) {
            return std::string(name).replace(at, 2, fmt::format("{:0{}}", layer, width));
        };
        const size_t most = std::to_string(config_.layers - 1).size();
        for (size_t width = 1; width <= most; ++width)
            if (file_.is_stated(padded(width))) return padded(width);
        return padded(1);
    }

    /// Settings of single layers, under names with their numbers.
    bool read_by_number(const Setting& setting) {
        const FormatNames& format = file_.names_of(setting);
        const bool has_numbers = std::ranges::any_of(
            format.names, [](const std::string& name) { return name.find("{}") != std::string::npos; });
        if (!has_numbers) return false;
        std::vector<Scalar>& all = config_.settings_of_layers[setting.name];
        for (int64_t layer = 0; layer < config_.layers; ++layer) {
            std::string stated;
            for (const std::string& name : format.names)
                if (const std::string own = with_number(name, layer); stated.empty() && file_.is_stated(own))
                    stated = own;
            if (!stated.empty() && !file_.is_null(stated)) {
                all.push_back(read_stated(setting, stated));
                continue;
            }
            if (!format.absent) fail_missing(setting, with_number(format.names.front(), layer));
            all.push_back(default_of(setting, format.absent, scope(layer)));
        }
        return true;
    }

    void read_of_layers(const Setting& setting) {
        if (read_by_number(setting)) return;
        const std::string field = stated_name(setting);
        const FormatNames& format = file_.names_of(setting);
        std::vector<Scalar>& all = config_.settings_of_layers[setting.name];
        if (!field.empty() && !file_.is_null(field)) {
            const Scalar value = read_typed(setting, field);
            if (const auto* list = std::get_if<std::vector<Scalar>>(&value.data)) {
                if (fits(setting, field, *list)) {
                    all = *list;
                    return;
                }
            } else if (setting.type == SettingType::kPattern) {
                all = periodic(integer_of(value, setting.where), field);
                return;
            } else if (file_.is_gguf()) {
                // llama.cpp's loader takes one number for all layers.
                all.assign(static_cast<size_t>(config_.layers), value);
                return;
            } else {
                file_.refuse(field, fmt::format("expected one for each of {} layers", config_.layers));
            }
        }
        if (!format.absent) fail_missing(setting, first_name(setting));
        for (int64_t layer = 0; layer < config_.layers; ++layer) {
            if (setting.type != SettingType::kPattern) {
                all.push_back(default_of(setting, format.absent, scope(layer)));
                continue;
            }
            const Scalar value = evaluate(format.absent, scope(layer), setting.where);
            if (const auto* period = std::get_if<int64_t>(&value.data)) {
                all = periodic(*period, setting.name);
                return;
            } else {
                append(all, truth_of(value, setting.where));
            }
        }
    }

    /// False for a list that says nothing.
    bool fits(const Setting& setting, const std::string& field, const std::vector<Scalar>& list) {
        if (list.empty()) return false;
        if (std::ssize(list) != config_.layers) {
            file_.refuse(field, fmt::format("expected one for each of {} layers", config_.layers));
            return false;
        }
        return setting.choices.empty() || !refuse_other_choices(setting, field, list);
    }

    std::vector<Scalar> periodic(int64_t period, const std::string& field) {
        if (period < 1)
            throw Error(file_.path(), file_.place_of(field),
                        fmt::format("is {}, expected a period of layers", period));
        std::vector<Scalar> all;
        for (int64_t layer = 0; layer < config_.layers; ++layer) append(all, (layer + 1) % period != 0);
        return all;
    }

    SettingsFile& file_;
    ModelConfig& config_;
    std::set<std::string> begun_, done_;
    int depth_ = 0;
};

}  // namespace

std::string filled(const std::string& text, const Scope& scope) {
    std::string result;
    for (size_t at = 0; at < text.size();) {
        const size_t end = text[at] == '{' ? text.find('}', at) : std::string::npos;
        const auto value = end == std::string::npos ? std::nullopt : scope(text.substr(at + 1, end - at - 1));
        result += value ? print(*value) : std::string(1, text[at]);
        at = value ? end + 1 : at + 1;
    }
    return result;
}

void read_settings(SettingsFile& file, ModelConfig& config) {
    config.is_gguf = file.is_gguf();
    Reader(file, config).run();
    config.vocabulary = config.integer(kVocabularySetting);
    config.max_positions = config.integer(kPositionsSetting);
    if (const Scalar tied =
            config.architecture->setting(kTiedSetting) ? config.value(kTiedSetting) : Scalar{false};
        !tied.is_null() && !std::holds_alternative<AsStored>(tied.data))
        config.is_tied = truth_of(tied, config.name());
}

void judge_settings(SettingsFile& file, const ModelConfig& config) {
    for (const Verdict& verdict : config.architecture->verdicts) {
        const Setting& setting = *config.architecture->setting(verdict.setting);
        std::string field = setting.name;
        for (const std::string& name : file.names_of(setting).names)
            if (field = name; file.is_stated(name)) break;
        const bool is_of_layers = setting.is_per_layer;
        for (int64_t layer = 0; layer < (is_of_layers ? config.layers : 1); ++layer) {
            const Scope scope = config.scope(is_of_layers ? std::optional(layer) : std::nullopt);
            const bool holds = truth_of(evaluate(verdict.condition, scope, verdict.where), verdict.where);
            if (holds == (verdict.kind == Verdict::Kind::kExpect)) continue;
            const std::string text = filled(verdict.text, scope);
            if (verdict.kind == Verdict::Kind::kRefuse)
                file.refuse(field, text);
            else if (verdict.kind == Verdict::Kind::kWarn)
                file.warn(field, text);
            else
                throw Error(file.path(), file.place_of(field),
                            fmt::format("is {}, expected {}",
                                        print(config.value(setting.name, is_of_layers ? std::optional(layer)
                                                                                      : std::nullopt)),
                                        text));
            break;
        }
    }
}

std::vector<Scalar> list_of(const Setting& setting, const std::vector<int64_t>& numbers) {
    std::vector<Scalar> all;
    for (const int64_t each : numbers)
        if (setting.type == SettingType::kPattern)
            append(all, each != 0);
        else
            append(all, each);
    return all;
}

}  // namespace tessera::import
