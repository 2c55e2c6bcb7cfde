#include "cli/serve/embedding_answer.h"

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

PrintEmbeddings openai_embeddings(std::string model, bool is_base64) {
    return [model = std::move(model), is_base64](const auto& embeddings, const Usage& usage) {
        Json data = Json::array();
        for (size_t i = 0; i < embeddings.size(); ++i)
            data.push_back({{"object", "embedding"},
                            {"index", i},
                            {"embedding", is_base64 ? Json(base64(embeddings[i])) : Json(embeddings[i])}});
        const Json whole = {
            {"object", "list"},
            {"data", std::move(data)},
            {"model", model},
            {"usage", {{"prompt_tokens", usage.prompt_tokens}, {"total_tokens", usage.prompt_tokens}}}};
        return whole.dump();
    };
}

EmbeddingAnswer::EmbeddingAnswer(size_t inputs, PrintEmbeddings print, Api api, ReplySink sink)
    : print_(std::move(print)), api_(api), sink_(std::move(sink)), embeddings_(inputs), missing_(inputs) {}

void EmbeddingAnswer::add(size_t input, std::vector<float> embedding) {
    embeddings_[input] = std::move(embedding);
}

bool EmbeddingAnswer::end(const EngineEnd& end) {
    if (has_failed_) return false;
    if (const auto error = error_of(end)) {
        has_failed_ = true;
        sink_.whole(reply_of(*error, api_));
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
    sink_.whole({.body = print_(embeddings_, usage_)});
}

}  // namespace tessera::serve
