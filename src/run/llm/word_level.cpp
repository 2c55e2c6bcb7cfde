#include "run/llm/word_level.h"

#include <string>

#include "support/error.h"

namespace tessera::llm {

void WordLevel::encode(const Vocabulary& vocabulary, std::string_view piece,
                       std::vector<TokenId>& out) const {
    std::optional<TokenId> token = vocabulary.find(piece);
    if (!token) token = unknown_;
    if (!token)
        throw Error("tokenizer", std::string(piece), "is no token, and none stands for unknown words");
    out.push_back(*token);
}

}  // namespace tessera::llm
