#pragma once

#include <string>

#include "search/layouts/choose_layouts.h"

namespace tessera::layouts {

/// The search as one HTML page that needs nothing beside it: every value with its forms, chosen, rejected and
/// impossible, what they cost and which rules made them, to be searched by words.
std::string html_page(const Graph& graph, const plan::Plan& initial, const Search& search);

/// The e-graph of the search for Graphviz: chosen nodes are filled, each has its layout and seconds.
std::string dot_text(const Search& search);

}  // namespace tessera::layouts
