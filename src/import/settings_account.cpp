#include "import/settings_account.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/shown.h"

namespace tessera::import {
namespace {

/// Parts of names of settings that change a decoder's computation. An unread setting with one of them is
/// refused, whichever library invented it.
constexpr std::string_view kArchitectural[] = {
    "act_fn",  "activation", "adapter",   "alibi",    "attention", "attn",     "bias",     "block",
    "causal",  "chunk",      "clip",      "compress", "conv1d",    "cross",    "embed",    "encoder",
    "expert",  "ffn",        "gate",      "gating",   "head",      "hidden",   "kv",       "latent",
    "layer",   "logit",      "logn",      "lora",     "mamba",     "mask",     "mlp",      "moe",
    "mtp",     "multiplier", "mup",       "norm",     "ntk",       "parallel", "position", "pruned",
    "qk",      "quant",      "recurrent", "residual", "rope",      "rotary",   "scale",    "scaling",
    "sliding", "softcap",    "sparse",    "ssm",      "theta",     "window",   "yarn"};

/// Every decoder has one of these, which the setting may switch off.
constexpr std::string_view kAlwaysThere[] = {"causal", "norm", "position", "residual", "rope", "rotary"};

bool holds_one_of(const std::string& name, std::span<const std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

bool matches(std::string_view name, std::string_view pattern) {
    if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
    return name == pattern;
}

bool is_listed(std::string_view name, std::string_view names) {
    while (!names.empty()) {
        const size_t end = std::min(names.find(' '), names.size());
        if (end > 0 && matches(name, names.substr(0, end))) return true;
        names.remove_prefix(std::min(end + 1, names.size()));
    }
    return false;
}

bool may_change_results(const UnreadSetting& setting) {
    std::string name = setting.name;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return holds_one_of(name, setting.is_off ? std::span<const std::string_view>(kAlwaysThere)
                                             : std::span<const std::string_view>(kArchitectural));
}

}  // namespace

void account_for(std::span<const UnreadSetting> unread, std::span<const HarmlessSettings> harmless,
                 Findings& findings) {
    std::vector<std::string> refused, ignored;
    for (const UnreadSetting& setting : unread) {
        const bool is_harmless = std::any_of(harmless.begin(), harmless.end(), [&](const auto& group) {
            return is_listed(setting.name, group.names);
        });
        if (is_harmless || setting.is_empty) continue;
        auto& list = may_change_results(setting) ? refused : ignored;
        list.push_back(fmt::format("{} = {}", shown(setting.name), setting.value));
    }
    if (!refused.empty())
        findings.unsupported.push_back(
            fmt::format("settings that Tessera does not know and that may change the results: {}",
                        shortened_list(std::move(refused))));
    if (!ignored.empty())
        findings.warnings.push_back(fmt::format("settings that Tessera does not know, and ignores: {}",
                                                shortened_list(std::move(ignored))));
}

std::string shortened_list(std::vector<std::string> items) {
    constexpr size_t kShown = 8;
    const bool is_long = items.size() > kShown;
    items.resize(std::min(items.size(), kShown));
    return fmt::format("{}{}", fmt::join(items, "; "), is_long ? "; ..." : "");
}

}  // namespace tessera::import
