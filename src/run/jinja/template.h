#pragma once

#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/jinja/limits.h"
#include "run/jinja/text.h"
#include "run/jinja/value.h"

/// Templates in the language of Jinja2 3.1, as chat templates of HuggingFace use it, in a sandbox: a template
/// can read its variables and make a text, nothing else.
namespace tessera::jinja {

/// The variables of a template, by name.
using Variables = std::vector<std::pair<std::string, Value>>;

struct RenderSettings {
    Limits limits = {};
    std::function<std::tm()> now = {};  ///< the clock of `strftime_now`; empty: calling it is an error
};

/// A template that has been read. An immutable value: copies share the tree, and several threads may render.
class Template {
public:
    /// @param where names the template in errors
    /// @throws Error "WHERE:ROW:COLUMN: ..." for a template that is not well-formed, or has an unknown
    /// statement, or an unknown filter or test outside of branches
    static Template parse(std::string_view source, std::string where);

    /// Everything that the template itself can write as one piece: its data, and the texts of its
    /// expressions, with a zero byte between two of them.
    const std::string& literal_text() const;

    /// The text, with its foreign parts marked (see run/jinja/text.h).
    /// @throws Error with row and column where Jinja2 raises an exception, where the template refuses the
    /// conversation, and beyond the limits
    Text render(const Variables& variables, const RenderSettings& settings = {}) const;

private:
    struct Contents;
    std::shared_ptr<const Contents> contents_;
};

}  // namespace tessera::jinja
