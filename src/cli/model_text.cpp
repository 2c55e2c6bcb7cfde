#include "cli/model_text.h"

#include "import/gguf/gguf_file.h"
#include "run/llm/load_tokenizer.h"
#include "run/runtime/artefact.h"
#include "support/error.h"
#include "support/mapped_file.h"

namespace tessera::cli {
namespace {

constexpr size_t kLongestTemplate = size_t{1} << 22;

/// The model's own template can be wrong: everything but a conversation works all the same.
llm::ChatTemplate parsed(llm::ChatTemplateSource source) {
    try {
        return llm::ChatTemplate(std::move(source));
    } catch (const Error& error) {
        throw Error(
            error.where, error.entity, error.problem,
            "--raw continues a text without the chat template; --chat-template FILE gives another one");
    }
}

}  // namespace

std::string read_template(const std::filesystem::path& file) {
    const MappedFile mapped = MappedFile::open(file);
    if (mapped.size() > kLongestTemplate)
        throw Error(
            file.string(), "",
            fmt::format("has {} bytes, a chat template has at most {}", mapped.size(), kLongestTemplate));
    return std::string(mapped.text());
}

ModelText read_model_text(const std::filesystem::path& model, bool needs_chat,
                          const std::filesystem::path& own_template) {
    ModelText text;
    std::optional<llm::ChatTemplateSource> source;
    const auto read = [&](const auto& files, const std::string& where, const auto& load) {
        if (needs_chat) source = llm::read_chat_template(files, where);
        text.sampling = llm::read_stated_sampling(files, where);
        try {
            text.tokenizer = load();
        } catch (const Error& error) {
            if (!files.empty()) throw;
            text.missing = error;
        }
    };
    if (std::filesystem::is_regular_file(model) && runtime::is_artefact(model)) {
        const auto artefact = runtime::Artefact::open(model);
        read(artefact.tokenizer(), artefact.where(),
             [&] { return llm::load_tokenizer(artefact.tokenizer(), artefact.where()); });
    } else if (std::filesystem::is_directory(model) || import::GgufFile::is_gguf(model)) {
        read(llm::tokenizer_files(model), model.string(), [&] { return llm::load_tokenizer(model); });
    } else {
        (void)llm::load_tokenizer(model);  // says what it is instead
    }
    if (!own_template.empty()) {
        if (!source) source = llm::ChatTemplateSource{};
        source->text = read_template(own_template);
        source->where = own_template.string();
        text.chat = llm::ChatTemplate(std::move(*source));
    } else if (source && text.tokenizer) {
        text.chat = parsed(std::move(*source));
    }
    return text;
}

std::function<std::tm()> clock_that_stands() {
    return [now = llm::local_time()] { return now; };
}

}  // namespace tessera::cli
