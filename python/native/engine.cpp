#include <memory>
#include <optional>
#include <utility>

#include "native/convert.h"
#include "native/interpreter.h"
#include "native/queue.h"

namespace tessera::python {
namespace {

using Ids = std::vector<TokenId>;

/// An engine that lets go of the GIL while it ends: its thread may need that for nothing, but waits. In a
/// child of its process it begins anew: its thread is not there.
class PyEngine {
public:
    PyEngine(const std::filesystem::path& model, py::dict open, EngineSettings settings)
        : settings_(settings) {
        const OpenSettings how = open_settings(std::move(open));
        const Outside interpreter;
        engine_ = std::make_unique<Engine>(open_model(model, how), settings_);
    }
    ~PyEngine() {
        if (!owner_.is_here()) {
            (void)engine_.release();  // whose thread nobody can wait for
            return;
        }
        const Outside interpreter;
        engine_.reset();
    }
    PyEngine(const PyEngine&) = delete;
    PyEngine& operator=(const PyEngine&) = delete;

    Engine& operator*() {
        if (!owner_.is_here()) {
            auto again = std::make_unique<Engine>(ModelFile(engine_->file().path()), settings_);
            (void)engine_.release();
            engine_ = std::move(again);
            owner_.take_over();
        }
        return *engine_;
    }
    Engine* operator->() { return &**this; }

private:
    EngineSettings settings_;
    Owner owner_;
    std::unique_ptr<Engine> engine_;
};

/// What the thread of the engine tells of one request. It may live longer than the request of Python.
struct Told {
    TextQueue queue;
    Generation so_far;
    std::vector<float> embedding;
};

void end_with(Told& told, const EngineEnd& end) {
    if (end.fault) return told.queue.fail(std::make_exception_ptr(*end.fault));
    told.so_far.reason = end.reason;
    told.so_far.statistics.prompt_tokens = end.prompt_tokens - end.reused_tokens;
    told.so_far.statistics.reused_tokens = end.reused_tokens;
    told.queue.finish(std::move(told.so_far));
}

class PyRequest {
public:
    PyRequest(std::shared_ptr<PyEngine> engine, EngineRequest request)
        : engine_(std::move(engine)), told_(std::make_shared<Told>()) {
        request.on_text = [told = told_](const std::optional<TokenReport>& token, const std::string& piece) {
            if (token) told->so_far.ids.push_back(token->id);
            told->so_far.text += piece;
            told->queue.push(piece);
        };
        request.on_end = [told = told_](const EngineEnd& end) { end_with(*told, end); };
        submit(std::move(request));
    }
    /// Of an embedding.
    PyRequest(std::shared_ptr<PyEngine> engine, Ids ids, const EmbedOptions& options)
        : engine_(std::move(engine)), told_(std::make_shared<Told>()) {
        EngineRequest request{.prompt = std::move(ids), .max_tokens = 0, .embedding = options};
        request.on_embedding = [told = told_](std::vector<float> values) {
            told->embedding = std::move(values);
        };
        request.on_end = [told = told_](const EngineEnd& end) { end_with(*told, end); };
        submit(std::move(request));
    }
    ~PyRequest() { cancel(); }
    PyRequest(const PyRequest&) = delete;
    PyRequest& operator=(const PyRequest&) = delete;

    /// Of a request that a parent made nothing is here.
    void cancel() {
        if (owner_.is_here()) (*engine_)->cancel(number_);
    }
    std::string next() {
        expect_owner();
        if (std::optional<std::string> piece = told_->queue.next()) return *std::move(piece);
        throw py::stop_iteration();
    }
    py::dict result() {
        expect_owner();
        return as_dict(told_->queue.result());
    }
    py::bytearray embedding() {
        expect_owner();
        (void)told_->queue.result();
        return array_bytes(std::as_bytes(std::span(told_->embedding)));
    }

private:
    void submit(EngineRequest request) {
        std::vector<EngineRequest> one;
        one.push_back(std::move(request));
        const std::vector<uint64_t> numbers = (*engine_)->submit(std::move(one));
        if (numbers.empty())
            throw Error((*engine_)->file().name(), "", "has no room for another request: too many wait",
                        "wait for results, or give a larger `waiting`");
        number_ = numbers.front();
    }

