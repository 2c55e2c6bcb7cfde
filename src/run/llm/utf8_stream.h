#pragma once

#include <string>
#include <string_view>

namespace tessera::llm {

/// Turns the bytes of tokens, which may end inside a character, into whole characters for a terminal or a
/// socket.
///
///     stream.push("\xF0\x9F")  -> ""        the beginning of a character is held back
///     stream.push("\xA6\x99!") -> "🦙!"
///     stream.finish()          -> ""
///
/// Bytes that no continuation can make a character are released as they come: nothing is lost or replaced,
/// and at most 3 bytes are ever held.
class Utf8Stream {
public:
    std::string push(std::string_view bytes);
    /// The bytes that were held back, when the text ended inside a character; the stream is empty then.
    std::string finish();

private:
    std::string held_;
};

}  // namespace tessera::llm
