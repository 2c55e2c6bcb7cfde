#include <nlohmann/json.hpp>

#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "serve/parse_request.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    const std::string_view body = fuzz::text_of(data, size);
    const auto accepts_or_refuses = [&](auto parse) {
        try {
            parse(body);
        } catch (const serve::ApiError& error) {
            TESSERA_CHECK(error.status == 400 && !error.message.empty(), "{}", error.status);
            TESSERA_CHECK(nlohmann::json::parse(serve::print(error)).contains("error"));
        }
    };
    accepts_or_refuses([](std::string_view text) {
        const auto request = serve::parse_completion(text);
        TESSERA_CHECK(!request.prompts.empty() && request.prompts.size() <= serve::kMostPrompts);
    });
    accepts_or_refuses(
        [](std::string_view text) { TESSERA_CHECK(!serve::parse_chat(text).messages.empty()); });
    accepts_or_refuses([](std::string_view text) {
        const auto request = serve::parse_embedding(text);
        TESSERA_CHECK(!request.inputs.empty() && request.inputs.size() <= serve::kMostPrompts);
    });
    return 0;
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {
        R"({"prompt":["a",[1,2]],"max_tokens":3,"stop":["x"],"logit_bias":{"1":2},"logprobs":1,"seed":-1})",
        R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"stream":true,)"
        R"("stream_options":{"include_usage":true},"logprobs":true,"top_logprobs":2,"tools":[]})",
        R"({"input":["a",[1,2]],"encoding_format":"base64","pooling":"last","dimensions":64})",
        R"({"prompt":"a","grammar":"root ::= [a-z]+"})",
        R"({"prompt":"a","response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,)"
        R"("schema":{"type":"object","properties":{"b":{"type":"integer"},"a":{}},"required":["b"]}}}})"};
}
