#pragma once

#include <optional>
#include <string>

#include "llm/session.h"
#include "llm/tokenizer.h"
#include "runtime/artefact.h"
#include "tessera/model.h"

namespace tessera {

struct ModelFile::Contents {
    explicit Contents(const std::filesystem::path& path);

    /// Read when it is first needed: logits are computed without. @throws Error if there is none.
    const llm::Tokenizer& tokenizer();

    std::shared_ptr<const runtime::Artefact> artefact;
    int64_t vocabulary;
    int64_t context;
    std::optional<llm::Tokenizer> loaded_tokenizer;
};

llm::SessionOptions session_options(const ModelSettings& settings);

}  // namespace tessera
