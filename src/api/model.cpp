#include "tessera/model.h"

#include <optional>
#include <utility>

#include "llm/generate.h"
#include "llm/language_model.h"
#include "llm/load_tokenizer.h"
#include "machine/probe.h"
#include "support/error.h"

namespace tessera {
namespace {

/// A sequence that is closed whatever happens.
class OpenSequence {
public:
    explicit OpenSequence(Session& session) : session_(session), id_(session.open()) {}
    ~OpenSequence() { session_.close(id_); }
    OpenSequence(const OpenSequence&) = delete;
    OpenSequence& operator=(const OpenSequence&) = delete;

    SequenceId id() const { return id_; }

private:
    Session& session_;
    SequenceId id_;
};

}  // namespace

struct Model::Contents {
    Contents(std::shared_ptr<const Artefact> artefact_, const ModelSettings& settings)
        : artefact(std::move(artefact_)),
          language(artefact, host_features(), {.context = settings.context, .chunk = settings.chunk}) {}

    /// Read when it is first needed: logits are computed without. @throws Error if there is none.
    const Tokenizer& tokenizer() {
        if (!loaded_tokenizer) loaded_tokenizer = load_tokenizer(artefact->tokenizer(), artefact->where());
        return *loaded_tokenizer;
    }

    void refuse_empty(std::span<const TokenId> ids, std::string_view what) const {
        if (ids.empty())
            throw Error(artefact->where(), "", fmt::format("cannot continue {} without tokens", what));
    }

    std::shared_ptr<const Artefact> artefact;
    LanguageModel language;
    std::optional<Tokenizer> loaded_tokenizer;
};

Model::Model(const std::filesystem::path& artefact, const ModelSettings& settings)
    : contents_(
          std::make_unique<Contents>(std::make_shared<const Artefact>(Artefact::open(artefact)), settings)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

const std::string& Model::name() const {
    return contents_->artefact->manifest().model;
}

int64_t Model::vocabulary() const {
    return contents_->language.session().vocabulary();
}

int64_t Model::context() const {
    return contents_->language.session().context();
}

int64_t Model::memory_bytes() const {
    return contents_->language.memory_bytes();
}

void Model::verify_weights() const {
    contents_->artefact->verify_weights();
}

std::vector<TokenId> Model::encode(std::string_view prompt, bool special) const {
    return contents_->tokenizer().encode(prompt, {.add_special = true, .parse_special = special});
}

std::string Model::decode(std::span<const TokenId> ids) const {
    return contents_->tokenizer().decode(ids);
}

Generation Model::generate(std::span<const TokenId> prompt, const GenerateOptions& options) {
    contents_->refuse_empty(prompt, "a prompt");
    GenerateOptions all = options;
    if (const auto& text = contents_->artefact->manifest().text)
        all.stop_ids.insert(all.stop_ids.end(), text->eos.begin(), text->eos.end());
    Session& session = contents_->language.session();
    if (!contents_->artefact->tokenizer().empty())
        return tessera::generate(session, contents_->tokenizer(), prompt, std::move(all));
    const OpenSequence sequence(session);
    return tessera::generate(session, sequence.id(), prompt, all);
}

Generation Model::generate(std::string_view prompt, const GenerateOptions& options) {
    return generate(encode(prompt), options);
}

void Model::logits(std::span<const TokenId> ids, const std::function<void(std::span<const float>)>& on_row) {
    contents_->refuse_empty(ids, "a list of ids");
    Session& session = contents_->language.session();
    const OpenSequence sequence(session);
    const Addition addition{sequence.id(), ids, every_row(ids)};
    session.add({&addition, 1}, [&](size_t, int32_t, std::span<const float> row) { on_row(row); });
}

}  // namespace tessera
