#include "import/hf/quantisation_settings.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

namespace tessera::import {
namespace {

constexpr const char* kQuantisationField = "quantization_config";

void expect_four_bits(HfSettings& own) {
    own.refuse_unless_number("bits", 4, "quantised weights; 4 bits are read");
    own.refuse_unless_number("w_bit", 4, "quantised weights; 4 bits are read");
}

void expect_text(HfSettings& own, const char* field, std::initializer_list<std::string_view> known) {
    const auto found = own.text(field);
    if (found && std::find(known.begin(), known.end(), *found) == known.end())
        own.refuse(field, "an unknown order of the packed numbers");
}

constexpr int64_t kLargestScaledBlock = 1 << 20;

/// Activations are not rounded, so the results are nearer to those of the model before it was quantised.
PackedForm read_fp8(HfSettings& own) {
    PackedForm form{.method = PackedForm::Method::kFp8};
    const std::vector<int64_t> block = own.integers("weight_block_size", {1, kLargestScaledBlock});
    if (block.size() == 2)
        form.block_rows = block[0], form.block_columns = block[1];
    else if (!block.empty())
        own.refuse("weight_block_size", "blocks of scales; two numbers are read");
    expect_text(own, "fmt", {"e4m3", "e5m2"});
    own.ignore_all();
    return form;
}

std::optional<int64_t> read_group_size(HfSettings& own) {
    for (const char* field : {"group_size", "q_group_size"})
        if (own.has(field)) return own.integer(field, {-1, kLargestScaledBlock});
    return std::nullopt;
}

PackedForm read_gptq(HfSettings& own) {
    expect_four_bits(own);
    expect_text(own, "checkpoint_format", {"gptq", "gptq_v2"});
    const bool is_second = own.text("checkpoint_format") == "gptq_v2";
    PackedForm form{.method = PackedForm::Method::kGptq, .zero_offset = is_second ? 0 : 1};
    if (own.has("sym")) form.is_symmetric = own.boolean("sym", true);
    form.group_size = read_group_size(own);
    own.ignore_all();
    return form;
}

PackedForm read_awq(HfSettings& own) {
    expect_four_bits(own);
    expect_text(own, "version", {"gemm", "GEMM"});
    if (!own.boolean("zero_point", true)) own.refuse("zero_point", "weights without zero points");
    PackedForm form{.method = PackedForm::Method::kAwq};
    form.group_size = read_group_size(own);
    own.ignore_all();
    return form;
}

}  // namespace

// Sizes follow from the tensors, which also tell whether `desc_act` acts.
std::optional<PackedForm> read_quantisation(HfSettings& settings, Findings& findings) {
    const std::filesystem::path folder = std::filesystem::path(settings.path()).parent_path();
    const auto beside = [&](const char* name) -> std::optional<HfSettings> {
        if (!std::filesystem::exists(folder / name)) return std::nullopt;
        return HfSettings(read_json_object((folder / name).string()), findings);
    };
    if (!settings.has(kQuantisationField)) {
        if (auto own = beside("quantize_config.json")) return read_gptq(*own);
        if (auto own = beside("quant_config.json")) return read_awq(*own);
        return std::nullopt;
    }
    std::optional<HfSettings> own = settings.object(kQuantisationField);
    if (own->unread().empty()) return std::nullopt;
    const std::string method = own->text("quant_method").value_or("");
    if (method == "gptq") return read_gptq(*own);
    if (method == "awq") return read_awq(*own);
    if (method == "fp8") return read_fp8(*own);
    own->ignore_all();
    settings.refuse(kQuantisationField, "quantised weights; known are gptq, awq and fp8");
    return std::nullopt;
}

}  // namespace tessera::import
