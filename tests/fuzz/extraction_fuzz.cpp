#include "fuzz/target.h"
#include "search/extraction/extract.h"
#include "search/extraction/read_problem.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    using namespace tessera::extraction;
    return fuzz::accepts_or_throws_error([&] {
        const NamedProblem read = read_problem(fuzz::text_of(data, size), "fuzz");
        const Result result = extract(read.problem, {.conflicts = 20});
        TESSERA_CHECK(result.choice.empty() || violations(read.problem, result.choice).empty());
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {};
}
