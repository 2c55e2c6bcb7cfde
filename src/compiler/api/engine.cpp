#include "tessera/engine.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

#include "compiler/api/invariant_tokens.h"
#include "compiler/api/model_file.h"
#include "machine/probe.h"
#include "run/llm/batch_engine.h"
#include "run/llm/language_model.h"
#include "run/llm/pool_hidden.h"
#include "run/llm/text_stream.h"
#include "run/llm/token_probabilities.h"
#include "support/error.h"

namespace tessera {
namespace {

using Clock = std::chrono::steady_clock;

int64_t step_tokens_of(const runtime::Artefact& artefact, const EngineSettings& settings) {
    const int64_t most = llm::StepInterface(artefact.manifest()).limits[llm::StepInterface::kT].high;
    return settings.batch_invariant ? std::min(most, invariant_tokens(artefact)) : most;
}

int64_t sequences_of(const runtime::Artefact& artefact, const EngineSettings& settings) {
    if (settings.sequences > 0) return settings.sequences;
    const llm::StepInterface step(artefact.manifest());
    return std::min(step.limits[llm::StepInterface::kB].high, step_tokens_of(artefact, settings));
}

/// Ended texts whose keys and values stay in the cache.
constexpr int64_t kMostKept = 256;
/// The interval at which a step without work looks for late requests.
constexpr std::chrono::milliseconds kLookForLate{50};

llm::SessionOptions options_of(const runtime::Artefact& artefact, const EngineSettings& settings) {
    return {.context = settings.context,
            .sequences = sequences_of(artefact, settings),
            .cached = settings.cache_tokens,
            .kept = settings.reuse_prefix ? kMostKept : 0};
}

/// Models may have more logits than tokens.
std::string bytes_of(const llm::Tokenizer& tokenizer, TokenId id) {
    const bool is_known = id >= 0 && static_cast<size_t>(id) < tokenizer.vocabulary_size();
    return is_known ? tokenizer.token_bytes(id) : "";
}

void add_probabilities(TokenReport& report, std::span<const float> logits, int64_t count,
                       const llm::Tokenizer& tokenizer) {
    report.log_probability = llm::log_probability(logits, report.id);
    report.likeliest = llm::likeliest(logits, static_cast<size_t>(count));
    for (TokenProbability& token : report.likeliest) token.bytes = bytes_of(tokenizer, token.id);
}

bool is_start_of_text(const llm::Tokenizer& tokenizer, std::span<const TokenId> prompt) {
    return std::all_of(prompt.begin(), prompt.end(), [&](TokenId id) {
        return bytes_of(tokenizer, id).empty() || tokenizer.is_special(id);
    });
}

}  // namespace

struct Engine::Contents {
    Contents(ModelFile file_, const EngineSettings& settings_)
        : file(std::move(file_)),
          settings(settings_),
          tokenizer(file.contents_->tokenizer()),
          language(file.contents_->artefact, machine::host_features(),
                   options_of(*file.contents_->artefact, settings),
                   {.one_specialisation = settings.batch_invariant}),
          sequences(sequences_of(language.artefact(), settings)),
          batches(language.session(), {.sequences = sequences,
                                       .prompt_chunk = settings.prompt_chunk,
                                       .step_tokens = step_tokens_of(language.artefact(), settings),
                                       .reuse_prefix = settings.reuse_prefix}) {
        grammar_threads = {.lanes = &lanes, .on_ready = [this] {
                               {
                                   const std::lock_guard lock(mutex);
                                   constraints_are_ready = true;
                               }
                               changed.notify_all();
                           }};
        counts.pages = counts.available_pages = language.session().pages();
        thread = std::thread([this] { serve(); });
    }
    ~Contents() {
        {
            const std::lock_guard lock(mutex);
            stops = true;
        }
        changed.notify_all();
        thread.join();
        lanes.stop();
    }

    llm::BatchRequest batch_request(EngineRequest request, uint64_t number);
    bool has_room() const;
    void serve();
    bool has_orders() const;
    void take_orders(std::unique_lock<std::mutex>& lock);
    void count_end(const EngineEnd& end);

    ModelFile file;
    const EngineSettings settings;
    const llm::Tokenizer& tokenizer;
    llm::LanguageModel language;
    const int64_t sequences;
    llm::BatchEngine batches;  ///< of the thread alone, but for `check`
    llm::GrammarCache grammars;
    llm::GrammarThreads grammar_threads;
    std::atomic<uint64_t> last_number = 0;

