#include <nlohmann/json.hpp>

#include "cli/serve/parse_ollama.h"
#include "cli/serve/parse_request.h"
#include "cli/serve/parse_responses.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    const std::string_view body = fuzz::text_of(data, size);
    const auto accepts_or_refuses = [&](auto parse) {
        try {
            parse(body);
        } catch (const serve::ApiError& error) {
            TESSERA_CHECK(error.status == 400 && !error.message.empty(), "{}", error.status);
            for (const serve::Api api : {serve::Api::kOpenAi, serve::Api::kOllama})
                TESSERA_CHECK(nlohmann::json::parse(serve::print(error, api)).contains("error"));
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
    accepts_or_refuses(
        [](std::string_view text) { TESSERA_CHECK(!serve::parse_responses(text).chat.messages.empty()); });
    accepts_or_refuses([](std::string_view text) { (void)serve::parse_ollama_chat(text); });
    accepts_or_refuses([](std::string_view text) { (void)serve::parse_ollama_generate(text); });
    accepts_or_refuses([](std::string_view text) { (void)serve::parse_ollama_show(text); });
    accepts_or_refuses([](std::string_view text) {
        TESSERA_CHECK(serve::parse_ollama_embed(text).embedding.inputs.size() <= serve::kMostPrompts);
        TESSERA_CHECK(serve::parse_ollama_embeddings(text).embedding.inputs.size() <= 1);
    });
    return 0;
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {
        R"({"prompt":["a",[1,2]],"max_tokens":3,"stop":["x"],"logit_bias":{"1":2},"logprobs":1,"seed":-1})",
        R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"stream":true,)"
        R"("stream_options":{"include_usage":true},"logprobs":true,"top_logprobs":2,"tools":[]})",
        R"({"messages":[{"role":"assistant","tool_calls":[{"id":"i","type":"function","function":{"name":"f",)"
        R"("arguments":"{}"}}]},{"role":"tool","tool_call_id":"i","content":"x"}],"tools":[{"type":"function",)"
        R"("function":{"name":"f","strict":true,"parameters":{"type":"object"}}}],"parallel_tool_calls":false,)"
        R"("tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function",)"
        R"("function":{"name":"f"}}]}}})",
        R"({"input":["a",[1,2]],"encoding_format":"base64","pooling":"last","dimensions":64})",
        R"({"prompt":"a","grammar":"root ::= [a-z]+"})",
        R"({"prompt":"a","response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,)"
        R"("schema":{"type":"object","properties":{"b":{"type":"integer"},"a":{}},"required":["b"]}}}})",
        R"({"input":[{"role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"reasoning","summary":[]}],)"
        R"("instructions":"i","max_output_tokens":3,"include":["message.output_text.logprobs"],"store":true,)"
        R"("text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}}},"stream":true})",
        R"({"model":"m:latest","messages":[{"role":"user","content":"a"}],"format":"json","think":"low",)"
        R"("options":{"num_predict":-1,"seed":-1,"stop":"x","repeat_last_n":-1,"num_ctx":9},"keep_alive":"5m"})",
        R"({"model":"m","prompt":"a","system":"s","raw":false,"stream":false,"format":{"type":"integer"}})",
        R"({"model":"m","input":["a","b"],"truncate":false,"dimensions":4,"options":{"mirostat":0},"keep_alive":0})"};
}
