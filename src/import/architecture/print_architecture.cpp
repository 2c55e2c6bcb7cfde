#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/architecture/parse_architecture.h"
#include "ir/characters.h"

namespace tessera::import {
namespace {

std::string quoted(const std::vector<std::string>& names, const char* between) {
    std::vector<std::string> all;
    for (const std::string& name : names) all.push_back(fmt::format("\"{}\"", name));
    return fmt::to_string(fmt::join(all, between));
}

std::string listed(const std::vector<TermPtr>& terms) {
    std::vector<std::string> all;
    for (const TermPtr& each : terms) all.push_back(print(each));
    return fmt::to_string(fmt::join(all, ", "));
}

std::string behind(const char* word, const TermPtr& term) {
    return term ? fmt::format(" {} {}", word, print(term)) : "";
}

std::string format_text(const char* word, const FormatNames& format) {
    if (format.names.empty() && !format.absent && !format.null) return "";
    std::string text = fmt::format(" {}", word);
    if (!format.names.empty()) text += " " + quoted(format.names, " or ");
    return text + behind("=", format.absent) + behind("null", format.null);
}

std::string type_text(const Setting& setting) {
    std::string text(name(setting.type));
    if (setting.is_list) text += " list";
    if (setting.is_alike) text += " alike";
    if (setting.is_per_layer && setting.type != SettingType::kPattern) text += " per layer";
    if (setting.low) text += fmt::format(" from {} to {}", print(setting.low), print(setting.high));
    if (!setting.choices.empty()) text += fmt::format(" of ({})", quoted(setting.choices, ", "));
    return text;
}

std::string names_text(const char* word, const std::vector<std::string>& names) {
    return names.empty() ? "" : fmt::format(" {} {}", word, quoted(names, " or "));
}

std::string print_tensor(const TensorText& tensor) {
    return fmt::format("  {} {} [{}]{}{}{}{}{}{}{}\n", tensor.is_bare ? "tensor" : "weight", tensor.name,
                       listed(tensor.shape), behind("bias", tensor.bias), names_text("hf", tensor.hf),
                       names_text("gguf", tensor.gguf), tensor.is_transposed ? " transposed" : "",
                       tensor.tied.empty() ? "" : " tied " + tensor.tied, behind("when", tensor.when), "");
}

std::string print_fused(const FusedText& fused) {
    std::vector<std::string> parts;
    for (const auto& part : fused.parts)
        parts.push_back(fmt::format("{}{}{}", part.tensor, part.is_turned ? " transposed" : "",
                                    part.rows ? " " + print(part.rows) : ""));
    const std::string all = fmt::to_string(fmt::join(parts, ", "));
    return fmt::format("  fused{}{}{}{} of {}{}\n", fused.is_bare ? " tensor" : "",
                       names_text("hf", fused.hf), names_text("gguf", fused.gguf),
                       fused.is_transposed ? " transposed" : "",
                       fused.repeat ? fmt::format("each {}: ({})", print(fused.repeat), all) : all,
                       behind("when", fused.when));
}

std::string indices_text(const Assignment& assignment) {
    if (!assignment.has_indices) return "";
    std::vector<std::string> all = assignment.indices;
    for (size_t i = 0; i < assignment.extents.size(); ++i)
        if (assignment.extents[i]) all[i] += fmt::format(": {}", print(assignment.extents[i]));
    return fmt::format("[{}]", fmt::join(all, ", "));
}

std::string print_section(const char* word, const Section& section) {
    std::string text = fmt::format("{}\n", word);
    for (const TensorText& tensor : section.tensors) text += print_tensor(tensor);
    for (const FusedText& fused : section.fused) text += print_fused(fused);
    if (!section.unused.empty()) text += fmt::format("  unused {}\n", quoted(section.unused, ", "));
    for (const Assignment& each : section.assignments) {
        text += fmt::format("  {}{}{} = {}{}\n", each.is_carried ? "carry " : "", fmt::join(each.names, ", "),
                            indices_text(each), print(each.value), behind("when", each.when));
    }
    return text;
}

std::string print_rope(const RopeText& rope) {
    std::string part;
    if (rope.part)
        part =
            fmt::format(" partial{} {}", rope.part_names.empty() ? "" : " " + quoted(rope.part_names, " or "),
                        print(rope.part));
    return fmt::format(
        "rope {} width {}{}{}{}{}{}{}{}\n", rope.name, print(rope.width), format_text("hf", rope.hf),
        format_text("gguf", rope.gguf), rope.kind.empty() ? "" : fmt::format(" kind \"{}\"", rope.kind),
        (rope.has_longrope ? std::string(" longrope") : std::string()) +
            (rope.has_proportional ? " proportional" : "") + (rope.has_alpha ? " alpha" : "") +
            (rope.is_fixed ? " fixed" : "") + behind("base", rope.base) + behind("first", rope.first) +
            behind("level", rope.gguf_level) + behind("rotated", rope.rotated),
        behind("original", rope.original_context), part, rope.has_gguf_part ? " dimension_count" : "");
}

std::string print_ignored(const char* words, const std::vector<IgnoredSetting>& settings) {
    std::vector<std::string> all;
    for (const IgnoredSetting& each : settings)
        all.push_back(quoted({each.name}, "") + (each.value ? " = " + print(each.value) : ""));
    return all.empty() ? "" : fmt::format("{} {}\n", words, fmt::join(all, ", "));
}

}  // namespace

std::string print(const Architecture& architecture) {
    const bool is_plain = std::ranges::all_of(architecture.name, continues_name);
    std::string text =
        fmt::format("arch {}\n", is_plain ? architecture.name : quoted({architecture.name}, ""));
    if (!architecture.classes.empty()) text += fmt::format("class {}\n", quoted(architecture.classes, ", "));
    if (!architecture.gguf_name.empty()) text += fmt::format("gguf \"{}\"\n", architecture.gguf_name);
    for (const Setting& setting : architecture.settings)
        text += fmt::format("set {} {}{}{}\n", setting.name, type_text(setting),
                            format_text("hf", setting.hf), format_text("gguf", setting.gguf));
    for (const Let& let : architecture.lets) text += fmt::format("let {} = {}\n", let.name, print(let.value));
    for (const Verdict& verdict : architecture.verdicts) {
        constexpr const char* kWords[] = {"refuse", "warn", "expect"};
        text += fmt::format("{} {} when {} \"{}\"\n", kWords[static_cast<size_t>(verdict.kind)],
                            verdict.setting, print(verdict.condition), verdict.text);
    }
    text += print_ignored("ignore", architecture.ignored_hf);
    text += print_ignored("ignore gguf", architecture.ignored_gguf);
    for (const RopeText& rope : architecture.ropes) text += print_rope(rope);
    if (const auto& features = architecture.features)
        text += fmt::format("features width {} taps {} every {} from {} count {}\n", print(features->width),
                            print(features->taps), print(features->every), print(features->first),
                            print(features->count));
    if (architecture.layer_count)
        text +=
            fmt::format("layers{}{}{} count {}{}\n", names_text("hf", architecture.hf_layers),
                        names_text("gguf", architecture.gguf_layers), behind("at", architecture.layer_place),
                        print(architecture.layer_count), behind("number", architecture.layer_number));
    return text + print_section("model", architecture.model) + print_section("layer", architecture.layer);
}

}  // namespace tessera::import
