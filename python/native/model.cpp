#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "native/convert.h"
#include "native/interpreter.h"
#include "native/queue.h"

namespace tessera::python {
namespace {

using Ids = std::vector<TokenId>;

ModelSettings model_settings(py::dict settings) {
    Named named(std::move(settings));
    ModelSettings result;
    named.read("context", result.context);
    named.read("chunk", result.chunk);
    named.finish();
    return result;
}

/// A model of the library, which computes one text at a time. In a child of its process it opens its artefact
/// again: neither threads nor a computation of the parent are there.
class PyModel {
public:
    PyModel(const std::filesystem::path& model, py::dict open, py::dict settings)
        : settings_(model_settings(std::move(settings))) {
        const OpenSettings how = open_settings(std::move(open));
        const Outside interpreter;
        model_ = std::make_unique<Model>(open_model(model, how), settings_);
    }
    ~PyModel() {
        if (!owner_.is_here()) (void)model_.release();
    }
    PyModel(const PyModel&) = delete;
    PyModel& operator=(const PyModel&) = delete;

    Model& model() {
        if (!owner_.is_here()) {
            auto again = std::make_unique<Model>(model_->file().path(), settings_);
            (void)model_.release();  // whose threads nobody can wait for
            model_ = std::move(again);
            is_busy_ = false;
            owner_.take_over();
        }
        return *model_;
    }
    const ModelFile& file() { return model().file(); }

    /// Takes the model for one computation, which another thread or an open stream may have.
    class Use {
    public:
        explicit Use(PyModel& model) : model_(model) {
            const ModelFile& file = model_.file();
            if (model_.is_busy_.exchange(true))
                throw Error(file.name(), "", "is computing another text",
                            "finish or close its stream first; tessera.Engine computes many at one time",
                            ErrorKind::kUsage);
        }
        ~Use() { model_.is_busy_ = false; }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

    private:
        PyModel& model_;
    };

private:
    ModelSettings settings_;
    Owner owner_;
    std::unique_ptr<Model> model_;
    std::atomic<bool> is_busy_ = false;
};

/// A text that a thread of its own makes, until it is closed.
class PyStream {
public:
    PyStream(std::shared_ptr<PyModel> model, Ids prompt, GenerateOptions options)
        : running_(std::make_unique<Running>(std::move(model))) {
        Running& here = *running_;
        options.should_stop = [&here] { return here.stops.load(); };
        if (here.model->file().has_tokenizer())
            options.on_text = [&here](std::string_view piece) { here.queue.push(std::string(piece)); };
        here.thread = std::thread([&here, prompt = std::move(prompt), options = std::move(options)] {
            try {
                here.queue.finish(here.model->model().generate(prompt, options));
            } catch (...) {
                here.queue.fail(std::current_exception());
            }
        });
    }
    ~PyStream() {
        if (owner_.is_here())
            close();
        else
            (void)running_.release();  // its thread is in another process
    }
    PyStream(const PyStream&) = delete;
    PyStream& operator=(const PyStream&) = delete;

    /// Ends the text within one step, and gives the model back.
    void close() {
        if (!owner_.is_here()) return;
        running_->stops = true;
        {
            const Outside interpreter;
            if (running_->thread.joinable()) running_->thread.join();
        }
        running_->use.reset();
    }
    /// @throws StopIteration at the end of the text
    std::string next() {
        expect_owner();
        std::optional<std::string> piece;
        try {
            piece = running_->queue.next();
        } catch (...) {
            close();
            throw;
        }
        if (piece) return *std::move(piece);
        close();
        throw py::stop_iteration();
    }
    py::dict result() {
        expect_owner();
        try {
            const Generation generation = running_->queue.result();
            close();
            return as_dict(generation);
        } catch (...) {
            close();
            throw;
        }
    }

private:
    struct Running {
        explicit Running(std::shared_ptr<PyModel> of) : model(std::move(of)), use(std::in_place, *model) {}
        std::shared_ptr<PyModel> model;
        std::optional<PyModel::Use> use;
        std::atomic<bool> stops = false;
        TextQueue queue;
        std::thread thread;
    };

