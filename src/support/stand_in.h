#pragma once

#include <string>
#include <string_view>

namespace tessera {

/// Refuses the usual stand-ins for a file of a model: an empty file, a pointer of git-lfs, a page of a web
/// site, an archive. `bytes` are those of the whole file, or as many as are at hand from its beginning.
/// @throws Error naming `where`, the stand-in, and how to get the file.
void refuse_stand_in(std::string_view bytes, const std::string& where);

/// For a file that should be binary, and begins with text: `refuse_stand_in`, and else an Error that quotes
/// the text, such as the "Entry not found" of a server. Nothing happens where it begins with other bytes.
void refuse_text(std::string_view bytes, const std::string& where);

}  // namespace tessera
