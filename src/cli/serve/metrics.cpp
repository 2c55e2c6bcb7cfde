#include "cli/serve/metrics.h"

#include <fmt/core.h>

namespace tessera::serve {

std::string metrics(const EngineStatistics& counts, const std::map<int, int64_t>& replies) {
    std::string text;
    const auto begin = [&](const char* name, const char* type, const char* help) {
        text += fmt::format("# HELP tessera_{0} {2}\n# TYPE tessera_{0} {1}\n", name, type, help);
    };
    const auto add = [&](const char* name, const char* type, const char* help, auto value) {
        begin(name, type, help);
        text += fmt::format("tessera_{} {}\n", name, value);
    };
    add("requests_running", "gauge", "Texts that are computed now.", counts.running);
    add("requests_waiting", "gauge", "Requests that wait for a place.", counts.waiting);
    add("cache_pages", "gauge", "Pages of the cache.", counts.pages);
    add("cache_pages_available", "gauge", "Pages that no running text has reserved.", counts.available_pages);
    begin("requests_total", "counter", "Texts that have ended, by outcome.");
    text += fmt::format("tessera_requests_total{{outcome=\"finished\"}} {}\n", counts.finished);
    text += fmt::format("tessera_requests_total{{outcome=\"interrupted\"}} {}\n", counts.interrupted);
    text += fmt::format("tessera_requests_total{{outcome=\"failed\"}} {}\n", counts.failed);
    add("prompt_tokens_total", "counter",
        "Tokens of prompts that were computed, of requests that have ended.", counts.prompt_tokens);
    add("reused_tokens_total", "counter", "Tokens of prompts whose keys and values were kept, likewise.",
        counts.reused_tokens);
    add("generated_tokens_total", "counter", "Tokens of texts, likewise.", counts.generated_tokens);
    add("steps_total", "counter", "Steps of the model.", counts.steps);
    add("step_seconds_total", "counter", "Time of these steps.", counts.step_seconds);
    begin("http_replies_total", "counter", "Answers of HTTP, by status.");
    for (const auto& [status, count] : replies)
        text += fmt::format("tessera_http_replies_total{{status=\"{}\"}} {}\n", status, count);
    return text;
}

}  // namespace tessera::serve
