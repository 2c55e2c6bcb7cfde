#pragma once

#include <cstddef>
#include <string_view>

namespace tessera::llm {

/// Finds the end of a JSON object or array that comes in pieces, by its brackets and quotes alone.
class JsonExtent {
public:
    /// Takes more of it. @return the number of bytes of `text` that belong to the object
    size_t take(std::string_view text);
    bool is_complete() const { return is_complete_; }

private:
    size_t depth_ = 0;
    bool is_string_ = false;
    bool is_escaped_ = false;
    bool is_complete_ = false;
};

}  // namespace tessera::llm
