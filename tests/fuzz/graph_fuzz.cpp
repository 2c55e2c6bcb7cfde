#include "fuzz/target.h"
#include "ir/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const Graph graph = parse_graph(fuzz::text_of(data, size), "fuzz");
        verify(graph, "fuzz");
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {};
}