    mutable std::mutex mutex;  ///< of everything below
    std::condition_variable changed;
    bool stops = false;
    bool constraints_are_ready = false;  ///< some have become so since the last step began
    int64_t present = 0;                 ///< requests that have not ended
    std::vector<std::pair<uint64_t, llm::BatchRequest>> arrived;
    std::vector<uint64_t> cancelled;
    EngineStatistics counts;
    std::vector<std::pair<uint64_t, uint64_t>> inner_numbers;  ///< of the thread alone: of those in `batches`

    WorkLanes lanes{1};  ///< of grammars
    std::thread thread;
};

/// The request in tokens: text, stop strings and reports are made here. Runs in the caller's thread, as a
/// grammar takes its time. @throws Error naming what cannot be computed
llm::BatchRequest Engine::Contents::batch_request(EngineRequest request, uint64_t number) {
    struct Reporting {
        EngineRequest request;
        llm::TextStream stream;
        TokenReport next_of_prompt;
        llm::HiddenPool pool;
    };
    llm::BatchRequest result{.prompt = std::move(request.prompt),
                             .max_tokens = request.max_tokens,
                             .sampling = std::move(request.sampling),
                             .stop_ids = std::move(request.stop_ids),
                             .deadline = request.deadline};
    if (request.on_embedding) result.on_hidden = [](int64_t, std::span<const float>) {};
    batches.check(result);
    const auto& text = language.artefact().manifest().text;
    if (!request.past_end) {
        result.stop_ids.insert(result.stop_ids.end(), text->eos.begin(), text->eos.end());
        result.stop_ids.insert(result.stop_ids.end(), tokenizer.eos().begin(), tokenizer.eos().end());
    }
    const llm::EmbeddingForm embedding =
        request.on_embedding ? llm::embedding_form(request.embedding, language.artefact().manifest())
                             : llm::EmbeddingForm();
    if (request.grammar)
        result.constraint = std::make_shared<llm::GrammarConstraint>(
            grammars.rules(tokenizer, *request.grammar), tokenizer, result.stop_ids, grammar_threads);
    // A grammar sees every byte, so none may be taken off at the front.
    llm::TextStream stream(tokenizer, request.stop_strings,
                           !request.grammar && is_start_of_text(tokenizer, result.prompt));
    const auto of = std::make_shared<Reporting>(
        Reporting{std::move(request), std::move(stream), {}, llm::HiddenPool(embedding)});
    if (of->request.on_prompt) {
        of->next_of_prompt = {.id = result.prompt.front(),
                              .bytes = bytes_of(tokenizer, result.prompt.front())};
        result.on_prompt = [this, of, prompt = result.prompt](int64_t position,
                                                              std::span<const float> logits) {
            of->request.on_prompt(std::move(of->next_of_prompt));
            const auto next = static_cast<size_t>(position) + 1;
            if (next == prompt.size()) return;
            of->next_of_prompt = {.id = prompt[next], .bytes = bytes_of(tokenizer, prompt[next])};
            if (of->request.likeliest)
                add_probabilities(of->next_of_prompt, logits, *of->request.likeliest, tokenizer);
        };
    }
    if (of->request.on_embedding) {
        result.pooling = embedding.pooling;
        result.on_hidden = [of, last = static_cast<int64_t>(result.prompt.size()) - 1](
                               int64_t position, std::span<const float> hidden) {
            of->pool.add(hidden);
            if (position == last) of->request.on_embedding(of->pool.finish());
        };
    }
    result.on_token = [this, of](TokenId id, std::span<const float> logits) {
        std::string piece = of->stream.push(id);
        if (of->request.on_text) {
            TokenReport report{.id = id, .bytes = bytes_of(tokenizer, id)};
            if (of->request.likeliest) add_probabilities(report, logits, *of->request.likeliest, tokenizer);
            of->request.on_text(std::move(report), std::move(piece));
        }
        return of->stream.found_stop();
    };
    if (of->request.on_stop_id)
        result.on_stop_id = [this, of](TokenId id, std::span<const float> logits) {
            TokenReport report{.id = id, .bytes = bytes_of(tokenizer, id)};
            if (of->request.likeliest) add_probabilities(report, logits, *of->request.likeliest, tokenizer);
            of->request.on_stop_id(std::move(report));
        };
    result.on_end = [this, of, number,
                     tokens = static_cast<int64_t>(result.prompt.size())](const llm::BatchEnd& end) {
        std::string rest = of->stream.finish();
        if (!rest.empty() && of->request.on_text) of->request.on_text({}, std::move(rest));
        const EngineEnd told{.reason = of->stream.found_stop() ? StopReason::kStopString : end.reason,
                             .is_late = end.is_late,
                             .fault = end.fault,
                             .prompt_tokens = tokens,
                             .reused_tokens = end.reused_tokens,
                             .generated_tokens = end.generated_tokens};
        std::erase_if(inner_numbers, [&](const auto& pair) { return pair.first == number; });
        {
            const std::lock_guard lock(mutex);
            counts.prompt_tokens += end.prompt_tokens;
            count_end(told);
        }
        if (of->request.on_end) of->request.on_end(told);
    };
    return result;
}

void Engine::Contents::count_end(const EngineEnd& end) {
    --present;
    counts.reused_tokens += end.reused_tokens;
    counts.generated_tokens += end.generated_tokens;
    ++(end.fault                                ? counts.failed
       : end.reason == StopReason::kInterrupted ? counts.interrupted
                                                : counts.finished);
}

/// @pre the mutex is held
bool Engine::Contents::has_room() const {
    return !stops && present < sequences + settings.waiting;
}
bool Engine::Contents::has_orders() const {
    return stops || !arrived.empty() || !cancelled.empty();
}

/// Passes on what other threads have asked for.
void Engine::Contents::take_orders(std::unique_lock<std::mutex>& lock) {
    auto requests = std::exchange(arrived, {});
    const auto ended = std::exchange(cancelled, {});
    constraints_are_ready = false;
    lock.unlock();
    for (auto& [number, request] : requests)
        inner_numbers.emplace_back(number, batches.submit(std::move(request)));
    for (const uint64_t number : ended)
        for (const auto& [outer, inner] : inner_numbers)
            if (outer == number) batches.cancel(inner);
}

void Engine::Contents::serve() {
    bool is_busy = false;
    while (true) {
        std::unique_lock lock(mutex);
        if (!is_busy)
            changed.wait(lock, [&] { return has_orders(); });
        else if (batches.awaits_constraints())
            changed.wait_for(lock, kLookForLate, [&] { return constraints_are_ready || has_orders(); });
        const bool ends = stops;
        take_orders(lock);
        if (ends)
            for (const auto& [outer, inner] : inner_numbers) batches.cancel(inner);
        const Clock::time_point start = Clock::now();
        is_busy = batches.step();
        lock.lock();
        if (is_busy && !batches.awaits_constraints()) {
            ++counts.steps;
            counts.step_seconds += std::chrono::duration<double>(Clock::now() - start).count();
        }
        counts.running = batches.running();
        counts.available_pages = batches.available_pages();
        if (ends && !is_busy) return;
    }
}

Engine::Engine(ModelFile file, const EngineSettings& settings) {
    if (file.processes() > 1)
        throw Error(file.name(), "", "is shared by several processes, which do not serve requests yet",
                    "start it without mpirun: its ranks are then threads of one process");
    contents_ = std::make_unique<Contents>(std::move(file), settings);
}
Engine::~Engine() = default;

const ModelFile& Engine::file() const {
    return contents_->file;
}

int64_t Engine::context() const {
    return contents_->language.session().context();
}

int64_t Engine::sequences() const {
    return contents_->sequences;
}

int64_t Engine::memory_bytes() const {
    return contents_->language.memory_bytes();
}

std::vector<uint64_t> Engine::submit(std::vector<EngineRequest> requests) {
    {
        const std::lock_guard lock(contents_->mutex);
        if (!contents_->has_room()) return {};  // before anything is made of them
    }
    const bool are_together = requests.size() > 1;
    std::vector<uint64_t> numbers;
    std::vector<std::pair<uint64_t, llm::BatchRequest>> made;
    for (EngineRequest& request : requests) {
        numbers.push_back(++contents_->last_number);
        made.emplace_back(numbers.back(), contents_->batch_request(std::move(request), numbers.back()));
        if (are_together) made.back().second.group = numbers.front();
    }
    {
        const std::lock_guard lock(contents_->mutex);
        if (!contents_->has_room()) return {};
        contents_->present += static_cast<int64_t>(made.size());
        std::move(made.begin(), made.end(), std::back_inserter(contents_->arrived));
    }
    contents_->changed.notify_all();
    return numbers;
}

void Engine::cancel(uint64_t number) {
    {
        const std::lock_guard lock(contents_->mutex);
        contents_->cancelled.push_back(number);
    }
    contents_->changed.notify_all();
}

EngineStatistics Engine::statistics() const {
    const std::lock_guard lock(contents_->mutex);
    EngineStatistics counts = contents_->counts;
    counts.waiting = std::max<int64_t>(0, contents_->present - counts.running);
    return counts;
}

}  // namespace tessera
