#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "run/llm/tool_form.h"

namespace tessera::llm {

/// Reads one member in tags.
struct TaggedMember {
    enum class State {
        kPartly,  ///< more has to come
        kWhole,
        kNot  ///< the text is no member of these
    };
    State state = State::kPartly;
    size_t size = 0;        ///< of its text
    std::string json = {};  ///< `"name": value`
};

/// The member that a text begins with, behind what opens it. @pre the text begins with `tags.open`
TaggedMember read_member(std::string_view text, const MemberTags& tags,
                         const std::map<std::string, MemberKind>& kinds);

}  // namespace tessera::llm
