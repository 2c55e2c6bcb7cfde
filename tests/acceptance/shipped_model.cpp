#include "acceptance/shipped_model.h"

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#include "import/import_model.h"
#include "lowering/plan/plan.h"
#include "machine/machine_text.h"
#include "machine/probe.h"
#include "run/llm/language_model.h"
#include "run/llm/token_ids_file.h"
#include "run/runtime/artefact.h"
#include "support/error.h"
#include "support/search_path.h"

namespace tessera::testing {

namespace fs = std::filesystem;

fs::path shipped_model() {
    return fs::path(TESSERA_SOURCE_DIR) / "models" / "tessera-tiny";
}

std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    TESSERA_CHECK(file.good(), "{}", path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

machine::Machine common_machine() {
#if defined(__aarch64__)
    const char* name = "neon.toml";
#else
    const char* name = "generic-x86-64.toml";
#endif
    return machine::read_machine(fs::path(TESSERA_SOURCE_DIR) / "machines" / name);
}

compiler::CompileOptions common_options(const fs::path& folder) {
    compiler::CompileOptions options;
    options.machine = common_machine();
    options.ntt_include = fs::path(TESSERA_SOURCE_DIR) / "include";
    options.search_path = compiler_search_path();
    options.cache = folder / "cache";
    options.workers = 1;
    return options;
}

fs::path compile_with(const std::string& plan, const fs::path& folder, int64_t workers) {
    compiler::CompileOptions options = common_options(folder);
    options.workers = workers;
    if (!plan.empty()) {
        options.machine.compiler.flags.push_back("-Og");  // takes 0.6 of the time of -O2
        options.plan = folder / "plan.toml";
        std::ofstream(*options.plan) << plan;
    }
    const fs::path artefact = folder / "model.tsr";
    (void)compiler::compile_model(shipped_model(), artefact, options);
    return artefact;
}

std::string editable_plan_text(const fs::path& folder) {
    const fs::path kernels = folder / "kernels.toml";
    std::ofstream out(kernels);
    for (const char* nest : {"layer_q", "layer_k_cache_update",
                             "t:1 h:1 { layer_q_normed_reciprocal; layer_q_normed_apply; layer_q_rotated }",
                             "t:1 h:1 { layer_k_normed_reciprocal; layer_k_normed_apply; layer_k_rotated }",
                             "b:1 g:1 r:1 i:8 { layer_attention_gather; s:16 { layer_attention_scores; "
                             "layer_attention_attend }; "
                             "layer_attention_scatter }",
                             "t:1 { layer_attention_normed_reciprocal; layer_attention_normed_apply }",
                             "t:1 { final_normed_reciprocal; final_normed_apply }", "logits", "layer_output",
                             "layer_attention_residual",
                             "t:1 { layer_feed_forward_normed_reciprocal; layer_feed_forward_normed_apply }",
                             "layer_gate", "layer_up", "layer_down", "layer_feed_forward_residual"})
        out << "[[kernel]]\nnest = \"" << nest << "\"\n";
    out.close();
    compiler::CompileOptions options = common_options(folder);
    options.kernels = kernels;
    CompileReport report;
    return plan::print(
        compiler::compile_graph(import::import_model(shipped_model()).graph, options, report).plan);
}

llm::LogitsComparison compared_with_reference(const fs::path& artefact, int64_t chunk) {
    constexpr std::array<std::string_view, 1> kKeys = {"ids"};
    const fs::path reference = shipped_model() / "reference";
    std::vector<TokenId> ids = llm::read_token_ids(reference / "ids.json", kKeys);
    const std::vector<TokenId> greedy = llm::read_token_ids(reference / "greedy.json", kKeys);
    ids.insert(ids.end(), greedy.begin(), greedy.end());
    const std::string expected = bytes_of(reference / "logits.bin");

    llm::LanguageModel model(std::make_shared<const runtime::Artefact>(runtime::Artefact::open(artefact)),
                             machine::host_features(), {.chunk = chunk});
    llm::Session& session = model.session();
    const size_t row_bytes = static_cast<size_t>(session.vocabulary()) * sizeof(float);
    TESSERA_CHECK(expected.size() % row_bytes == 0 && expected.size() / row_bytes <= ids.size(), "{} bytes",
                  expected.size());
    ids.resize(expected.size() / row_bytes);

    llm::LogitsComparison comparison(session.vocabulary());
    const std::vector<int32_t> tokens(ids.begin(), ids.end());
    const llm::Addition addition{session.open(), tokens, llm::every_row(tokens)};
    session.add({&addition, 1}, [&](size_t, int32_t row, std::span<const float> logits) {
        std::vector<float> wanted(logits.size());
        std::memcpy(wanted.data(), expected.data() + static_cast<size_t>(row) * row_bytes, row_bytes);
        comparison.add(wanted, logits);
    });
    return comparison;
}

}  // namespace tessera::testing
