#pragma once

#include <string_view>

namespace tessera::serve {

/// chat_page.html and chat_icon.svg: chat_page_text.cpp.in becomes a source file with them.
extern const std::string_view kChatPage;
extern const std::string_view kChatIcon;

}  // namespace tessera::serve
