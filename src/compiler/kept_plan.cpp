// An entry is a line that says what it is, of which content, and the digest of the rest; then the graph, the
// plan, and each of `cut_short`, all of them texts that end with a zero byte.
//
//     tessera plan 1 <digest of all that it depends on> <digest of the rest>
#include "compiler/kept_plan.h"

#include <fmt/format.h>

#include "lowering/kernels/micro_kernels.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/kept_files.h"
#include "support/own_build.h"

namespace tessera::compiler {
namespace {

constexpr const char* kExtension = ".plan";

std::string first_line(const std::filesystem::path& file, std::string_view rest) {
    return fmt::format("tessera plan 1 {} {}\n", file.stem().string(), hash_hex(rest));
}

std::vector<std::string_view> texts_of(std::string_view rest) {
    std::vector<std::string_view> texts;
    for (size_t end; (end = rest.find('\0')) != std::string_view::npos; rest.remove_prefix(end + 1))
        texts.push_back(rest.substr(0, end));
    return texts;
}

}  // namespace

std::filesystem::path kept_plan_file(const Graph& imported, const CompileOptions& options) {
    if (options.plan || options.kernels || options.tuning || options.dump || options.cache.empty()) return {};
    const std::string build = own_build();
    if (build.empty()) return {};
    Graph nameless = imported;
    nameless.name.clear();
    Hasher hasher;
    hasher.field(build).field(print(nameless)).field(machine::content_hash(options.machine));
    hasher.field(options.workers ? fmt::to_string(*options.workers) : "")
        .field(fmt::to_string(options.search_effort))
        .field(options.is_rewritten ? "rewritten" : "")
        .field(options.composes_maps ? "composed" : "")
        .field(options.cost ? name(*options.cost) : "")
        .field(left_out(options.parts));
    return std::filesystem::absolute(options.cache) / (hasher.hex() + kExtension);
}

std::optional<KeptPlan> kept_plan(const std::filesystem::path& file, const std::string& name) {
    const std::optional<std::string> content = file.empty() ? std::nullopt : kept_file(file);
    if (!content) return std::nullopt;
    const size_t begin = content->find('\n') + 1;
    const std::string_view rest = std::string_view(*content).substr(begin);
    const std::vector<std::string_view> texts = texts_of(rest);
    if (begin == 0 || std::string_view(*content).substr(0, begin) != first_line(file, rest) ||
        texts.size() < 2)
        return std::nullopt;
    try {
        const std::string where = file.string();
        KeptPlan kept{.graph = parse_graph(texts[0], where),
                      .plan = plan::parse_plan(texts[1], where, kernels::micro_kernels())};
        verify(kept.graph, where);
        kept.cut_short.assign(texts.begin() + 2, texts.end());
        kept.graph.name = kept.plan.graph = name;
        return kept;
    } catch (const Error&) {
        return std::nullopt;
    }
}

void keep_plan(const std::filesystem::path& file, const KeptPlan& kept) {
    std::vector<std::string> texts = {print(kept.graph), plan::print(kept.plan)};
    texts.insert(texts.end(), kept.cut_short.begin(), kept.cut_short.end());
    std::string rest;
    for (const std::string& text : texts) {
        if (text.find('\0') != std::string::npos) return;  // of a name: it would not be read as it is
        rest += text + '\0';
    }
    keep_file(file, first_line(file, rest) + rest);
}

}  // namespace tessera::compiler
