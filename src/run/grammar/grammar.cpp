#include "tessera/grammar.h"

#include <string>
#include <utility>

#include "run/grammar/automaton.h"
#include "run/grammar/json_schema.h"
#include "run/grammar/matcher.h"
#include "run/grammar/parse_gbnf.h"

namespace tessera {

Grammar::Grammar(std::shared_ptr<const grammar::Automaton> automaton) : automaton_(std::move(automaton)) {}

Grammar Grammar::gbnf(std::string_view text, std::string_view where) {
    const grammar::RuleSet rules = grammar::parse_gbnf(text, std::string(where));
    return Grammar(std::make_shared<const grammar::Automaton>(grammar::compile(rules)));
}

Grammar Grammar::json_schema(std::string_view text, std::string_view where) {
    const grammar::RuleSet rules = grammar::parse_schema(text, std::string(where));
    return Grammar(std::make_shared<const grammar::Automaton>(grammar::compile(rules)));
}

Grammar Grammar::json_object() {
    return Grammar(
        std::make_shared<const grammar::Automaton>(grammar::compile(grammar::json_object_rules())));
}

bool Grammar::accepts(std::string_view text) const {
    grammar::Matcher matcher(automaton_);
    return matcher.advance(text) && matcher.may_end();
}

}  // namespace tessera
