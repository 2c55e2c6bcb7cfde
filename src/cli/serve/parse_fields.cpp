#include "cli/serve/parse_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "cli/serve/read_grammar.h"
#include "cli/serve/read_tools.h"
#include "support/error.h"

namespace tessera::serve {
namespace {

/// As deep as a JSON schema inside of a request may be; token ids are values.
constexpr JsonBounds kBodyBounds{
    .bytes = size_t{64} << 20, .values = 2'000'000, .depth = 64, .word = size_t{64} << 20};
/// Up to here numbers with a point are exact.
constexpr double kLargestWhole = 9007199254740992.0;
constexpr size_t kMostStops = 16;
/// As OpenAI allows.
constexpr int64_t kMostChoices = 128;

/// They are about accounts, or about how fast an answer comes, and change no answer of this
/// server. A `prediction` is a guess of the answer.
constexpr std::array<std::string_view, 11> kIgnored = {"model",
                                                       "user",
                                                       "metadata",
                                                       "store",
                                                       "service_tier",
                                                       "parallel_tool_calls",
                                                       "prompt_cache_key",
                                                       "safety_identifier",
                                                       "prompt_cache_retention",
                                                       "prompt_cache_options",
                                                       "prediction"};
/// Wishes for the length of thoughts and answers, which models that were not trained for them ignore.
constexpr std::array<std::string_view, 2> kWishes = {"reasoning_effort", "verbosity"};

void refuse_unsupported(const JsonCursor& root) {
    refuse_functions(root);
    if (const auto field = root.find("moderation"))
        refuse_field(*field, "nothing judges texts here: send the request without it");
    if (const auto field = root.find("suffix"); field && !field->is_empty())
        refuse_field(*field, "text after the completion is not supported");
    for (const char* name : {"audio", "web_search_options"})
        if (const auto field = root.find(name))
            refuse_field(*field, "the model reads and writes text alone: send the request without it");
    for (const std::string_view name : kWishes)
        if (const auto field = root.find(name)) (void)field->string();
    if (const auto field = root.find("modalities"))
        for (const JsonCursor& item : field->items())
            if (!is_text(item, "text")) refuse_field(*field, "the model reads and writes text alone");
}

/// The number of choices for each prompt.
int64_t read_choices(const JsonCursor& root) {
    const auto wanted = root.find("n");
    const int64_t choices = wanted ? whole_number(*wanted, 1, kMostChoices) : 1;
    if (const auto field = root.find("best_of"); field && whole_number(*field, 1, kMostChoices) != choices)
        refuse_field(*field, "all choices that are made are sent: leave it out, or make it as large as n");
    return choices;
}

void read_biases(const JsonCursor& field, SamplingOptions& sampling) {
    for (const std::string& key : field.keys()) {
        TokenId id = -1;
        const char* const end = key.data() + key.size();
        const auto [last, error] = std::from_chars(key.data(), end, id);
        if (error != std::errc{} || last != end || id < 0)
            field.fail(fmt::format("has the key {}, expected the id of a token", key.substr(0, 20)));
        sampling.logit_bias.emplace_back(id, field.at(key).real(-100, 100));
    }
}

/// A member that is a number in a range.
void read_number(const JsonCursor& root, const char* name, double low, double high, double& value) {
    if (const auto field = root.find(name)) value = field->real(low, high);
}

SamplingOptions read_sampling(const JsonCursor& root, const SamplingOptions& usual) {
    SamplingOptions sampling = usual;
    read_common_sampling(root, sampling);
    read_number(root, "repetition_penalty", 0.01, 100, sampling.repetition_penalty);
    if (const auto field = root.find("logit_bias")) read_biases(*field, sampling);
    return sampling;
}

}  // namespace

void read_common_sampling(const JsonCursor& root, SamplingOptions& sampling) {
    read_number(root, "temperature", 0, 100, sampling.temperature);
    read_number(root, "top_p", 0, 1, sampling.top_p);
    // No probability at all is the most probable token alone.
    sampling.top_p = std::max(sampling.top_p, std::numeric_limits<double>::min());
    read_number(root, "min_p", 0, 1, sampling.min_p);
    read_number(root, "typical_p", std::numeric_limits<double>::min(), 1, sampling.typical_p);
    read_number(root, "frequency_penalty", -2, 2, sampling.frequency_penalty);
    read_number(root, "presence_penalty", -2, 2, sampling.presence_penalty);
    if (const auto field = root.find("top_k"))
        sampling.top_k = std::max<int64_t>(0, whole_number(*field, -1));
}

std::vector<std::string> read_stops(const JsonCursor& field) {
    std::vector<std::string> stops;
    if (field.is_string())
        stops.push_back(field.string());
    else
        for (const JsonCursor& item : field.items()) stops.push_back(item.string());
    if (stops.size() > kMostStops)
        field.fail(fmt::format("has {} strings, expected at most {}", stops.size(), kMostStops));
    if (std::find(stops.begin(), stops.end(), "") != stops.end()) field.fail("has an empty string");
    return stops;
}

bool is_text(const JsonCursor& field, std::string_view text) {
    return field.is_string() && field.string() == text;
}

void refuse_field(const JsonCursor& field, std::string_view why) {
    throw ApiError{.message = fmt::format("{}: {}", field.place(), why),
                   .param = field.place(),
                   .code = "unsupported_parameter"};
}

int64_t whole_number(const JsonCursor& field, int64_t low, int64_t high) {
    if (field.is_number() && !field.is_integer()) {
        const double value =
            field.real(-std::numeric_limits<double>::max(), std::numeric_limits<double>::max());
        const bool is_whole = std::abs(value) <= kLargestWhole && std::trunc(value) == value;
        if (is_whole && value >= static_cast<double>(low) && value <= static_cast<double>(high))
            return static_cast<int64_t>(value);
    }
    return field.integer(low, high);
}

void read_body(std::string_view body, const std::function<void(const JsonCursor&)>& read) {
    try {
        const JsonCursor root = parse_json(body, "body", kBodyBounds);
        if (!root.is_object()) root.fail_expected("an object");
        read(root);
        for (const std::string_view name : kIgnored) (void)root.find(name);
        for (const JsonCursor& unread : root.unread())
            if (unread.shown() != "null")
                throw ApiError{.message = fmt::format("unknown field: {}", unread.place()),
                               .param = unread.place(),
                               .code = "unknown_parameter"};
    } catch (const Error& error) {
        throw ApiError{.message = error.entity.empty() ? "the body " + error.problem
                                                       : error.entity + ": " + error.problem,
                       .param = error.entity,
                       .code = {}};
    }
}

TextRequest read_text_fields(const JsonCursor& root, std::string_view body, const SamplingOptions& usual) {
    refuse_unsupported(root);
    TextRequest text;
    text.choices = read_choices(root);
    text.sampling = read_sampling(root, usual);
    for (const char* name : {"max_tokens", "max_completion_tokens"})
        if (const auto field = root.find(name)) text.max_tokens = whole_number(*field, 0);
    if (const auto field = root.find("seed")) text.seed = static_cast<uint64_t>(whole_number(*field));
    if (const auto field = root.find("stop")) text.stop = read_stops(*field);
    text.grammar = read_grammar(root, body);
    text.streams = root.boolean_or("stream", false);
    if (const auto field = root.find("stream_options")) {
        text.includes_usage = field->boolean_or("include_usage", false);
        (void)field->boolean_or("include_obfuscation", false);
    }
    return text;
}

}  // namespace tessera::serve
