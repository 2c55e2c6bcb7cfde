#include "run/llm/pool_hidden.h"

#include <cmath>

#include <fmt/ranges.h>

#include "support/error.h"

namespace tessera::llm {

namespace {

void expect_no_source(const Session& session) {
    if (session.has_source())
        throw Error(session.manifest().model, "",
                    "makes a text of another, which only `tessera logits` takes",
                    "`tessera logits MODEL --ids FILE --decoder-ids FILE`", ErrorKind::kUsage);
}

}  // namespace

EmbeddingForm embedding_form(const EmbedOptions& options, const runtime::Manifest& manifest) {
    EmbeddingForm form;
    if (options.pooling) {
        form.pooling = *options.pooling;
    } else if (manifest.text && !manifest.text->pooling.empty()) {
        const auto stated = pooling_of(manifest.text->pooling);
        if (!stated)
            throw Error(manifest.model, "pooling",
                        fmt::format("of the model is \"{}\", which is not supported", manifest.text->pooling),
                        fmt::format("choose one of {}", fmt::join(pooling_names(), ", ")), ErrorKind::kUsage);
        form.pooling = *stated;
    }
    form.normalise = options.normalise.value_or(!manifest.text || manifest.text->normalises);
    return form;
}

void expect_logits(const Session& session) {
    expect_no_source(session);
    if (session.is_encoder())
        throw Error(session.manifest().model, "", "is an encoder, which writes no text",
                    "`tessera embed` gives its vectors", ErrorKind::kUsage);
}

void expect_hidden(const Session& session) {
    if (session.hidden_width() == 0)
        throw Error(session.manifest().model, "", "was compiled without embeddings",
                    "compile the model again with --embeddings (in programs: CompileSettings::embeddings)",
                    ErrorKind::kUsage);
}

std::vector<int32_t> pooled_rows(std::span<const int32_t> tokens, Pooling pooling) {
    if (pooling == Pooling::kLast) return last_row(tokens);
    if (pooling == Pooling::kFirst) return {0};
    return every_row(tokens);
}

void HiddenPool::add(std::span<const float> hidden) {
    const bool is_first = count_++ == 0;
    if (is_first) sum_.resize(hidden.size());
    TESSERA_CHECK(hidden.size() == sum_.size(), "{} of {}", hidden.size(), sum_.size());
    const auto weight = form_.pooling == Pooling::kWeightedMean ? static_cast<double>(count_) : 1;
    for (size_t i = 0; i < hidden.size(); ++i) {
        const double value = hidden[i];
        switch (form_.pooling) {
            case Pooling::kMean:
            case Pooling::kMeanSqrt:
            case Pooling::kWeightedMean:
                sum_[i] += weight * value;
                break;
            case Pooling::kLast:
                sum_[i] = value;
                break;
            case Pooling::kFirst:
                if (is_first) sum_[i] = value;
                break;
            case Pooling::kMax:
                // NaN stays, so that `finish` finds it.
                if (is_first || value > sum_[i] || std::isnan(value)) sum_[i] = value;
                break;
        }
    }
}

double HiddenPool::divisor() const {
    const auto count = static_cast<double>(count_);
    if (form_.pooling == Pooling::kMean) return count;
    if (form_.pooling == Pooling::kMeanSqrt) return std::sqrt(count);
    if (form_.pooling == Pooling::kWeightedMean) return count * (count + 1) / 2;
    return 1;
}

std::vector<float> HiddenPool::finish() const {
    TESSERA_CHECK(count_ > 0);
    double squares = 0;
    for (const double value : sum_) squares += value * value;
    if (!std::isfinite(squares))
        throw Error("", "", "the hidden states are no numbers",
                    "the weights may be damaged: compile the model again");
    const double length = std::sqrt(squares);
    const double scale = form_.normalise && length > 0 ? length : divisor();
    std::vector<float> pooled;
    for (const double value : sum_) pooled.push_back(static_cast<float>(value / scale));
    return pooled;
}

}  // namespace tessera::llm
