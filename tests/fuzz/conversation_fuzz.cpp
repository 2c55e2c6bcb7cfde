#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "run/llm/conversation_file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const auto messages = llm::parse_conversation(fuzz::text_of(data, size), "fuzz");
        TESSERA_CHECK(llm::parse_conversation(llm::print_conversation("m", messages), "fuzz").size() ==
                      messages.size());
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {llm::print_conversation("m", {{"system", "s"}, {"user", "u \"\n"}, {"assistant", "a"}})};
}
