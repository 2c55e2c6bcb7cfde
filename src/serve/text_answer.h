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
    /// The text is complete. @return whether `finish` has to be called; not where it failed.
    [[nodiscard]] virtual bool end(const EngineEnd& end) = 0;
    /// Sends what is left of the answer. Any thread may call it, once.
    virtual void finish() = 0;
    /// About how many it will send then.
    virtual size_t bytes() const = 0;
};

}  // namespace tessera::serve
