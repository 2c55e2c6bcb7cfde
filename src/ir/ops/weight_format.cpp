#include "ir/ops/weight_format.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::ops {
namespace {

using enum ElementType;

constexpr WeightOperand kPlainF32[] = {{"", kF32}};
constexpr WeightOperand kPlainF16[] = {{"", kF16}};
constexpr WeightOperand kPlainBF16[] = {{"", kBF16}};
constexpr WeightOperand kQ8_0[] = {{"q", kI8}, {"d", kF16, 32}};
constexpr WeightOperand kQ4_0[] = {{"q", kU4}, {"d", kF16, 32}};
constexpr WeightOperand kQ4_1[] = {{"q", kU4}, {"d", kF16, 32}, {"m", kF16, 32}};
constexpr WeightOperand kQ5_0[] = {{"q", kU5}, {"d", kF16, 32}};
constexpr WeightOperand kQ5_1[] = {{"q", kU5}, {"d", kF16, 32}, {"m", kF16, 32}};
// Scales and minima of six bits in bytes: unpacking them took up to half the time of a product with one row.
// Those that numbers are multiplied by are signed, which leaves such products a bit more room.
constexpr WeightOperand kQ2_K[] = {
    {"q", kU2}, {"s", kI8, 16}, {"m", kU8, 16}, {"d", kF16, 256}, {"dmin", kF16, 256}};
constexpr WeightOperand kQ3_K[] = {{"q", kU3}, {"s", kI8, 16}, {"d", kF16, 256}};
constexpr WeightOperand kQ4_K[] = {
    {"q", kU4}, {"s", kI8, 32}, {"m", kU8, 32}, {"d", kF16, 256}, {"dmin", kF16, 256}};
constexpr WeightOperand kQ5_K[] = {
    {"q", kU5}, {"s", kI8, 32}, {"m", kU8, 32}, {"d", kF16, 256}, {"dmin", kF16, 256}};
constexpr WeightOperand kQ6_K[] = {{"q", kU6}, {"s", kI8, 16}, {"d", kF16, 256}};
// The sixteen numbers that an index of four bits stands for are bytes.
constexpr WeightOperand kIQ4_NL[] = {{"q", kI8}, {"d", kF16, 32}};
constexpr WeightOperand kMXFP4[] = {{"q", kI8}, {"d", kBF16, 32}};
constexpr WeightOperand kInt4[] = {{"q", kU4}, {"z", kU8, 32}, {"d", kF16, 32}};

constexpr std::array kFormats = {
    WeightFormatInfo{WeightFormat::kF32, "F32", kPlainF32, 1, ""},
    WeightFormatInfo{WeightFormat::kF16, "F16", kPlainF16, 1, ""},
    WeightFormatInfo{WeightFormat::kBF16, "BF16", kPlainBF16, 1, ""},
    WeightFormatInfo{WeightFormat::kQ8_0, "Q8_0", kQ8_0, 32, "q * d"},
    WeightFormatInfo{WeightFormat::kQ4_0, "Q4_0", kQ4_0, 32, "(q - 8) * d"},
    WeightFormatInfo{WeightFormat::kQ4_1, "Q4_1", kQ4_1, 32, "q * d + m"},
    WeightFormatInfo{WeightFormat::kQ5_0, "Q5_0", kQ5_0, 32, "(q - 16) * d"},
    WeightFormatInfo{WeightFormat::kQ5_1, "Q5_1", kQ5_1, 32, "q * d + m"},
    WeightFormatInfo{WeightFormat::kQ2_K, "Q2_K", kQ2_K, 256, "q * (s * d) - m * dmin"},
    WeightFormatInfo{WeightFormat::kQ3_K, "Q3_K", kQ3_K, 256, "(q - 4) * s * d"},
    WeightFormatInfo{WeightFormat::kQ4_K, "Q4_K", kQ4_K, 256, "q * (s * d) - m * dmin"},
    WeightFormatInfo{WeightFormat::kQ5_K, "Q5_K", kQ5_K, 256, "q * (s * d) - m * dmin"},
    WeightFormatInfo{WeightFormat::kQ6_K, "Q6_K", kQ6_K, 256, "(q - 32) * s * d"},
    WeightFormatInfo{WeightFormat::kIQ4_NL, "IQ4_NL", kIQ4_NL, 32, "q * d"},
    WeightFormatInfo{WeightFormat::kMXFP4, "MXFP4", kMXFP4, 32, "q * d"},
    WeightFormatInfo{WeightFormat::kInt4, "INT4", kInt4, 32, "(q - z) * d"},
};

}  // namespace

const WeightFormatInfo& info(WeightFormat format) {
    const auto index = static_cast<size_t>(format);
    TESSERA_CHECK(index < kFormats.size() && kFormats[index].format == format, "weight format {}", index);
    return kFormats[index];
}

std::optional<WeightFormat> weight_format_of(std::string_view name) {
    const auto* found = std::ranges::find(kFormats, name, &WeightFormatInfo::name);
    if (found == kFormats.end()) return std::nullopt;
    return found->format;
}

std::optional<WeightFormat> weight_format_of(ElementType type) {
    for (const WeightFormatInfo& each : kFormats)
        if (element_of(each.format) == type) return each.format;
    return std::nullopt;
}

std::string known_weight_formats() {
    std::string known;
    for (const WeightFormatInfo& each : kFormats)
        known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name);
    return known;
}

std::optional<ElementType> element_of(WeightFormat format) {
    const WeightFormatInfo& facts = info(format);
    if (facts.operands.size() > 1) return std::nullopt;
    return facts.operands.front().type;
}

WeightText weight_text(WeightFormat format, std::string_view name, std::string_view row, std::string_view k,
                       int64_t inputs, int64_t rows) {
    const WeightFormatInfo& facts = info(format);
    if (inputs % facts.block != 0)
        throw Error("", std::string(name),
                    fmt::format("has rows of {} elements, expected a multiple of the {} of one {} block",
                                inputs, facts.block, facts.name));
    WeightText text;
    for (const WeightOperand& operand : facts.operands) {
        const std::string column =
            operand.block == 1 ? std::string(k) : fmt::format("{} div {}", k, operand.block);
        text.operands += fmt::format("in  {} {}[{}, {}]", facts.operands.size() == 1 ? name : operand.name,
                                     tessera::name(operand.type), row, column);
        if (rows != 0) text.operands += fmt::format(" of [{}, {}]", rows, inputs / operand.block);
        text.operands += '\n';
    }
    text.value = facts.operands.size() == 1 ? std::string(name) : fmt::format("({})", facts.value);
    return text;
}

}  // namespace tessera::ops
