#pragma once

#include <string>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "support/json.h"

namespace tessera {

/// The state that cursors share.
struct JsonCursor::Document {
    nlohmann::json root;
    std::string file;
    std::unordered_set<const void*> read;    ///< values that were asked for
    std::unordered_set<const void*> opened;  ///< objects of which a member was asked for
};

}  // namespace tessera
