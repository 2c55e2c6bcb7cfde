#pragma once

#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "run/llm/chat_template.h"
#include "run/llm/stated_sampling.h"
#include "run/llm/tokenizer.h"
#include "tessera/error.h"

namespace tessera::cli {

/// How a model reads and writes text: known before it is compiled.
struct ModelText {
    std::optional<llm::Tokenizer> tokenizer;  ///< without one there are ids alone
    std::optional<Error> missing;             ///< why there is no tokenizer
    std::optional<llm::ChatTemplate> chat;    ///< of models that follow instructions
    llm::StatedSampling sampling;
};

/// The tokenizer of a model or artefact. `own_template`: a file with a chat template in place of the model's;
/// may be empty. `needs_chat` false: a chat template is not looked at.
/// @throws Error for a tokenizer or a template that cannot be used
ModelText read_model_text(const std::filesystem::path& model, bool needs_chat,
                          const std::filesystem::path& own_template);

/// @throws Error for a file that cannot be read, or is no template's by its size
std::string read_template(const std::filesystem::path& file);

/// The time of a conversation, the same for all of it: templates that name the date write the same text in
/// every turn.
std::function<std::tm()> clock_that_stands();

}  // namespace tessera::cli
