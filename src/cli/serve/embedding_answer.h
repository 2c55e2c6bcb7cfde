#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/serve/answer_json.h"
#include "cli/serve/reply.h"
#include "tessera/engine.h"

namespace tessera::serve {

/// The body of an answer with the embeddings of all inputs, in the form of an API.
using PrintEmbeddings =
    std::function<std::string(const std::vector<std::vector<float>>& embeddings, const Usage& usage)>;

/// That of /v1/embeddings. `is_base64`: the numbers come as base64.
PrintEmbeddings openai_embeddings(std::string model, bool is_base64);

/// Makes the answer to a request for embeddings of what the engine tells. All calls but `finish` come from
/// the thread of the engine.
class EmbeddingAnswer {
public:
    EmbeddingAnswer(size_t inputs, PrintEmbeddings print, Api api, ReplySink sink);

    void add(size_t input, std::vector<float> embedding);
    /// Ends an input. The first one that failed ends the answer. @return true if it was the last one, and
    /// `finish` has to be called
    [[nodiscard]] bool end(const EngineEnd& end);
    /// Sends the answer. Any thread may call it, once.
    void finish();
    /// The approximate number of bytes that `finish` will send.
    size_t bytes() const;

private:
    PrintEmbeddings print_;
    Api api_;
    ReplySink sink_;
    std::vector<std::vector<float>> embeddings_;
    Usage usage_;
    size_t missing_;
    bool has_failed_ = false;
};

/// Base64 with padding (RFC 4648, 4) of F32 in little-endian order.
std::string base64(const std::vector<float>& values);

}  // namespace tessera::serve
