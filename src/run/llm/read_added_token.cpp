#include "run/llm/read_added_token.h"

namespace tessera::llm {

AddedToken read_added_token(const JsonCursor& token, TokenId id) {
    AddedToken added;
    added.id = id;
    added.content = token.at("content").string();
    added.special = token.boolean_or("special", false);
    added.single_word = token.boolean_or("single_word", false);
    added.lstrip = token.boolean_or("lstrip", false);
    added.rstrip = token.boolean_or("rstrip", false);
    added.normalized = token.boolean_or("normalized", !added.special);
    return added;
}

}  // namespace tessera::llm
