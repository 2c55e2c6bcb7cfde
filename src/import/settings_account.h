#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/findings.h"

/// Every setting of a checkpoint is accounted for: a reader has asked for it, or it is known to be harmless,
/// or it is refused or warned about here.
namespace tessera::import {

/// A setting that no reader has asked for.
struct UnreadSetting {
    std::string name;       ///< with the objects that hold it: "rope_scaling.beta_fast"
    std::string value;      ///< as the file writes it, shortened
    bool is_empty = false;  ///< null, or an empty text, list or object: says nothing
    bool is_off = false;    ///< false or 0
};

/// Settings that do not change the computation of a step.
struct HarmlessSettings {
    std::string_view reason;
    std::string_view names;  ///< between spaces; `*` at the end of one stands for any rest
};

/// Refuses settings that may change the results, judged by the words in their names, and warns of the rest:
/// transformers and llama.cpp ignore settings that they do not know.
void account_for(std::span<const UnreadSetting> unread, std::span<const HarmlessSettings> harmless,
                 Findings& findings);

/// At most eight of them, then "...".
std::string shortened_list(std::vector<std::string> items);

}  // namespace tessera::import
