#pragma once

#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jinja/limits.h"
#include "jinja/text.h"
#include "jinja/value.h"

/// Templates in the language of Jinja2 3.1, as chat templates of HuggingFace use it, in a sandbox: a template
/// reads what it is given, makes a text, and can do nothing else.
namespace tessera::jinja {

/// What a template can read, by name.
using Variables = std::vector<std::pair<std::string, Value>>;

struct RenderSettings {
    Limits limits = {};
    std::function<std::tm()> now = {};  ///< the clock of `strftime_now`; empty: an error where it is called
};

/// A template that has been read. An immutable value: copies share the tree, and several threads may render.
class Template {
public:
    /// `where` names the template in errors.
    /// @throws Error "WHERE:ROW:COLUMN: ..." for a template that is not well-formed, and for one with a
    /// statement that there is not, or a filter or test outside of branches
    static Template parse(std::string_view source, std::string where);

    /// Everything that the template itself can write as one piece: its data, and the texts of its
    /// expressions, with a zero byte between two of them.
    const std::string& literal_text() const;

    /// The text, which knows what of it is foreign (see jinja/text.h).
    /// @throws Error with row and column where Jinja2 raises an exception, where the template refuses the
    /// conversation, and beyond the limits
    Text render(const Variables& variables, const RenderSettings& settings = {}) const;

private:
    struct Contents;
    std::shared_ptr<const Contents> contents_;
};

}  // namespace tessera::jinja
