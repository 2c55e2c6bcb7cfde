#pragma once

#include <string>
#include <string_view>

namespace tessera::spmd {

/// The groups of an account (distribution/spmd/model_report.h) as SVG: each tensor with its form, one colour
/// for each kind of entry, and below it its boxes as arrows, with a bar that is as long as they take.
/// @throws Error if the text is no account
std::string groups_svg(std::string_view json, const std::string& where);

}  // namespace tessera::spmd