    void expect_owner() const {
        if (!owner_.is_here()) refuse_inherited("request");
    }

    Owner owner_;
    std::shared_ptr<PyEngine> engine_;
    std::shared_ptr<Told> told_;
    uint64_t number_ = 0;
};

EngineRequest engine_request(Ids prompt, py::dict options) {
    GenerateOptions how = generate_options(std::move(options));
    return {.prompt = std::move(prompt),
            .max_tokens = how.max_tokens,
            .sampling = std::move(how.sampling),
            .stop_ids = std::move(how.stop_ids),
            .past_end = how.past_end,
            .stop_strings = std::move(how.stop_strings)};
}

EngineSettings engine_settings(py::dict settings) {
    Named named(std::move(settings));
    EngineSettings result;
    named.read("context", result.context);
    named.read("sequences", result.sequences);
    named.read("cache_tokens", result.cache_tokens);
    named.read("waiting", result.waiting);
    named.read("prompt_chunk", result.prompt_chunk);
    named.read("reuse_prefix", result.reuse_prefix);
    named.read("batch_invariant", result.batch_invariant);
    named.finish();
    return result;
}

py::dict statistics(PyEngine& engine) {
    const EngineStatistics s = engine->statistics();
    py::dict result;
    result["running"] = s.running;
    result["waiting"] = s.waiting;
    result["pages"] = s.pages;
    result["available_pages"] = s.available_pages;
    result["steps"] = s.steps;
    result["step_seconds"] = s.step_seconds;
    result["prompt_tokens"] = s.prompt_tokens;
    result["reused_tokens"] = s.reused_tokens;
    result["generated_tokens"] = s.generated_tokens;
    result["finished"] = s.finished;
    result["interrupted"] = s.interrupted;
    result["failed"] = s.failed;
    return result;
}

}  // namespace

void declare_engine(py::module_& module) {
    py::class_<PyEngine, std::shared_ptr<PyEngine>>(module, "Engine")
        .def(py::init([](const std::filesystem::path& model, py::dict open, py::dict settings) {
            return std::make_shared<PyEngine>(model, std::move(open), engine_settings(std::move(settings)));
        }))
        .def_property_readonly("name", [](PyEngine& e) { return e->file().name(); })
        .def_property_readonly("embedding_width", [](PyEngine& e) { return e->file().embedding_width(); })
        .def_property_readonly("context", [](PyEngine& e) { return e->context(); })
        .def_property_readonly("sequences", [](PyEngine& e) { return e->sequences(); })
        .def_property_readonly("memory_bytes", [](PyEngine& e) { return e->memory_bytes(); })
        .def("encode_whole",
             [](PyEngine& e, const std::string& text) { return e->file().encode_whole(text); })
        .def("encode", [](PyEngine& e, const std::string& text,
                          bool special) { return e->file().encode(text, special); })
        .def("encode_chat",
             [](PyEngine& e, const std::vector<std::string>& messages, bool begins_answer,
                std::optional<bool> thinks, const std::string& chat_template) {
                 return encode_chat(e->file(), messages, begins_answer, thinks, chat_template);
             })
        .def("chat_ends", [](PyEngine& e) { return e->file().chat_ends(); })
        .def("statistics", statistics);
    py::class_<PyRequest>(module, "Request")
        .def(py::init([](std::shared_ptr<PyEngine> engine, Ids prompt, py::dict options) {
            return std::make_unique<PyRequest>(std::move(engine),
                                               engine_request(std::move(prompt), std::move(options)));
        }))
        .def(py::init([](std::shared_ptr<PyEngine> engine, Ids ids, const std::optional<std::string>& pooling,
                         std::optional<bool> normalise) {
            return std::make_unique<PyRequest>(std::move(engine), std::move(ids),
                                               embed_options(pooling, normalise));
        }))
        .def("next", &PyRequest::next)
        .def("result", &PyRequest::result)
        .def("embedding", &PyRequest::embedding)
        .def("cancel", &PyRequest::cancel);
}

}  // namespace tessera::python