    void expect_owner() const {
        if (!owner_.is_here()) refuse_inherited("stream");
    }

    Owner owner_;
    std::unique_ptr<Running> running_;
};

py::dict generate(PyModel& model, const Ids& prompt, py::dict named) {
    GenerateOptions options = generate_options(std::move(named));
    const PyModel::Use use(model);
    bool is_raised = false;
    options.should_stop = [&] { return is_raised = is_interrupted(); };
    Generation result;
    {
        const Outside interpreter;
        result = model.model().generate(prompt, options);
    }
    if (is_raised) throw py::error_already_set();
    return as_dict(result);
}

/// @return rows of numbers (float_rows)
py::bytearray logits(PyModel& model, const Ids& ids) {
    const PyModel::Use use(model);
    return float_rows(ids.size(), static_cast<size_t>(model.file().vocabulary()), [&](float* next) {
        model.model().logits(ids, [&](std::span<const float> row) {
            throw_if_interrupted();
            next = std::copy(row.begin(), row.end(), next);
        });
    });
}

/// @return rows of numbers (float_rows)
py::bytearray embed(PyModel& model, const std::vector<Ids>& texts, const std::optional<std::string>& pooling,
                    std::optional<bool> normalise) {
    const EmbedOptions options = embed_options(pooling, normalise);
    const PyModel::Use use(model);
    return float_rows(texts.size(), static_cast<size_t>(model.file().embedding_width()), [&](float* next) {
        for (const Ids& ids : texts) {
            throw_if_interrupted();
            const std::vector<float> embedding = model.model().embed(ids, options);
            next = std::copy(embedding.begin(), embedding.end(), next);
        }
    });
}

}  // namespace

void declare_model(py::module_& module) {
    py::class_<PyModel, std::shared_ptr<PyModel>>(module, "Model")
        .def(py::init<const std::filesystem::path&, py::dict, py::dict>())
        .def_property_readonly("name", [](PyModel& m) { return m.file().name(); })
        .def_property_readonly("vocabulary", [](PyModel& m) { return m.file().vocabulary(); })
        .def_property_readonly("workers", [](PyModel& m) { return m.file().workers(); })
        .def_property_readonly("embedding_width", [](PyModel& m) { return m.file().embedding_width(); })
        .def_property_readonly("has_tokenizer", [](PyModel& m) { return m.file().has_tokenizer(); })
        .def_property_readonly("has_chat_template", [](PyModel& m) { return m.file().has_chat_template(); })
        .def_property_readonly("warnings", [](PyModel& m) { return m.file().warnings(); })
        .def_property_readonly("artefact", [](PyModel& m) { return m.file().path(); })
        .def_property_readonly("context", [](PyModel& m) { return m.model().context(); })
        .def_property_readonly("memory_bytes", [](PyModel& m) { return m.model().memory_bytes(); })
        .def("describe", [](PyModel& m) { return m.file().describe(); })
        .def("encode_whole", [](PyModel& m, const std::string& text) { return m.file().encode_whole(text); })
        .def("encode",
             [](PyModel& m, const std::string& text, bool special) { return m.file().encode(text, special); })
        .def("decode", [](PyModel& m, const Ids& ids) { return py::bytes(m.file().decode(ids)); })
        .def("encode_chat",
             [](PyModel& m, const std::vector<std::string>& messages, bool begins_answer,
                std::optional<bool> thinks, const std::string& chat_template) {
                 return encode_chat(m.file(), messages, begins_answer, thinks, chat_template);
             })
        .def("chat_ends", [](PyModel& m) { return m.file().chat_ends(); })
        .def("generate", generate)
        .def("logits", logits)
        .def("embed", embed);
    py::class_<PyStream>(module, "Stream")
        .def(py::init([](std::shared_ptr<PyModel> model, Ids prompt, py::dict options) {
            return std::make_unique<PyStream>(std::move(model), std::move(prompt),
                                              generate_options(std::move(options)));
        }))
        .def("next", &PyStream::next)
        .def("result", &PyStream::result)
        .def("close", &PyStream::close);
}

}  // namespace tessera::python
