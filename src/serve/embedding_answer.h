#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "serve/answer_json.h"
#include "serve/reply.h"
#include "tessera/engine.h"

namespace tessera::serve {

/// Makes the answer of /v1/embeddings of what the engine tells. All calls come from the thread of the engine.
class EmbeddingAnswer {
public:
    EmbeddingAnswer(std::string model, size_t inputs, bool is_base64, ReplySink sink);

    void add(size_t input, std::vector<float> embedding);
    /// One input is complete. The last one, or the first one that failed, ends the answer.
    void end(const EngineEnd& end);

private:
    std::string model_;
    bool is_base64_;
    ReplySink sink_;
    std::vector<std::vector<float>> embeddings_;
    Usage usage_;
    size_t missing_;
    bool has_failed_ = false;
};

/// Base64 with padding (RFC 4648, 4) of F32 in little-endian order.
std::string base64(const std::vector<float>& values);

}  // namespace tessera::serve
