#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/grammar/rule_set.h"
#include "run/grammar/text_automaton.h"

namespace tessera::grammar {

/// A part of a regular expression, by its index in RegularExpression::parts.
using RegexPart = uint32_t;

enum class Assertion { kBegin, kEnd, kWordBoundary, kNoWordBoundary };

struct RegularExpression {
    enum class Kind {
        kCharacter,   ///< one of `characters`
        kSequence,    ///< one part after the other
        kChoice,      ///< one of the parts
        kRepetition,  ///< the only part, `least` to `most` times
        kAssertion,   ///< nothing, where `assertion` holds
        kLookahead    ///< nothing, where the only part follows, or with `is_negative` does not follow
    };
    struct Part {
        Kind kind = Kind::kSequence;
        std::vector<CodePointRange> characters = {};
        std::vector<RegexPart> parts = {};
        int64_t least = 0;
        std::optional<int64_t> most = {};
        Assertion assertion = Assertion::kBegin;
        bool is_negative = false;
    };
    std::vector<Part> parts;
    RegexPart root = 0;
};

/// Reads a pattern of JSON Schema: a regular expression of ECMA 262 in its Unicode mode, without flags.
///
/// Left out, each by name: what goes beyond regular sets (`\1`, `\k<name>`), look-behind, properties
/// (`\p{..}`), and escapes of other languages (`\A`, `\Z`, `(?i)`).
/// @throws Error naming `where` and `place`, with the position
RegularExpression parse_regular_expression(std::string_view pattern, const std::string& where,
                                           const std::string& place);

/// The texts that hold a match, which `^` and `$` bind to the ends. Look-ahead is followed where it stands at
/// the beginning of the text, directly behind `^`.
/// @param work states that may be looked at; counts down
/// @throws Error as above, and for a pattern that needs too many states or too much work
TextAutomaton texts_with_match(std::string_view pattern, const std::string& where, const std::string& place,
                               int64_t& work);

}  // namespace tessera::grammar
