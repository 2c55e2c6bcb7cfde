#include "fuzz/target.h"
#include "kernels/micro_kernels.h"
#include "plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const Plan plan = parse_plan(fuzz::text_of(data, size), "fuzz", micro_kernels());
        TESSERA_CHECK(parse_plan(print(plan), "fuzz", micro_kernels()) == plan);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {};
}
