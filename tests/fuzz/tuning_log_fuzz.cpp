// Logs of measured kernels: what is accepted is printed and read again.
#include <stdexcept>

#include "fuzz/target.h"
#include "search/planner/tuning_log.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const planner::TuningLog log = planner::parse_tuning_log(fuzz::text_of(data, size), "fuzz");
        if (planner::parse_tuning_log(planner::print(log), "printed").size() != log.size())
            throw std::logic_error("another log when it is printed and read");
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {planner::print({{.machine = "m",
                             .kernel = "k",
                             .specialisation = "s",
                             .operators = {"a", "b"},
                             .choices = {{{"t:4 { a; b }"}, 1e-6, 2e-6}, {{"a", "b"}, 2e-6, 3e-6}}}})};
}
