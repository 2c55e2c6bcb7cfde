#include "tessera/model.h"

#include <utility>

#include "compiler/api/model_file.h"
#include "machine/probe.h"
#include "run/llm/generate.h"
#include "run/llm/language_model.h"
#include "run/llm/pool_hidden.h"
#include "run/llm/source_features.h"
#include "support/error.h"

namespace tessera {
namespace {

/// A sequence that is closed whatever happens.
class OpenSequence {
public:
    explicit OpenSequence(llm::Session& session) : session_(session), id_(session.open()) {}
    ~OpenSequence() { session_.close(id_); }
    OpenSequence(const OpenSequence&) = delete;
    OpenSequence& operator=(const OpenSequence&) = delete;

    llm::SequenceId id() const { return id_; }

private:
    llm::Session& session_;
    llm::SequenceId id_;
};

}  // namespace

struct Model::Contents {
    Contents(ModelFile file_, const ModelSettings& settings)
        : file(std::move(file_)),
          language(file.contents_->artefact, machine::host_features(), session_options(settings)),
          kept(language.session()) {}

    const runtime::Artefact& artefact() const { return *file.contents_->artefact; }
    void refuse_empty(std::span<const TokenId> ids) const {
        if (ids.empty()) throw Error(artefact().where(), "", "there are no tokens to begin with");
    }

    ModelFile file;
    llm::LanguageModel language;
    llm::KeptSequence kept;
};

Model::Model(ModelFile file, const ModelSettings& settings)
    : contents_(std::make_unique<Contents>(std::move(file), settings)) {}
Model::Model(const std::filesystem::path& artefact, const ModelSettings& settings)
    : Model(ModelFile(artefact), settings) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

const ModelFile& Model::file() const {
    return contents_->file;
}

int64_t Model::context() const {
    return contents_->language.session().context();
}

int64_t Model::memory_bytes() const {
    return contents_->language.memory_bytes();
}

WorkerStatistics Model::worker_statistics() const {
    const runtime::LoadedProgram& program = contents_->language.program();
    return {.ranks = static_cast<int64_t>(program.ranks()),
            .workers = program.workers(),
            .lacks_processors = program.lacks_processors(),
            .steps = program.steps(),
            .barriers = program.barriers(),
            .exchanges = program.exchanges()};
}

Generation Model::generate(std::span<const TokenId> prompt, const GenerateOptions& options) {
    llm::expect_logits(contents_->language.session());
    GenerateOptions all = options;
    if (const auto& text = contents_->artefact().manifest().text; text && !options.past_end)
        all.stop_ids.insert(all.stop_ids.end(), text->eos.begin(), text->eos.end());
    const bool has_text = !contents_->artefact().tokenizer().empty();
    if (!has_text) {
        contents_->refuse_empty(prompt);
        if (options.on_text || !options.stop_strings.empty() || options.grammar)
            throw Error(contents_->artefact().where(),
                        options.grammar   ? "grammar"
                        : options.on_text ? "on_text"
                                          : "stop_strings",
                        "needs a tokenizer, which the artefact does not have", "use on_token and stop_ids",
                        ErrorKind::kUsage);
    }
    const llm::Tokenizer* tokenizer = has_text ? &contents_->file.contents_->tokenizer() : nullptr;
    if (!options.reuse_prefix) contents_->kept.close();
    Generation result = contents_->kept.generate(tokenizer, prompt, std::move(all));
    if (!options.reuse_prefix) contents_->kept.close();
    return result;
}

Generation Model::generate(std::string_view prompt, const GenerateOptions& options) {
    return generate(file().encode(prompt), options);
}

void Model::logits(std::span<const TokenId> ids, const std::function<void(std::span<const float>)>& on_row) {
    contents_->refuse_empty(ids);
    contents_->kept.close();
    llm::Session& session = contents_->language.session();
    llm::expect_logits(session);
    const OpenSequence sequence(session);
    const llm::Addition addition{sequence.id(), ids, llm::every_row(ids)};
    session.add({&addition, 1}, [&](size_t, int32_t, std::span<const float> row) { on_row(row); });
}

namespace {

/// Adds a source with its features, if it has some, and then a text that is made of it.
void logits_of_source(llm::Session& session, std::span<const TokenId> source, std::span<const float> features,
                      std::span<const TokenId> ids,
                      const std::function<void(std::span<const float>)>& on_row) {
    const OpenSequence sequence(session);
    const llm::Addition of_source{sequence.id(), source, {}, true, features};
    session.add({&of_source, 1}, [](size_t, int32_t, std::span<const float>) {});
    const llm::Addition addition{sequence.id(), ids, llm::every_row(ids)};
    session.add({&addition, 1}, [&](size_t, int32_t, std::span<const float> row) { on_row(row); });
}

}  // namespace

void Model::logits(std::span<const TokenId> source, std::span<const TokenId> ids,
                   const std::function<void(std::span<const float>)>& on_row) {
    contents_->refuse_empty(source);
    contents_->refuse_empty(ids);
    contents_->kept.close();
    llm::Session& session = contents_->language.session();
    if (!session.has_source())
        throw Error(contents_->artefact().where(), "", "makes no text of another", "give its text alone",
                    ErrorKind::kUsage);
    logits_of_source(session, source, {}, ids, on_row);
}

void Model::logits_of_features(std::span<const float> rows, std::span<const TokenId> ids,
                               const std::function<void(std::span<const float>)>& on_row) {
    contents_->refuse_empty(ids);
    contents_->kept.close();
    llm::Session& session = contents_->language.session();
    const auto& form = session.manifest().text->features;
    if (!form)
        throw Error(contents_->artefact().where(), "", "reads tokens, and no rows of numbers", "give ids",
                    ErrorKind::kUsage);
    const std::vector<float> features = llm::source_features(*form, rows, contents_->artefact().where());
    const std::vector<TokenId> source(static_cast<size_t>(form->count), 0);
    logits_of_source(session, source, features, ids, on_row);
}

void Model::hidden(std::span<const TokenId> ids, const std::function<void(std::span<const float>)>& on_row) {
    contents_->refuse_empty(ids);
    contents_->kept.close();
    llm::Session& session = contents_->language.session();
    llm::expect_hidden(session);
    const OpenSequence sequence(session);
    const llm::Addition addition{sequence.id(), ids, llm::every_row(ids)};
    session.add(
        {&addition, 1}, [](size_t, int32_t, std::span<const float>) {}, {},
        [&](size_t, int32_t, std::span<const float> row) { on_row(row); });
}

std::vector<float> Model::embed(std::span<const TokenId> ids, const EmbedOptions& options) {
    contents_->refuse_empty(ids);
    contents_->kept.close();
    llm::Session& session = contents_->language.session();
    llm::expect_hidden(session);
    const OpenSequence sequence(session);
    const llm::EmbeddingForm form = llm::embedding_form(options, contents_->artefact().manifest());
    const llm::Addition addition{sequence.id(), ids, llm::pooled_rows(ids, form.pooling)};
    llm::HiddenPool pool(form);
    session.add(
        {&addition, 1}, [](size_t, int32_t, std::span<const float>) {}, {},
        [&](size_t, int32_t, std::span<const float> hidden) { pool.add(hidden); });
    return pool.finish();
}

std::vector<float> Model::embed(std::string_view text, const EmbedOptions& options) {
    return embed(file().encode_whole(text), options);
}

}  // namespace tessera
