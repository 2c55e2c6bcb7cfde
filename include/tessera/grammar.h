#pragma once

#include <memory>
#include <string_view>

#include "tessera/error.h"

/// Grammars that a text has to follow.
namespace tessera {

namespace grammar {
struct Automaton;
}

/// The texts that may be generated. A value: copies share the compiled form.
class Grammar {
public:
    /// Reads a grammar in llama.cpp's language (GBNF). `where` is named in errors.
    /// @throws Error with line and column if it is wrong, if a rule calls itself before it reads anything, or
    /// if it is too large
    static Grammar gbnf(std::string_view text, std::string_view where = "grammar");
    /// JSON that a schema allows: docs/grammars.md lists the supported keywords.
    /// @throws Error with the place in the schema for anything wrong or not supported
    static Grammar json_schema(std::string_view text, std::string_view where = "schema");
    /// Any JSON object.
    static Grammar json_object();

    /// True if a whole text is one of the grammar's.
    bool accepts(std::string_view text) const;

    const std::shared_ptr<const grammar::Automaton>& automaton() const { return automaton_; }
    /// Wraps rules that were compiled already.
    explicit Grammar(std::shared_ptr<const grammar::Automaton> automaton);

private:
    std::shared_ptr<const grammar::Automaton> automaton_;
};

}  // namespace tessera
