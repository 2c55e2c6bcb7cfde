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
    const Tokenizer& tokenizer();

    std::shared_ptr<const Artefact> artefact;
    int64_t vocabulary;
    int64_t context;
    std::optional<Tokenizer> loaded_tokenizer;
};

SessionOptions session_options(const ModelSettings& settings);

}  // namespace tessera
