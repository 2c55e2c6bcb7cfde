#pragma once

#include <optional>
#include <string>

#include "tessera/grammar.h"

namespace CLI {
class App;
}

namespace tessera::cli {

/// The grammar that a text has to follow.
struct GrammarFlags {
    std::string grammar;
    std::string schema;

    /// @throws Error if it is wrong, or its file cannot be read
    std::optional<Grammar> read() const;
};

/// --grammar and --json-schema.
void add_grammar_flags(CLI::App& app, GrammarFlags& flags);

}  // namespace tessera::cli
