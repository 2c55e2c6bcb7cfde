#pragma once

#include "cli/serve/reply.h"

namespace tessera::serve {

/// A page that chats with the model over /v1/chat/completions. It is one file (chat_page.html, which the
/// build puts into the program), loads nothing else but its icon, and may by its policy run and show nothing
/// else.
Reply chat_page();
Reply chat_icon();

}  // namespace tessera::serve
