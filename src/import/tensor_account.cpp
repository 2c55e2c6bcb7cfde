#include "import/tensor_account.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/quantised/operand_tensors.h"
#include "import/settings_account.h"
#include "support/error.h"
#include "support/shown.h"

// Left-over tensors are treated as by the program that users compare with. llama.cpp refuses a file with a
// tensor that the architecture does not have. transformers loads a folder without it, and warns: so does
// Tessera, except for two kinds that their owner expects to be used, and that would change the results.
//
// - Biases and norms of existing layers. One setting, which may be missing or wrong, decides whether they
//   count, and llama.cpp's converter carries them over whatever the setting says.
// - Adapters that were not merged.

namespace tessera::import {
namespace {

/// Frequencies that old versions of transformers wrote as a buffer of each layer; all versions compute them.
constexpr std::string_view kFrequencies = "rotary_emb.inv_freq";

void report(std::string_view what, std::vector<std::string> items, std::vector<std::string>& to) {
    if (items.empty()) return;
    const size_t count = items.size();
    to.push_back(fmt::format("{} {}: {}", count, what, shortened_list(std::move(items))));
}

bool is_adapter(const std::string& name) {
    return name.find("lora_") != std::string::npos || name.find("adapter") != std::string::npos;
}

std::optional<double> number_at(const StoredTensor& tensor, size_t index) {
    if (tensor.element == ElementType::kF32) {
        float value = 0;
        std::memcpy(&value, tensor.bytes.data() + index * sizeof(value), sizeof(value));
        return value;
    }
    if (tensor.element != ElementType::kBF16) return std::nullopt;
    uint16_t half = 0;
    std::memcpy(&half, tensor.bytes.data() + index * sizeof(half), sizeof(half));
    const uint32_t bits = uint32_t{half} << 16;
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

bool are_close(const StoredTensor& tensor, const std::vector<double>& expected) {
    if (tensor.shape != std::vector<int64_t>{std::ssize(expected)}) return false;
    constexpr double kRounding = 0.01;  // BF16 keeps 8 bits
    for (size_t i = 0; i < expected.size(); ++i) {
        const auto found = number_at(tensor, i);
        if (!found || !(std::abs(*found - expected[i]) <= kRounding * expected[i])) return false;
    }
    return true;
}

/// {} in a pattern is a number.
bool stands_for(const std::string& pattern, const std::string& name) {
    const size_t at = pattern.find("{}");
    if (at == std::string::npos) return pattern == name;
    const std::string_view end = std::string_view(pattern).substr(at + 2);
    if (name.size() < at + 1 + end.size() || !name.starts_with(pattern.substr(0, at)) || !name.ends_with(end))
        return false;
    const std::string_view number = std::string_view(name).substr(at, name.size() - at - end.size());
    return std::ranges::all_of(number, [](char digit) { return '0' <= digit && digit <= '9'; });
}

}  // namespace

std::string_view TensorAccount::behind_layer(std::string_view name) const {
    if (!name.starts_with(placed_.before_number)) return {};
    name.remove_prefix(placed_.before_number.size());
    int64_t layer = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), layer);
    if (error != std::errc() || layer >= config_.layers || end == name.data() + name.size()) return {};
    return name.substr(static_cast<size_t>(end - name.data()) + 1);
}

bool TensorAccount::would_change_results(const std::string& name) const {
    const auto has = [&](const PlacedPart& part) {
        return std::ranges::find(part.parts_of_text, name) != part.parts_of_text.end();
    };
    if (has(placed_.head) || std::ranges::any_of(placed_.layers, has)) return true;
    const std::string_view rest = behind_layer(name);
    return rest.ends_with(".bias") || rest.find("norm") != std::string_view::npos;
}

ops::WeightFormat TensorAccount::resolve(const std::string& name, const std::vector<int64_t>& shape) {
    if (shape.size() == 2)
        return resolve(name, shape, ops::known_weight_formats(), [](auto) { return true; });
    return resolve(name, shape, "F32, F16, BF16",
                   [](ops::WeightFormat format) { return ops::element_of(format).has_value(); });
}

void TensorAccount::resolve_f32(const std::string& name, const std::vector<int64_t>& shape) {
    resolve(name, shape, "F32", [](ops::WeightFormat format) { return format == ops::WeightFormat::kF32; });
}

ops::WeightFormat TensorAccount::resolve(const std::string& name, const std::vector<int64_t>& shape,
                                         const std::string& expected,
                                         bool (*is_accepted)(ops::WeightFormat)) {
    used_.insert(name);
    const StoredTensor* tensor = weights_.find(name);
    if (!tensor) {
        missing_.push_back(name);
        return ops::WeightFormat::kF32;
    }
    if (tensor->shape != shape)
        wrong_shapes_.push_back(fmt::format("{} has shape [{}], expected [{}]", name,
                                            fmt::join(tensor->shape, ", "), fmt::join(shape, ", ")));
    const auto format = format_of(*tensor);
    if (format && is_accepted(*format)) return *format;
    ++types_[fmt::format("{}: expected {}", tensor->type, expected)];
    return ops::WeightFormat::kF32;
}

bool TensorAccount::is_copy(const std::string& original, const std::string& copy) {
    const StoredTensor *a = weights_.find(original), *b = weights_.find(copy);
    if (!a || !b || a->type != b->type || a->shape != b->shape) return false;
    const bool is_equal = std::ranges::equal(a->bytes, b->bytes);
    weights_.release(original);
    weights_.release(copy);
    if (is_equal) used_.insert(copy);
    return is_equal;
}

void TensorAccount::close() {
    for (const auto& [problem, count] : types_)
        findings_.unsupported.push_back(fmt::format("{} tensors of type {}", count, problem));
    report("missing tensors", missing_, findings_.unsupported);
    report("wrong shapes (compare the settings)", wrong_shapes_, findings_.unsupported);
    account_for_rest();
}

void TensorAccount::account_for_rest() {
    std::vector<std::string> unannounced, adapters, others;
    const bool is_folder = !config_.is_gguf;
    for (const std::string& name : weights_.names()) {
        if (used_.contains(name) || is_recomputed(name)) continue;
        auto& list = is_folder && would_change_results(name) ? unannounced
                     : is_folder && is_adapter(name)         ? adapters
                                                             : others;
        list.push_back(shown(name));
    }
    report("tensors that config.json does not announce (attention_bias and mlp_bias announce biases)",
           unannounced, findings_.unsupported);
    report("tensors of adapters, which are to be merged into the weights", adapters, findings_.unsupported);
    report(is_folder ? "tensors that the architecture does not have, and that are not used"
                     : "tensors that the architecture does not have",
           others, is_folder ? findings_.warnings : findings_.unsupported);
}

bool TensorAccount::is_recomputed(const std::string& name) const {
    const auto is_unused = [&](const PlacedPart& part) {
        return std::ranges::any_of(part.unused,
                                   [&](const std::string& each) { return stands_for(each, name); });
    };
    if (is_unused(placed_.head) || std::ranges::any_of(placed_.layers, is_unused)) return true;
    if (!name.ends_with(kFrequencies)) return false;
    const StoredTensor& tensor = *weights_.find(name);
    return std::ranges::any_of(config_.ropes, [&](const auto& each) {
        const ModelRope& rope = each.second;
        RopeConfig plain = rope.config;
        plain.scaling = RopeConfig::Scaling::kNone;
        const int64_t context = rope.config.original_context;
        return are_close(tensor, rope_frequencies(plain, rope.width, context)) ||
               are_close(tensor, rope_frequencies(rope.config, rope.width, context));
    });
}

}  // namespace tessera::import
