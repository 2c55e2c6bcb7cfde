#include "serve/embedding_answer.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(const std::vector<float>& values) {
    std::vector<uint8_t> bytes;
    for (const float value : values)
        for (int shift = 0; shift < 32; shift += 8)
            bytes.push_back(static_cast<uint8_t>(std::bit_cast<uint32_t>(value) >> shift));
    std::string text;
    for (size_t i = 0; i < bytes.size(); i += 3) {
        const size_t count = std::min<size_t>(3, bytes.size() - i);
        uint32_t group = 0;
        for (size_t j = 0; j < 3; ++j) group = group << 8 | (j < count ? bytes[i + j] : 0U);
        for (size_t j = 0; j < 4; ++j) text += j <= count ? kDigits[group >> (18 - 6 * j) & 63] : '=';
    }
    return text;
}

EmbeddingAnswer::EmbeddingAnswer(std::string model, size_t inputs, bool is_base64, ReplySink sink)
    : model_(std::move(model)),
      is_base64_(is_base64),
      sink_(std::move(sink)),
      embeddings_(inputs),
      missing_(inputs) {}

void EmbeddingAnswer::add(size_t input, std::vector<float> embedding) {
    embeddings_[input] = std::move(embedding);
}

bool EmbeddingAnswer::end(const EngineEnd& end) {
    if (has_failed_) return false;
    if (const auto error = error_of(end)) {
        has_failed_ = true;
        sink_.whole(reply_of(*error));
        return false;
    }
    usage_.prompt_tokens += end.prompt_tokens;
    return --missing_ == 0;
}

size_t EmbeddingAnswer::bytes() const {
    constexpr size_t kOfNumber = 12;
    size_t bytes = 0;
    for (const auto& embedding : embeddings_) bytes += kOfNumber * embedding.size();
    return bytes;
}

void EmbeddingAnswer::finish() {
    Json data = Json::array();
    for (size_t i = 0; i < embeddings_.size(); ++i)
        data.push_back({{"object", "embedding"},
                        {"index", i},
                        {"embedding", is_base64_ ? Json(base64(embeddings_[i])) : Json(embeddings_[i])}});
    const Json whole = {
        {"object", "list"},
        {"data", std::move(data)},
        {"model", model_},
        {"usage", {{"prompt_tokens", usage_.prompt_tokens}, {"total_tokens", usage_.prompt_tokens}}}};
    sink_.whole({.body = whole.dump()});
}

}  // namespace tessera::serve
