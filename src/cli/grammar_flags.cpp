#include "cli/grammar_flags.h"

#include <string_view>

#include <CLI/CLI.hpp>

#include "cli/number_checks.h"
#include "support/mapped_file.h"

namespace tessera::cli {
namespace {

bool is_schema(std::string_view text) {
    const size_t begin = text.find_first_not_of(" \t\r\n");
    return begin != std::string_view::npos && text[begin] == '{';
}

}  // namespace

std::optional<Grammar> GrammarFlags::read() const {
    if (!grammar.empty()) {
        // No rule is without the sign.
        if (grammar.find("::=") != std::string::npos) return Grammar::gbnf(grammar, "--grammar");
        return Grammar::gbnf(MappedFile::open(grammar).text(), grammar);
    }
    if (schema.empty()) return std::nullopt;
    if (is_schema(schema)) return Grammar::json_schema(schema, "--json-schema");
    return Grammar::json_schema(MappedFile::open(schema).text(), schema);
}

void add_grammar_flags(CLI::App& app, GrammarFlags& flags) {
    auto* grammar =
        app.add_option("--grammar,--grammar-file", flags.grammar,
                       "only texts of this grammar, in llama.cpp's language: a file, or the grammar itself")
            ->check(not_empty())
            ->type_name("FILE|TEXT");
    app.add_option("-j,--json-schema,--json-schema-file", flags.schema,
                   "only JSON that this schema allows: a file, or the schema itself")
        ->excludes(grammar)
        ->check(not_empty())
        ->type_name("FILE|TEXT");
}

}  // namespace tessera::cli
