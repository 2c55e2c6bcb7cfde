#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tessera/engine.h"

namespace tessera::serve {

/// The answer to a request for one text, in the form of an API. All calls but `finish` come from the thread
/// of the engine.
class TextAnswer {
public:
    virtual ~TextAnswer() = default;

    virtual void add(std::optional<TokenReport> token, const std::string& text) = 0;
    /// The text is complete. @return true if `finish` has to be called; false after a failure
    [[nodiscard]] virtual bool end(const EngineEnd& end) = 0;
    /// Sends the rest of the answer. Any thread may call it, once.
    virtual void finish() = 0;
    /// The approximate number of bytes that `finish` will send.
    virtual size_t bytes() const = 0;
};

}  // namespace tessera::serve
