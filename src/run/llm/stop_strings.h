#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::llm {

/// Ends a text that arrives in pieces before the first of some strings, wherever the pieces divide it.
///
///     stops {"\nUser:"}     push("Hello.\n") -> "Hello."    the line feed may begin the stop string
///                           push("\nUs")     -> "\n"
///                           push("er: Hi")   -> ""          found() from now on
///
/// The first string is the one that is complete first; among several that end together the longest counts.
class StopStrings {
public:
    /// @throws Error if one is empty
    explicit StopStrings(std::vector<std::string> strings);

    /// The part that certainly belongs to the text; nothing after a string was found.
    std::string push(std::string_view piece);
    /// The text that was held back, when the text ends without a stop string.
    std::string finish();
    bool found() const { return found_; }

private:
    std::vector<std::string> strings_;
    std::string held_;  // a proper prefix of a string
    bool found_ = false;
};

}  // namespace tessera::llm
