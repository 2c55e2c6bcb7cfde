// Times the steps of an artefact: `step ARTEFACT PREFILL DECODE PASSES`. One JSON object on stdout with the
// seconds of every prefill of PREFILL tokens and of every decoded token after it (no sampling: the next token
// is fixed).
#include <chrono>
#include <cstdlib>
#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "machine/probe.h"
#include "run/llm/language_model.h"
#include "support/error.h"

namespace {

using namespace tessera;

double seconds_of(const auto& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

nlohmann::ordered_json measure(const char* path, int64_t prefill, int64_t decode, int64_t passes) {
    const auto artefact = std::make_shared<const runtime::Artefact>(runtime::Artefact::open(path));
    llm::LanguageModel model(artefact, machine::host_features(), {.context = prefill + decode + 1});
    llm::Session& session = model.session();
    const auto ignore = [](size_t, int32_t, std::span<const float>) {};
    std::vector<int32_t> prompt;
    for (int64_t i = 0; i < prefill; ++i)
        prompt.push_back(static_cast<int32_t>((i * 7919 + 13) % session.vocabulary()));
    const std::vector<int32_t> next = {static_cast<int32_t>(17 % session.vocabulary())};

    nlohmann::ordered_json result;
    result["constant_bytes"] = artefact->manifest().constants_bytes;
    int64_t elements = 0;  // scales of quantised weights count too: one for 16 weights or more
    for (const runtime::Manifest::Constant& constant : artefact->manifest().constants) {
        int64_t count = constant.repeat;
        for (const int64_t extent : constant.shape) count *= extent;
        elements += count;
    }
    result["constant_elements"] = elements;
    result["prefill_tokens"] = prefill;
    for (int64_t pass = 0; pass < passes; ++pass) {
        const llm::SequenceId sequence = session.open();
        const llm::Addition whole{sequence, prompt, llm::last_row(prompt)};
        result["prefill_seconds"].push_back(seconds_of([&] { session.add({&whole, 1}, ignore); }));
        for (int64_t i = 0; i < decode; ++i) {
            const llm::Addition one{sequence, next, llm::last_row(next)};
            result["decode_seconds"].push_back(seconds_of([&] { session.add({&one, 1}, ignore); }));
        }
        session.close(sequence);
    }
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        fmt::print(stderr, "usage: step ARTEFACT PREFILL DECODE PASSES\n");
        return 2;
    }
    try {
        fmt::print("{}\n",
                   measure(argv[1], std::atoll(argv[2]), std::atoll(argv[3]), std::atoll(argv[4])).dump());
        return 0;
    } catch (const Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
