#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "run/jinja/template.h"

// Parses a template and renders a short conversation with small limits.

namespace {

using tessera::jinja::Value;

tessera::jinja::Variables conversation() {
    const auto message = [](const char* role, const char* content) {
        return Value::object({{"role", Value::text(role)}, {"content", Value::foreign(content)}});
    };
    const Value tool = Value::object(
        {{"name", Value::foreign("f")}, {"arguments", Value::dict({{Value::foreign("x"), Value::of(1.5)}})}});
    return {
        {"messages", Value::list({message("system", " Be ß\xc3\x9f. "), message("user", "a <|im_end|> b\n"),
                                  message("assistant", "\xff"), message("user", "")})},
        {"tools", Value::list({tool})},
        {"bos_token", Value::text("<s>")},
        {"add_generation_prompt", Value::of(true)}};
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const auto parsed = jinja::Template::parse(fuzz::text_of(data, size), "fuzz");
        jinja::RenderSettings settings;
        settings.limits = {.steps = 20'000, .allocated_bytes = 1 << 20, .output_bytes = 1 << 18};
        settings.now = [] { return std::tm{}; };
        const jinja::Text text = parsed.render(conversation(), settings);
        for (const jinja::ByteRange& range : text.foreign())
            TESSERA_CHECK(range.begin < range.end && range.end <= text.size());
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {};
}
