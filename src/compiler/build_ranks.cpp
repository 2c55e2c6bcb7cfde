#include "compiler/build_ranks.h"

#include <algorithm>
#include <map>

#include "compiler/local_seconds.h"
#include "compiler/part_weights.h"
#include "compiler/timed.h"
#include "distribution/report.h"
#include "distribution/spmd/exchanges.h"
#include "distribution/spmd/model_report.h"
#include "run/runtime/ranks_file.h"
#include "support/error.h"
#include "support/mapped_file.h"

namespace tessera::compiler {
namespace {

// Assumed for a core that was not measured.
constexpr double kUnmeasuredBytesPerSecond = 16e9;
constexpr double kUnmeasuredOperations = 64e9;
constexpr int64_t kPageSlots = 16;

/// Ranks on the described machine, which share the bandwidth of its memory.
spmd::Cluster cluster_of(const CompileOptions& options) {
    const int64_t ranks = *options.ranks;
    spmd::Cluster cluster;
    if (options.cluster) {
        cluster = spmd::parse_cluster(MappedFile::open(*options.cluster).text(), options.cluster->string());
        if (cluster.placement.rank() != 1 || cluster.placement.devices() != ranks)
            throw Error(options.cluster->string(), "level",
                        fmt::format("are {}, expected one level of {} ranks", shape_text(cluster), ranks),
                        "nested levels are searched by `tessera distribute`; the run time has one");
    } else {
        const int64_t workers = *options.workers;
        const machine::MemoryLevel& memory = options.machine.memory.back();
        const machine::ReadBandwidth* bandwidth = machine::find_bandwidth(memory, ranks * workers);
        const machine::ComputeUnit* unit =
            machine::find_unit(options.machine, machine::UnitKind::kVector, "f32");
        const double peak = unit ? machine::peak(*unit) : 0;
        cluster = {
            .name = options.machine.name,
            .levels = {"rank"},
            .placement = {{spmd::rank_level(options.machine, ranks)}},
            .flops_per_second = static_cast<double>(workers) * (peak > 0 ? peak : kUnmeasuredOperations),
            .bytes_per_second = (bandwidth ? bandwidth->bytes_per_second : kUnmeasuredBytesPerSecond) /
                                (bandwidth ? static_cast<double>(ranks) : 1),
            .memory = {}};
    }
    if (options.rank_memory) cluster.memory = options.rank_memory;
    return cluster;
}

/// Files beside the output that go with this.
class RankFiles {
public:
    RankFiles(const std::filesystem::path& out, int64_t ranks) {
        for (int64_t r = 0; r < ranks; ++r) paths_.push_back(out.string() + fmt::format(".rank{}", r));
    }
    RankFiles(const RankFiles&) = delete;
    RankFiles& operator=(const RankFiles&) = delete;
    ~RankFiles() {
        std::error_code ignored;
        for (const auto& path : paths_) std::filesystem::remove(path, ignored);
    }
    const std::vector<std::filesystem::path>& paths() const { return paths_; }

private:
    std::vector<std::filesystem::path> paths_;
};

spmd::ModelReport distributed(const Graph& graph, const CompileOptions& options, const std::string& where) {
    spmd::ModelOptions model{
        .held = {},
        .cut = facts::Cut::kRagged,
        .collectives = distribution::CollectiveModel::kGathered,
        .is_for_execution = true,
        .seconds = options.cluster ? spmd::LocalSeconds{} : local_seconds(graph, options)};
    // The cache of one sequence at full length.
    const DimSymbol *slots = graph.symbol("S"), *pages = graph.symbol("P");
    if (slots && pages) model.held["P"] = std::min(pages->high, slots->high / kPageSlots);
    spmd::ModelReport report{.cluster = cluster_of(options), .found = {}, .by_hand = {}};
    report.found = spmd::ModelSearch(graph, report.cluster, model).best();
    if (!report.found.found.has_plan())
        throw Error(where, "",
                    fmt::format("does not fit on {} ranks\n{}", *options.ranks,
                                distribution::report(report.found.model.problem, report.found.found)),
                    "allow more memory, more ranks, or a smaller --context");
    return report;
}

}  // namespace

void build_ranks(const ModelParts& parts, const std::filesystem::path& out, const CompileOptions& given,
                 CompileReport& report) {
    CompileOptions options = given;
    if (!options.workers) options.workers = std::max<int64_t>(1, options.machine.cores / *options.ranks);
    if (options.plan || options.kernels)
        throw Error(out.string(), options.plan ? "--plan" : "--kernels",
                    "is for one process: ranks have graphs of their own",
                    "leave it out, or compile without --ranks", ErrorKind::kUsage);
    const int64_t ranks = *options.ranks;
    const Graph whole = rewrite_graph(parts.graph, options, report);
    const spmd::ModelReport distribution =
        timed("distribute", options, report, [&] { return distributed(whole, options, parts.where); });
    report.passes.back().note =
        fmt::format("{}, {} nodes", name(distribution.found.found.status), distribution.found.found.nodes);
    CompileOptions local_options = options;
    local_options.is_rewritten = true;
    const RankFiles files(out, ranks);
    std::map<std::string, Compiled> compiled;  ///< by the printed graph, sources of constants aside
    int64_t constants = 0;
    for (int64_t rank = 0; rank < ranks; ++rank) {
        const int64_t device[] = {rank};
        spmd::LocalGraph local = spmd::shard(whole, distribution.found, device);
        local.graph = spmd::with_exchanges(local.graph, rank, ranks);
        verify(local.graph, parts.where);
        Graph same = local.graph;
        for (Value& value : same.values) value.sources.resize(value.repetitions(), "part");
        for (Value& value : same.values) std::ranges::fill(value.sources, "part");
        const auto [at, is_new] = compiled.try_emplace(print(same));
        if (is_new) {
            if (options.dump) local_options.dump = *options.dump / fmt::format("rank{}", rank);
            at->second = compile_graph(local.graph, local_options, report);
        }
        Compiled own = at->second;
        for (Value& value : own.graph.values)
            if (const auto id = local.graph.find(value.name)) value.sources = local.graph[*id].sources;
        const PartWeights weights(parts.weights, whole, local, parts.where);
        write_model({.graph = own.graph,
                     .weights = weights,
                     .text = parts.text,
                     .tokenizer = parts.tokenizer,
                     .where = parts.where,
                     .warnings = parts.warnings},
                    own, files.paths()[static_cast<size_t>(rank)], options, report);
        constants += report.constant_bytes;
    }
    report.constant_bytes = constants;
    report.artefact_bytes = timed("join-ranks", options, report, [&] {
        return runtime::write_ranks_file(out, json_text(distribution), files.paths());
    });
}

}  // namespace tessera::compiler
