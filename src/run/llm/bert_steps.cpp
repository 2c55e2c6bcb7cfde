#include "run/llm/bert_steps.h"

#include "run/llm/map_characters.h"
#include "run/llm/utf8.h"

namespace tessera::llm {

std::vector<NormalizerStep> BertNormalizer::steps() const {
    std::vector<NormalizerStep> steps;
    if (clean_text) steps.emplace_back(MapCharacters{&llm::clean_text});
    if (surround_ideographs) steps.emplace_back(MapCharacters{&llm::surround_ideographs});
    if (strip_accents) {
        steps.emplace_back(UnicodeForm::kNfd);
        steps.emplace_back(RemoveMarks{.only_nonspacing = true});
    }
    if (lowercase) steps.emplace_back(Lowercase{});
    return steps;
}

std::vector<PreTokenizerStep> bert_pre_tokenizer() {
    return {Split{&is_white_space, SplitBehaviour::kRemoved, false},
            Split{&is_punctuation, SplitBehaviour::kIsolated, false}};
}

}  // namespace tessera::llm
