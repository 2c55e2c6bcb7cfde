#pragma once

/// The library behind the command line. Everything in these headers is public and documented there. Bad
/// files, wrong settings and missing tools are thrown as tessera::Error.
///
///     tessera::compile("Qwen3-0.6B", "qwen.tsr", {.include_directory = ..., .cache_directory = ...});
///     tessera::Model model("qwen.tsr");
///     model.generate("Once upon a time", {.on_text = [](std::string_view text) { std::cout << text; }});

#include "tessera/bench.h"
#include "tessera/chat.h"
#include "tessera/compile.h"
#include "tessera/embedding.h"
#include "tessera/engine.h"
#include "tessera/error.h"
#include "tessera/generation.h"
#include "tessera/grammar.h"
#include "tessera/inspect.h"
#include "tessera/model.h"
#include "tessera/open.h"
#include "tessera/program.h"
#include "tessera/tools.h"
