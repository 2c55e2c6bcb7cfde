#include "fuzz/target.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/parse_program.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const auto printed = [](const std::vector<movement::Program>& programs) {
            std::string text;
            for (const movement::Program& program : programs) text += movement::print(program);
            return text;
        };
        const auto programs =
            movement::parse_programs(fuzz::text_of(data, size), "fuzz", kernels::call_kinds());
        const std::string text = printed(programs);
        const auto again = movement::parse_programs(text, "printed", kernels::call_kinds());
        TESSERA_CHECK(programs == again && printed(again) == text);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {};
}
