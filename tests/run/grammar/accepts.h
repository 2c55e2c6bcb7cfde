#pragma once

#include <memory>
#include <string_view>

#include "run/grammar/matcher.h"

namespace tessera::grammar {

inline bool accepts(const std::shared_ptr<const Automaton>& automaton, std::string_view text) {
    Matcher matcher(automaton);
    return matcher.advance(text) && matcher.may_end();
}

}  // namespace tessera::grammar
