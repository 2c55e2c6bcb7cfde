#include "import/architecture/ignored_settings.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace tessera::import {
namespace {

/// The value in the file, read as the type of the other value; numbers as real ones.
Scalar stated_like(SettingsFile& file, const std::string& field, const Scalar& value) {
    Setting setting{.name = field, .is_list = file.is_list(field)};
    if (std::holds_alternative<bool>(value.data)) {
        setting.type = SettingType::kBool;
        return file.read(field, setting);
    }
    if (std::holds_alternative<std::string>(value.data)) {
        setting.type = SettingType::kText;
        return file.read(field, setting);
    }
    setting.type = SettingType::kReal;
    return file.read(field, setting, std::numeric_limits<double>::lowest(),
                     std::numeric_limits<double>::max());
}

/// A list says what all its elements say.
bool says(const Scalar& stated, const Scalar& value) {
    if (const auto* all = std::get_if<std::vector<Scalar>>(&stated.data))
        return std::ranges::all_of(*all, [&](const Scalar& each) { return says(each, value); });
    if (const int64_t* number = std::get_if<int64_t>(&value.data))
        return stated == Scalar{static_cast<double>(*number)};
    return stated == value;
}

}  // namespace

void ignore_settings(SettingsFile& file, const ModelConfig& config) {
    const Architecture& architecture = *config.architecture;
    for (const IgnoredSetting& each : file.is_gguf() ? architecture.ignored_gguf : architecture.ignored_hf) {
        file.ignore(each.name);
        if (!each.value || config.layers_differ || !file.is_stated(each.name) || file.is_null(each.name))
            continue;
        const Scalar value = evaluate(each.value, config.scope(), each.where);
        if (value.is_null() || !says(stated_like(file, each.name, value), value))
            file.refuse(each.name, fmt::format("expected {}", print(value)));
    }
}

}  // namespace tessera::import
