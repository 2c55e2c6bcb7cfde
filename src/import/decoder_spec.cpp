#include "import/decoder_spec.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "import/quantised/operand_tensors.h"
#include "support/error.h"

namespace tessera {
namespace {

/// Buffers that old versions of transformers wrote; it recomputes them itself.
constexpr std::string_view kRecomputed = ".rotary_emb.inv_freq";

/// Looks tensors up and keeps count of what is wrong with them.
class Resolver {
public:
    Resolver(const WeightSource& weights, Findings& findings) : weights_(weights), findings_(findings) {}

    bool contains(const std::string& name) const { return weights_.find(name) != nullptr; }

    /// F32 where the tensor cannot be used: the findings keep it from being compiled.
    ops::WeightFormat resolve(const std::string& name, const std::vector<int64_t>& shape) {
        if (shape.size() == 2)
            return resolve(name, shape, ops::known_weight_formats(), [](auto) { return true; });
        return resolve(name, shape, "F32, F16, BF16",
                       [](ops::WeightFormat format) { return ops::element_of(format).has_value(); });
    }
    /// What the import itself reads.
    void resolve_f32(const std::string& name, const std::vector<int64_t>& shape) {
        resolve(name, shape, "F32",
                [](ops::WeightFormat format) { return format == ops::WeightFormat::kF32; });
    }
    void report(bool unused_is_wrong) {
        for (const auto& [problem, count] : types_)
            findings_.unsupported.push_back(fmt::format("{} tensors of type {}", count, problem));
        report("missing tensors", missing_, findings_.unsupported);
        report("wrong shapes (compare the settings)", wrong_shapes_, findings_.unsupported);
        std::vector<std::string> unused;
        for (const std::string& name : weights_.names())
            if (!used_.contains(name) && !name.ends_with(kRecomputed)) unused.push_back(name);
        report("tensors that the architecture does not have", unused,
               unused_is_wrong ? findings_.unsupported : findings_.notes);
    }

private:
    ops::WeightFormat resolve(const std::string& name, const std::vector<int64_t>& shape,
                              const std::string& expected, bool (*is_accepted)(ops::WeightFormat)) {
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

    static void report(std::string_view what, std::vector<std::string> items, std::vector<std::string>& to) {
        if (items.empty()) return;
        constexpr size_t kShown = 8;
        const size_t count = items.size();
        items.resize(std::min(count, kShown));
        to.push_back(
            fmt::format("{} {}: {}{}", count, what, fmt::join(items, "; "), count > kShown ? "; ..." : ""));
    }

    const WeightSource& weights_;
    Findings& findings_;
    std::set<std::string, std::less<>> used_;
    std::map<std::string, int64_t> types_;  ///< by what is wrong with them
    std::vector<std::string> missing_;
    std::vector<std::string> wrong_shapes_;
};

}  // namespace

DecoderSpec resolve_tensors(Checkpoint& checkpoint, const std::string& name) {
    TESSERA_CHECK(checkpoint.config && checkpoint.weights, "{}", checkpoint.path);
    const DecoderConfig& config = *checkpoint.config;
    const DecoderSize& size = config.size;
    Resolver resolver(*checkpoint.weights, checkpoint.findings);
    DecoderSpec spec{.name = name,
                     .size = size,
                     .epsilon = config.epsilon,
                     .rope_form = config.rope_form,
                     .names = config.names};
    const auto outer = [&](OuterTensor tensor) {
        return resolver.resolve(source_name(tensor, config.names), shape_of(tensor, size));
    };
    spec.embedding = outer(OuterTensor::kEmbedding);
    spec.final_norm = outer(OuterTensor::kFinalNorm);
    const std::string head = source_name(OuterTensor::kHead, config.names);
    spec.is_tied = config.is_tied.value_or(!resolver.contains(head));
    if (!spec.is_tied) spec.head = outer(OuterTensor::kHead);

    for (int64_t layer = 0; layer < size.layers; ++layer) {
        LayerFormats formats{};
        for (size_t i = 0; i < kLayerTensors; ++i) {
            const auto tensor = static_cast<LayerTensor>(i);
            const std::string source = source_name(tensor, layer, config.names);
            const Presence presence = config.tensors[i];
            if (presence == Presence::kAlways ||
                (presence == Presence::kIfStored && resolver.contains(source)))
                formats[i] = resolver.resolve(source, shape_of(tensor, size));
        }
        spec.layers.push_back(formats);
    }
    if (config.names == NameStyle::kGguf && resolver.contains(kRopeFactorsSource))
        resolver.resolve_f32(kRopeFactorsSource, {size.head_width / 2});
    // HuggingFace loads a model without the tensors that its class does not have; llama.cpp refuses such a
    // file.
    resolver.report(config.names == NameStyle::kGguf);
    return spec;
}

}  // namespace tessera
