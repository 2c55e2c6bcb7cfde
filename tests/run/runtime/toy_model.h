#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "run/runtime/artefact.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera::runtime {

/// A language model that is small enough to be computed by heart and yet depends on everything that a session
/// fills in: the logit of id v after the tokens x is 3 - |v - h| / 4, where h = sum over s of (x[s] + 1)(s +
/// 1), mod the vocabulary. The tokens are read back from a paged cache, by the page tables, each with the
/// position that it came with. The 4 is a weight, the only one.
struct ToyModel {
    std::string name = "toy";
    int64_t vocabulary = 23;
    int64_t context = 128;
    int64_t longest_step = 8;    ///< tokens of one step
    int64_t most_sequences = 3;  ///< of one step
    std::vector<int32_t> eos = {};
    std::vector<NamedFile> tokenizer = {};

    Manifest manifest() const {
        const DimSymbol tokens{"T", 1, longest_step, 1}, rows{"R", 1, longest_step, 1};
        const DimSymbol sequences{"B", 1, most_sequences, 1}, segment{"I", 1, longest_step, 1};
        const DimSymbol cached{"S", 16, context, 16}, pages{"P", 1, 1024, 1};
        const Dim t("T"), r("R"), b("B");
        const ElementType i32 = ElementType::kI32;
        Manifest m;
        m.model = name;
        m.tessera_version = "test";
        m.machine = "any";
        m.machine_hash = "0";
        m.architecture = "x86_64";
        m.symbols = {tokens, rows, sequences, segment, cached, pages};
        m.inputs = {{"tokens", i32, {t}}, {"position", i32, {t}},
                    {"slot", i32, {t}},   {"rows", i32, {r}},
                    {"first", i32, {b}},  {"length", i32, {b}},
                    {"start", i32, {b}},  {"page", i32, {b, Dim(context / 16)}}};
        m.outputs = {{"logits", ElementType::kF32, {r, Dim(vocabulary)}}};
        m.states = {{"keys", i32, {Dim("P"), Dim(16)}, {Dim("P"), Dim(16)}, 2}};
        m.constants_bytes = 128;
        m.constants = {{"weight", ElementType::kF32, {1}, "row-major", 64, 4, 0, 1}};
        const auto bounds = [&](int64_t most_tokens, int64_t most_b) {
            return std::map<std::string, Manifest::Bounds>{{"T", {1, most_tokens}}, {"R", {1, most_tokens}},
                                                           {"B", {1, most_b}},      {"I", {1, most_tokens}},
                                                           {"S", {16, context}},    {"P", {1, 1024}}};
        };
        m.specialisations = {
            {"decode", "toy_decode", bounds(1, 1), 64},
            {"prefill", "toy_prefill", bounds(longest_step, most_sequences), 4 * longest_step}};
        m.text = Manifest::Text{vocabulary, context, 16, std::nullopt, eos};
        return m;
    }

    void write(const std::filesystem::path& path) const {
        const ArtefactParts parts{manifest(), code(), "the plan", "the graph", tokenizer};
        write_artefact(path, parts, [](ConstantSink& sink) {
            const float weight = 4;
            sink.advance_to(64);
            sink.write(std::as_bytes(std::span(&weight, 1)));
        });
    }

    std::string code() const { return compiled(vocabulary, context); }

    /// h after the last of the tokens.
    int64_t answer(std::span<const int32_t> tokens) const {
        int64_t h = 0;
        for (size_t s = 0; s < tokens.size(); ++s) h += (tokens[s] + 1) * (static_cast<int64_t>(s) + 1);
        return h % vocabulary;
    }
    /// The expected logits after each of the tokens: [tokens, vocabulary].
    std::vector<float> logits(std::span<const int32_t> tokens) const {
        std::vector<float> result;
        for (size_t n = 1; n <= tokens.size(); ++n)
            for (int64_t v = 0, h = answer(tokens.first(n)); v < vocabulary; ++v)
                result.push_back(3.0F - static_cast<float>(std::abs(v - h)) / 4.0F);
        return result;
    }

private:
    static std::string source(int64_t vocabulary, int64_t context) {
        return fmt::format(R"(#include "tessera/step.h"
static void toy(const TesseraStep* step, int32_t* h) {{
    constexpr int64_t kVocabulary = {}, kTable = {} / 16;
    const int64_t T = step->symbols[0], R = step->symbols[1], B = step->symbols[2], S = step->symbols[4], P = step->symbols[5];
    const auto in = [&](int i) {{ return static_cast<const int32_t*>(step->inputs[i]); }};
    const int32_t *tokens = in(0), *position = in(1), *slot = in(2), *rows = in(3);
    const int32_t *first = in(4), *length = in(5), *start = in(6), *page = in(7);
    int32_t* keys = reinterpret_cast<int32_t*>(step->states[0]);
    int32_t* copy = keys + 16 * P;
    for (int64_t t = 0; t < T; ++t) copy[slot[t]] = -(keys[slot[t]] = (tokens[t] + 1) * (position[t] + 1));
    for (int64_t b = 0; b < B; ++b)
        for (int64_t i = 0; i < length[b]; ++i) {{
            int64_t sum = 0;
            for (int64_t s = 0; s < S && s <= start[b] + i; ++s) {{
                const int64_t at = page[b * kTable + s / 16] * 16 + s % 16;
                sum += keys[at] == -copy[at] ? keys[at] : 1 << 20;
            }}
            h[first[b] + i] = static_cast<int32_t>(sum % kVocabulary);
        }}
    const float weight = *reinterpret_cast<const float*>(step->constants + 64);
    float* logits = static_cast<float*>(step->outputs[0]);
    for (int64_t r = 0; r < R; ++r)
        for (int64_t v = 0; v < kVocabulary; ++v) {{
            const int64_t distance = v < h[rows[r]] ? h[rows[r]] - v : v - h[rows[r]];
            logits[r * kVocabulary + v] = 3.0F - static_cast<float>(distance) / weight;
        }}
}}
extern "C" void toy_decode(const TesseraStep* step) {{
    int32_t h;
    toy(step, &h);
}}
extern "C" void toy_prefill(const TesseraStep* step) {{ toy(step, reinterpret_cast<int32_t*>(step->arena)); }}
)",
                           vocabulary, context);
    }

    static std::string compiled(int64_t vocabulary, int64_t context) {
        // A test compiles the same model again and again.
        static std::map<std::pair<int64_t, int64_t>, std::string> done;
        std::string& code = done[{vocabulary, context}];
        if (!code.empty()) return code;
        const TemporaryFolder folder;
        write_file(folder.path() / "toy.cpp", source(vocabulary, context));
        const auto compiler = find_program("c++", "/usr/local/bin:/usr/bin:/bin");
        if (!compiler) throw std::runtime_error("there is no c++");
        const ProcessResult result = run_process(
            {.program = *compiler,
             .arguments = {"-std=c++20", "-O1", "-shared", "-fPIC", "-Wall", "-Werror",
                           "-I" TESSERA_SOURCE_DIR "/include", "-o", (folder.path() / "toy.so").string(),
                           (folder.path() / "toy.cpp").string()}});
        if (result.exit_code != 0) throw std::runtime_error(result.errors);
        std::ifstream file(folder.path() / "toy.so", std::ios::binary);
        code.assign(std::istreambuf_iterator<char>(file), {});
        return code;
    }

    static void write_file(const std::filesystem::path& path, const std::string& text) {
        std::ofstream(path, std::ios::binary) << text;
    }
};

}  // namespace tessera::runtime
