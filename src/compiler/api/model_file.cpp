#include "compiler/api/model_file.h"

#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "machine/host_memory.h"
#include "run/llm/load_tokenizer.h"
#include "run/llm/memory_need.h"
#include "run/llm/pool_hidden.h"
#include "run/llm/stated_sampling.h"
#include "run/llm/step_interface.h"
#include "run/llm/tool_answer.h"

namespace tessera {

ModelFile::Contents::Contents(std::filesystem::path path_, runtime::Artefact opened)
    : path(std::move(path_)), artefact(std::make_shared<const runtime::Artefact>(std::move(opened))) {
    const llm::StepInterface step(artefact->manifest());
    vocabulary = step.vocabulary;
    context = step.context;
    embedding_width = step.hidden;
}

ModelFile::Contents::Contents(const std::filesystem::path& path_,
                              std::shared_ptr<runtime::Communicator> processes)
    : Contents(path_, runtime::Artefact::open(path_, std::move(processes))) {}

const llm::Tokenizer& ModelFile::Contents::tokenizer() {
    const std::scoped_lock lock(loading);
    if (!loaded_tokenizer) loaded_tokenizer = llm::load_tokenizer(artefact->tokenizer(), artefact->where());
    return *loaded_tokenizer;
}

const llm::ChatTemplate& ModelFile::Contents::chat_template() {
    const std::scoped_lock lock(loading);
    if (loaded_template) return *loaded_template;
    auto source = llm::read_chat_template(artefact->tokenizer(), artefact->where());
    if (!source)
        throw Error(artefact->where(), "", "has no chat template: the model says nothing about conversations",
                    "give the whole prompt as text, or a template of your own");
    return loaded_template.emplace(std::move(*source));
}

llm::ChatTemplate ModelFile::Contents::chat_template(const ChatSettings& settings) {
    if (settings.chat_template.empty()) return chat_template();
    llm::ChatTemplateSource source =
        llm::read_chat_template(artefact->tokenizer(), artefact->where()).value_or(llm::ChatTemplateSource{});
    source.text = settings.chat_template;
    source.where = "chat template";
    return llm::ChatTemplate(std::move(source));
}

void expect_settings(const ModelFile& model, const OpenSettings& settings) {
    const auto refuse = [&](const std::string& problem, const std::string& advice) {
        throw Error(model.path().string(), "", problem, advice, ErrorKind::kUsage);
    };
    if (settings.workers && *settings.workers != model.workers())
        refuse(
            fmt::format("is compiled for {} {}, and cannot run with {}", model.workers(),
                        model.workers() == 1 ? "worker" : "workers", *settings.workers),
            fmt::format("leave the number out, or compile the model with --workers {}", *settings.workers));
    const OpenSettings untouched;
    const runtime::Manifest& manifest = model.contents_->artefact->manifest();
    const auto expect = [&](const char* what, const std::string& wanted, const std::string& usual,
                            const std::string& compiled) {
        if (wanted != usual && wanted != compiled)
            refuse(fmt::format("is compiled with {} {}, and cannot run with {}", what, compiled, wanted),
                   "leave it out, or compile the model again");
    };
    if (manifest.text) {
        expect("the policy", settings.policy, untouched.policy, manifest.text->policy);
        expect("the cache type", settings.cache_type, untouched.cache_type, llm::cache_type(manifest));
    }
    if (!settings.quantize.empty() || !settings.machine.empty() || !settings.architecture.empty())
        refuse(fmt::format("is compiled already, which {} would change",
                           !settings.machine.empty()        ? "another machine"
                           : !settings.architecture.empty() ? "another architecture"
                                                            : "quantising"),
               "give the checkpoint");
}

llm::SessionOptions session_options(const ModelSettings& settings) {
    return {.context = settings.context, .chunk = settings.chunk};
}

ModelFile::ModelFile(const std::filesystem::path& artefact, std::shared_ptr<runtime::Communicator> processes)
    : contents_(std::make_shared<Contents>(artefact, std::move(processes))) {}

const std::string& ModelFile::name() const {
    return contents_->artefact->manifest().model;
}

const std::filesystem::path& ModelFile::path() const {
    return contents_->path;
}

int64_t ModelFile::vocabulary() const {
    return contents_->vocabulary;
}

int64_t ModelFile::context() const {
    return contents_->context;
}

int64_t ModelFile::workers() const {
    return contents_->artefact->manifest().workers;
}

int64_t ModelFile::embedding_width() const {
    return contents_->embedding_width;
}

int64_t ModelFile::ranks() const {
    return contents_->artefact->ranks_of_file();
}

int64_t ModelFile::processes() const {
    const runtime::Communicator* all = contents_->artefact->processes();
    return all ? all->ranks() : 1;
}

int64_t ModelFile::process() const {
    const runtime::Communicator* all = contents_->artefact->processes();
    return all ? all->rank() : 0;
}

void ModelFile::take_from_first_process(std::span<std::byte> bytes) const {
    if (runtime::Communicator* all = contents_->artefact->processes()) all->broadcast(bytes);
}

bool ModelFile::has_tokenizer() const {
    return !contents_->artefact->tokenizer().empty();
}

std::string ModelFile::describe() const {
    const runtime::Manifest& manifest = contents_->artefact->manifest();
    return fmt::format("{}, policy {}, cache {}, {} {}, for {}", manifest.model, manifest.text->policy,
                       llm::cache_type(manifest), workers(), workers() == 1 ? "worker" : "workers",
                       manifest.machine);
}

const std::vector<std::string>& ModelFile::warnings() const {
    return contents_->artefact->manifest().warnings;
}

void ModelFile::verify_weights() const {
    contents_->artefact->verify_weights();
}

std::string ModelFile::describe_memory(const ModelSettings& settings) const {
    const runtime::Artefact& artefact = *contents_->artefact;
    return tessera::llm::describe(artefact.manifest(), llm::memory_need(artefact, session_options(settings)),
                                  machine::host_memory_bytes());
}

std::vector<TokenId> ModelFile::encode(std::string_view prompt, bool special) const {
    return contents_->tokenizer().encode_prompt(prompt, special);
}

std::vector<TokenId> ModelFile::encode_whole(std::string_view text) const {
    return contents_->tokenizer().encode(text, {.add_special = true, .parse_special = false});
}

EmbedOptions ModelFile::decided(const EmbedOptions& options) const {
    const llm::EmbeddingForm form = llm::embedding_form(options, contents_->artefact->manifest());
    return {.pooling = form.pooling, .normalise = form.normalise};
}

SamplingOptions ModelFile::sampling(const SamplingOptions& otherwise) const {
    const runtime::Artefact& artefact = *contents_->artefact;
    return llm::decided(llm::read_stated_sampling(artefact.tokenizer(), artefact.where()), otherwise);
}

bool ModelFile::has_chat_template() const {
    return llm::read_chat_template(contents_->artefact->tokenizer(), contents_->artefact->where())
        .has_value();
}

std::vector<TokenId> ModelFile::encode_chat(std::span<const ChatMessage> messages,
                                            const ChatSettings& settings) const {
    return contents_->chat_template(settings).encode(contents_->tokenizer(), messages, settings);
}

ToolAnswer ModelFile::tool_answer(std::span<const TokenId> prompt, const ToolChoice& choice,
                                  const ChatSettings& settings) const {
    return llm::tool_answer(contents_->chat_template(settings), contents_->tokenizer(), prompt,
                            settings.tools, choice);
}

std::vector<TokenId> ModelFile::chat_ends(const ChatSettings& settings) const {
    return contents_->chat_template(settings).turn_ends(contents_->tokenizer(), {});
}

std::string ModelFile::decode(std::span<const TokenId> ids) const {
    return contents_->tokenizer().decode(ids);
}

}  // namespace tessera
