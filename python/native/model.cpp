#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <pybind11/numpy.h>

#include "native/convert.h"
#include "native/queue.h"

namespace tessera::python {
namespace {

using Ids = std::vector<TokenId>;

/// A model of the library, which computes one text at a time.
class PyModel {
public:
    PyModel(const std::filesystem::path& model, py::dict open, int64_t context, int64_t chunk)
        : model_(load(model, open_settings(std::move(open)), context, chunk)) {}

    Model& model() { return model_; }
    const ModelFile& file() const { return model_.file(); }

    /// Takes the model for one computation, which another thread or an open stream may have.
    class Use {
    public:
        explicit Use(PyModel& model) : model_(model) {
            if (model_.is_busy_.exchange(true))
                throw Error(model_.file().name(), "", "is computing another text",
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
    static Model load(const std::filesystem::path& model, const OpenSettings& open, int64_t context,
                      int64_t chunk) {
        const py::gil_scoped_release free;
        return Model(open_model(model, open), {.context = context, .chunk = chunk});
    }

    Model model_;
    std::atomic<bool> is_busy_ = false;
};

/// A text that a thread of its own makes, until it is closed.
class PyStream {
public:
    PyStream(std::shared_ptr<PyModel> model, Ids prompt, GenerateOptions options)
        : model_(std::move(model)), use_(std::in_place, *model_) {
        options.should_stop = [this] { return stops_.load(); };
        if (model_->file().has_tokenizer())
            options.on_text = [this](std::string_view piece) { queue_.push(std::string(piece)); };
        thread_ = std::thread([this, prompt = std::move(prompt), options = std::move(options)] {
            try {
                queue_.finish(model_->model().generate(prompt, options));
            } catch (...) {
                queue_.fail(std::current_exception());
            }
        });
    }
    ~PyStream() { close(); }
    PyStream(const PyStream&) = delete;
    PyStream& operator=(const PyStream&) = delete;

    /// Ends the text within one step, and gives the model back.
    void close() {
        stops_ = true;
        {
            const py::gil_scoped_release free;
            if (thread_.joinable()) thread_.join();
        }
        use_.reset();
    }
    /// @throws StopIteration at the end of the text
    std::string next() {
        std::optional<std::string> piece;
        try {
            piece = queue_.next();
        } catch (...) {
            close();
            throw;
        }
        if (piece) return *std::move(piece);
        close();
        throw py::stop_iteration();
    }
    py::dict result() {
        try {
            const Generation generation = queue_.result();
            close();
            return as_dict(generation);
        } catch (...) {
            close();
            throw;
        }
    }

private:
    std::shared_ptr<PyModel> model_;
    std::optional<PyModel::Use> use_;
    std::atomic<bool> stops_ = false;
    TextQueue queue_;
    std::thread thread_;
};

py::dict generate(PyModel& model, const Ids& prompt, py::dict named) {
    GenerateOptions options = generate_options(std::move(named));
    const PyModel::Use use(model);
    bool is_raised = false;
    options.should_stop = [&] { return is_raised = is_interrupted(); };
    Generation result;
    {
        const py::gil_scoped_release free;
        result = model.model().generate(prompt, options);
    }
    if (is_raised) throw py::error_already_set();
    return as_dict(result);
}

py::array_t<float> logits(PyModel& model, const Ids& ids) {
    const PyModel::Use use(model);
    const auto width = static_cast<size_t>(model.file().vocabulary());
    py::array_t<float> rows({ids.size(), width});
    float* next = rows.mutable_data();
    const py::gil_scoped_release free;
    model.model().logits(ids, [&](std::span<const float> row) {
        throw_if_interrupted();
        next = std::copy(row.begin(), row.end(), next);
    });
    return rows;
}

py::array_t<float> embed(PyModel& model, const std::vector<Ids>& texts,
                         const std::optional<std::string>& pooling, std::optional<bool> normalise) {
    const EmbedOptions options = embed_options(pooling, normalise);
    const PyModel::Use use(model);
    const auto width = static_cast<size_t>(model.file().embedding_width());
    py::array_t<float> rows({texts.size(), width});
    float* next = rows.mutable_data();
    const py::gil_scoped_release free;
    for (const Ids& ids : texts) {
        throw_if_interrupted();
        const std::vector<float> embedding = model.model().embed(ids, options);
        next = std::copy(embedding.begin(), embedding.end(), next);
    }
    return rows;
}

}  // namespace

void declare_model(py::module_& module) {
    py::class_<PyModel, std::shared_ptr<PyModel>>(module, "Model")
        .def(py::init<const std::filesystem::path&, py::dict, int64_t, int64_t>())
        .def_property_readonly("name", [](const PyModel& m) { return m.file().name(); })
        .def_property_readonly("vocabulary", [](const PyModel& m) { return m.file().vocabulary(); })
        .def_property_readonly("workers", [](const PyModel& m) { return m.file().workers(); })
        .def_property_readonly("embedding_width", [](const PyModel& m) { return m.file().embedding_width(); })
        .def_property_readonly("has_tokenizer", [](const PyModel& m) { return m.file().has_tokenizer(); })
        .def_property_readonly("has_chat_template",
                               [](const PyModel& m) { return m.file().has_chat_template(); })
        .def_property_readonly("warnings", [](const PyModel& m) { return m.file().warnings(); })
        .def_property_readonly("artefact", [](const PyModel& m) { return m.file().path(); })
        .def_property_readonly("context", [](PyModel& m) { return m.model().context(); })
        .def_property_readonly("memory_bytes", [](PyModel& m) { return m.model().memory_bytes(); })
        .def("describe", [](const PyModel& m) { return m.file().describe(); })
        .def("encode_whole",
             [](const PyModel& m, const std::string& text) { return m.file().encode_whole(text); })
        .def("encode", [](const PyModel& m, const std::string& text,
                          bool special) { return m.file().encode(text, special); })
        .def("decode", [](const PyModel& m, const Ids& ids) { return py::bytes(m.file().decode(ids)); })
        .def("encode_chat",
             [](const PyModel& m, const Messages& messages, bool begins_answer, std::optional<bool> thinks,
                const std::string& chat_template) {
                 return encode_chat(m.file(), messages, begins_answer, thinks, chat_template);
             })
        .def("chat_ends", [](const PyModel& m) { return m.file().chat_ends(); })
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
