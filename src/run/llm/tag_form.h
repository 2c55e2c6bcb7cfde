#pragma once

#include <optional>
#include <string_view>

#include "run/llm/tool_form.h"

namespace tessera::llm {

inline constexpr const char* kProbeKey = "probe_key";
inline constexpr const char* kProbeValue = "probe_value";
inline constexpr const char* kTwoMembers = R"({"probe_key": "probe_value", "other_key": "other_value"})";
inline constexpr const char* kNumberMember = R"({"probe_key": 70707})";
inline constexpr const char* kListMember = R"({"probe_key": [70707]})";

/// The texts that a template writes behind the name of a function, with these arguments.
struct TaggedCalls {
    std::string_view one;     ///< {kProbeKey: kProbeValue}
    std::string_view two;     ///< kTwoMembers
    std::string_view number;  ///< kNumberMember
    std::string_view list;    ///< kListMember
    std::string_view none;    ///< {}
};

/// The texts around members; none if members are written otherwise than one after the other in tags.
std::optional<MemberTags> find_tags(const TaggedCalls& calls);

}  // namespace tessera::llm
