// Reads lines of JSON texts and writes for each one line {"ids": [..], "decoded": ".."}:
//
//     encode_texts MODEL [--spell-special] < texts.jsonl

#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "run/llm/load_tokenizer.h"

int main(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "encode_texts MODEL [--spell-special] < texts.jsonl\n"), 2;
    try {
        const bool spell = argc > 2 && std::strcmp(argv[2], "--spell-special") == 0;
        const tessera::llm::Tokenizer tokenizer = tessera::llm::load_tokenizer(argv[1]);
        for (std::string line; std::getline(std::cin, line);) {
            const auto text = nlohmann::json::parse(line).get<std::string>();
            const auto ids = tokenizer.encode(text, {.parse_special = !spell});
            const nlohmann::json answer = {{"ids", ids}, {"decoded", tokenizer.decode(ids)}};
            const std::string out =
                answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
            std::fwrite(out.data(), 1, out.size(), stdout);
        }
    } catch (const std::exception& error) {
        return std::fprintf(stderr, "%s\n", error.what()), 1;
    }
    return 0;
}
