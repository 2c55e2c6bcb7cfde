#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "run/llm/chat_template.h"
#include "run/llm/session.h"
#include "run/llm/tokenizer.h"
#include "run/runtime/artefact.h"
#include "run/runtime/communicator.h"
#include "tessera/model.h"
#include "tessera/open.h"

namespace tessera {

struct ModelFile::Contents {
    Contents(const std::filesystem::path& path_, std::shared_ptr<runtime::Communicator> processes);
    Contents(std::filesystem::path path_, runtime::Artefact opened);

    /// Read when it is first needed, by any thread: logits are computed without. @throws Error if there is
    /// none.
    const llm::Tokenizer& tokenizer();

    /// Read when it is first needed, as the tokenizer. @throws Error if it is wrong, or there is none.
    const llm::ChatTemplate& chat_template();
    /// That of the settings, or the model's own.
    llm::ChatTemplate chat_template(const ChatSettings& settings);

    std::filesystem::path path;
    std::shared_ptr<const runtime::Artefact> artefact;
    int64_t vocabulary;
    int64_t context;
    int64_t embedding_width;
    std::optional<llm::Tokenizer> loaded_tokenizer;
    std::optional<llm::ChatTemplate> loaded_template;
    std::mutex loading;  ///< of these two
};

/// @throws Error of kind kUsage if an artefact is compiled in another way than the settings ask for
void expect_settings(const ModelFile& model, const OpenSettings& settings);

llm::SessionOptions session_options(const ModelSettings& settings);

}  // namespace tessera
