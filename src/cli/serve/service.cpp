#include "cli/serve/service.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "cli/serve/answer.h"
#include "run/llm/think_split.h"
#include "support/error.h"
#include "support/printable.h"

namespace tessera::serve {
namespace {

/// OpenAI's default for a completion.
constexpr int64_t kCompletionTokens = 16;

/// More tokens than the mark that begins a thought, but few to decode.
constexpr size_t kEndOfPrompt = 16;

/// Threads that read requests and write answers: one of them may be busy with a large grammar.
constexpr int kQuickThreads = 2;
/// Larger bodies and answers, in bytes, go to the slow lane.
constexpr size_t kMostQuick = size_t{64} << 10;

/// The seed of one choice of a request: the first has that of the request, and each has draws of its own.
/// Source: Steele et al., "Fast Splittable Pseudorandom Number Generators" (2014), figure 17.
uint64_t seed_of_choice(uint64_t seed, uint64_t choice) {
    if (choice == 0) return seed;
    uint64_t mixed = seed + choice * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
}

/// Adds the choices of a prompt, which differ only in their seeds. @pre `prompts` has the first one's
void add_choices(const TextRequest& text, EngineRequest one, std::vector<EngineRequest>& requests,
                 std::vector<AnswerPrompt>& prompts) {
    for (int64_t choice = 1; choice < text.choices; ++choice) {
        requests.push_back(one);
        prompts.push_back(prompts.back());
        prompts.back().is_repeated = true;
    }
    requests.push_back(std::move(one));
}

/// Reports an Error as the client's fault: the model cannot do what the request asks for.
template <typename Job>
auto as_api_error(Job&& job) {
    try {
        return job();
    } catch (const Error& error) {
        std::string message = error.entity.empty() ? error.problem : error.entity + ": " + error.problem;
        const bool is_long = error.problem.find("context") != std::string::npos;
        throw ApiError{.message = std::move(message),
                       .param = error.entity,
                       .code = is_long ? "context_length_exceeded" : ""};
    }
}

/// The same for wrong functions, or a model that cannot call any.
template <typename Job>
auto as_tool_error(Job&& job) {
    try {
        return job();
    } catch (const Error& error) {
        throw ApiError{
            .message = fmt::format("tools: {}{}{}", error.entity.empty() ? "" : error.entity + ": ",
                                   error.problem, error.advice.empty() ? "" : " (" + error.advice + ")"),
            .param = "tools",
            .code = error.where == "tools" ? "invalid_tools" : "unsupported_parameter"};
    }
}

}  // namespace

Service::Service(Engine& engine, ServiceSettings settings)
    : engine_(engine),
      settings_(std::move(settings)),
      usual_sampling_(engine.file().sampling({.temperature = 1})),
      has_chat_(!settings_.chat_template.empty() || engine.file().has_chat_template()),
      lanes_(std::make_shared<WorkLanes>(kQuickThreads)) {
    if (has_chat_) chat_ends_ = engine.file().chat_ends(chat_settings({}));
    thinks_ = has_thinking();
    ollama_ = ollama_model(engine_, thinks_, has_tools());
}

Service::~Service() {
    lanes_->stop();
}

WorkLanes::Lane Service::lane_of(size_t bytes) {
    return bytes > kMostQuick ? WorkLanes::Lane::kSlow : WorkLanes::Lane::kQuick;
}

int64_t Service::seconds_since_1970() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

uint64_t Service::draw_seed() {
    std::random_device device;
    return (uint64_t{device()} << 32) | device();
}

/// The id of an answer, unique among those of all servers.
std::string Service::new_id() {
    return fmt::format("{:x}-{}", draw_seed(), ++answers_);
}

std::vector<TokenId> Service::ids_of(const Prompt& prompt) const {
    const auto* text = std::get_if<std::string>(&prompt);
    // Special tokens that the text spells count: prompts to be completed are whole prompts.
    return text != nullptr ? engine_.file().encode(*text, /*special=*/true) : std::get<1>(prompt);
}

EngineRequest Service::engine_request(const TextRequest& text) const {
    return {.prompt = {},
            .sampling = text.sampling,
            .stop_strings = text.stop,
            .grammar = text.grammar,
            .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(settings_.request_seconds),
            .likeliest = text.likeliest};
}

EngineRequest Service::prompt_request(const TextRequest& text, const Prompt& prompt) const {
    EngineRequest request = engine_request(text);
    request.prompt = as_api_error([&] { return ids_of(prompt); });
    if (request.prompt.empty())
        throw ApiError{.message = "prompt: has no token, and the model has none that begins a text",
                       .param = "prompt"};
    request.max_tokens = text.max_tokens.value_or(kCompletionTokens);
    return request;
}

ChatSettings Service::chat_settings(const ChatRequest& request) const {
    return {.thinks = request.thinks, .chat_template = settings_.chat_template, .tools = request.tools};
}

EngineRequest Service::chat_request(const ChatRequest& request) const {
    if (!has_chat_)
        throw ApiError{.message = "the model has no chat template: it continues texts, at /v1/completions",
                       .code = "unsupported_endpoint"};
    EngineRequest one = engine_request(request.text);
    one.prompt =
        as_api_error([&] { return engine_.file().encode_chat(request.messages, chat_settings(request)); });
    one.stop_ids = chat_ends_;
    one.max_tokens = request.text.max_tokens.value_or(engine_.context());
    return one;
}

/// True if a prompt tells whether the model is to think, or begins its thoughts.
bool Service::has_thinking() const {
    if (!has_chat_) return false;
    const auto prompt = [&](bool thinks) {
        ChatRequest request;
        request.messages = {{.role = "user", .content = "a"}};
        request.thinks = thinks;
        return engine_.file().encode_chat(request.messages, chat_settings(request));
    };
    try {
        const std::vector<TokenId> thinking = prompt(true);
        return thinking != prompt(false) || llm::ends_in_thinking(engine_.file().decode(thinking));
    } catch (const Error&) {
        return false;  // a template that refuses so short a conversation
    }
}

/// True if its answers can call functions.
bool Service::has_tools() const {
    if (!has_chat_) return false;
    ChatRequest request;
    request.messages = {{.role = "user", .content = "a"}};
    request.tools = {{.name = "f"}};
    try {
        const ChatSettings settings = chat_settings(request);
        (void)engine_.file().tool_answer(engine_.file().encode_chat(request.messages, settings), {},
                                         settings);
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// Makes the reader that tells calls and thoughts of an answer from its text; null if there are none.
std::shared_ptr<AnswerReader> Service::reader_of(EngineRequest& made, const ChatRequest& request) const {
    const auto reader = add_tools(made, request);
    std::shared_ptr<AnswerReader> calls = reader ? reader() : nullptr;
    if (!thinks_ || !request.thinks.value_or(true)) return calls;
    const std::vector<TokenId>& prompt = made.prompt;
    const size_t count = std::min(prompt.size(), kEndOfPrompt);
    const std::vector<TokenId> last(prompt.end() - static_cast<ptrdiff_t>(count), prompt.end());
    return std::make_shared<llm::ThinkReader>(llm::ends_in_thinking(engine_.file().decode(last)),
                                              std::move(calls));
}

std::function<void()> Service::complete(std::string_view body, const ReplySink& sink) {
    const CompletionRequest request = parse_completion(body, usual_sampling_);
    std::vector<EngineRequest> requests;
    std::vector<AnswerPrompt> prompts;
    for (const Prompt& prompt : request.prompts) {
        EngineRequest one = prompt_request(request.text, prompt);
        prompts.emplace_back();
        if (request.echoes || request.text.likeliest) {
            const auto* given = std::get_if<std::string>(&prompt);
            const std::string text =
                given != nullptr ? *given : as_api_error([&] { return engine_.file().decode(one.prompt); });
            if (request.echoes)
                prompts.back().echo = text;
            else
                prompts.back().characters = count_characters(text);
        }
        add_choices(request.text, std::move(one), requests, prompts);
    }
    const bool reports_prompts = request.echoes && request.text.likeliest.has_value();
    return start(request.text, false, std::move(requests), std::move(prompts), reports_prompts, sink);
}

std::function<void()> Service::chat(std::string_view body, const ReplySink& sink) {
    const ChatRequest request = parse_chat(body, usual_sampling_);
    std::vector<EngineRequest> requests;
    std::vector<AnswerPrompt> prompts(1);
    EngineRequest one = chat_request(request);
    // Each choice is read by itself.
    std::vector<std::shared_ptr<AnswerReader>> readers;
    if (const auto reader = add_tools(one, request))
        for (int64_t i = 0; i < request.text.choices; ++i) readers.push_back(reader());
    add_choices(request.text, std::move(one), requests, prompts);
    return start(request.text, true, std::move(requests), std::move(prompts), false, sink,
                 std::move(readers));
}

/// Lets a chat call functions. @return makes readers of its answers; empty if it calls none
std::function<std::shared_ptr<AnswerReader>()> Service::add_tools(EngineRequest& made,
                                                                  const ChatRequest& request) const {
    // An answer with a grammar of its own has no calls.
    if (request.tools.empty() || made.grammar) return nullptr;
    ToolAnswer answer = as_tool_error(
        [&] { return engine_.file().tool_answer(made.prompt, request.tool_choice, chat_settings(request)); });
    made.grammar = std::move(answer.grammar);
    made.stop_ids = std::move(answer.stop_ids);
    made.past_end = answer.past_end;
    return std::move(answer.reader);
}

std::function<void()> Service::start_one(const TextRequest& text, EngineRequest request,
                                         const std::shared_ptr<TextAnswer>& answer) {
    request.sampling.seed = text.seed ? *text.seed : draw_seed();
    request.on_text = [answer](std::optional<TokenReport> token, const std::string& piece) {
        answer->add(std::move(token), piece);
    };
    request.on_end = [answer, lanes = lanes_](const EngineEnd& end) {
        if (answer->end(end)) lanes->add(lane_of(answer->bytes()), [answer] { answer->finish(); });
    };
    std::vector<EngineRequest> requests;
    requests.push_back(std::move(request));
    return submit(std::move(requests));
}

std::function<void()> Service::start(const TextRequest& text, bool is_chat,
                                     std::vector<EngineRequest> requests, std::vector<AnswerPrompt> prompts,
                                     bool reports_prompts, const ReplySink& sink,
                                     std::vector<std::shared_ptr<AnswerReader>> readers) {
    const uint64_t seed = text.seed ? *text.seed : draw_seed();
    AnswerForm form{.id = fmt::format("{}-{}", is_chat ? "chatcmpl" : "cmpl", new_id()),
                    .model = valid_utf8(engine_.file().name()),
                    .created = seconds_since_1970(),
                    .is_chat = is_chat,
                    .streams = text.streams,
                    .includes_usage = text.includes_usage,
                    .has_logprobs = text.likeliest.has_value(),
                    .prompts = std::move(prompts),
                    .readers = std::move(readers),
                    .call_number = draw_seed()};
    const auto answer = std::make_shared<Answer>(std::move(form), sink);
    for (size_t i = 0; i < requests.size(); ++i) {
        requests[i].sampling.seed = seed_of_choice(seed, i);
        if (reports_prompts)
            requests[i].on_prompt = [answer, i](TokenReport token) {
                answer->add_token(i, std::move(token));
            };
        requests[i].on_text = [answer, i](std::optional<TokenReport> token, const std::string& piece) {
            answer->add_text(i, std::move(token), piece);
        };
        // Scores need an entry for each drawn token, the end's included.
        if (!is_chat && text.likeliest)
            requests[i].on_stop_id = [answer, i](TokenReport token) {
                answer->add_token(i, std::move(token));
            };
        requests[i].on_end = [answer, i, lanes = lanes_](const EngineEnd& end) {
            if (answer->end(i, end)) lanes->add(lane_of(answer->bytes()), [answer] { answer->finish(); });
        };
    }
    return submit(std::move(requests));
}

EngineRequest Service::embedding_request(const EmbeddingRequest& request, size_t input) const {
    EngineRequest one = engine_request({});
    one.max_tokens = 0;
    one.embedding = {.pooling = request.pooling, .normalise = request.normalises};
    const auto* text = std::get_if<std::string>(&request.inputs[input]);
    as_api_error([&] {
        const ModelFile& file = engine_.file();
        // Unlike a prompt it is a whole text, with the end that the model expects.
        one.prompt = text != nullptr ? file.encode_whole(*text) : ids_of(request.inputs[input]);
        const auto most = static_cast<size_t>(engine_.context());
        if (!request.truncates || one.prompt.size() <= most) return;
        const size_t behind = text != nullptr ? one.prompt.size() - file.encode(*text).size() : 0;
        const auto cut = one.prompt.begin() + static_cast<ptrdiff_t>(most - std::min(behind, most));
        one.prompt.erase(cut, one.prompt.end() - static_cast<ptrdiff_t>(std::min(behind, most)));
    });
    if (one.prompt.empty())
        throw ApiError{.message = "input: a text without tokens has no embedding: leave empty texts out",
                       .param = request.inputs.size() == 1 ? "input" : fmt::format("input[{}]", input)};
    return one;
}

std::function<void()> Service::embed(std::string_view body, const ReplySink& sink) {
    const EmbeddingRequest request = parse_embedding(body);
    return start_embedding(request, openai_embeddings(valid_utf8(engine_.file().name()), request.is_base64),
                           Api::kOpenAi, sink);
}

std::function<void()> Service::start_embedding(const EmbeddingRequest& request, PrintEmbeddings print,
                                               Api api, const ReplySink& sink) {
    const int64_t width = engine_.file().embedding_width();
    if (width == 0)
        throw ApiError{.status = 501,
                       .message = fmt::format(
                           "{} was compiled without the output that embeddings are made of: start the "
                           "server with --embeddings and the checkpoint, or compile the model again "
                           "with `tessera compile --embeddings`",
                           engine_.file().name()),
                       .code = "unsupported_endpoint"};
    if (request.dimensions && *request.dimensions != width)
        throw ApiError{
            .message = fmt::format("dimensions: is {}, and the model has {}", *request.dimensions, width),
            .param = "dimensions"};
    const auto answer = std::make_shared<EmbeddingAnswer>(request.inputs.size(), std::move(print), api, sink);
    std::vector<EngineRequest> requests;
    for (size_t i = 0; i < request.inputs.size(); ++i) {
        EngineRequest one = embedding_request(request, i);
        one.on_embedding = [answer, i](std::vector<float> embedding) {
            answer->add(i, std::move(embedding));
        };
        one.on_end = [answer, lanes = lanes_](const EngineEnd& end) {
            if (answer->end(end)) lanes->add(lane_of(answer->bytes()), [answer] { answer->finish(); });
        };
        requests.push_back(std::move(one));
    }
    return submit(std::move(requests));
}

std::function<void()> Service::submit(std::vector<EngineRequest> requests) {
    const std::vector<uint64_t> numbers = as_api_error([&] { return engine_.submit(std::move(requests)); });
    if (numbers.empty())
        throw ApiError{.status = 503,
                       .message = "all places are taken: try again",
                       .code = "queue_full",
                       .retry_after = 1};
    return [this, numbers] {
        for (const uint64_t number : numbers) engine_.cancel(number);
    };
}

}  // namespace tessera::serve
