#include <algorithm>
#include <iterator>

#include "backend/backend.h"
#include "compiler/compiler.h"
#include "compiler/kept_plan.h"
#include "compiler/layout_search.h"
#include "compiler/operator_cost.h"
#include "compiler/pass.h"
#include "compiler/planner_options.h"
#include "ir/ops/decompose.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/plan/copies.h"
#include "search/layouts/choose_layouts.h"
#include "search/planner/default_planner.h"
#include "search/planner/loads.h"
#include "search/planner/own_storage.h"
#include "search/planner/place_buffers.h"
#include "search/planner/stated.h"
#include "search/planner/tuning_log.h"
#include "search/planner/verify_plan.h"
#include "search/planner/verify_structure.h"
#include "search/rules/compose_maps.h"
#include "search/rules/pad_operands.h"
#include "search/rules/rewrite.h"
#include "support/error.h"
#include "support/mapped_file.h"

namespace tessera::compiler {
namespace {

constexpr int kMostIterations = 10'000;

void append(std::vector<std::string>& all, std::vector<std::string> more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

bool rewrites(const CompileOptions& options) {
    return options.search_effort > 0 && options.parts.rewriting;
}

/// Adds to `cut_short` what a limit has cut short.
Graph rewritten(const Graph& graph, const CompileOptions& options, std::optional<int64_t> workers,
                PassRunner& pass, std::vector<std::string>& cut_short) {
    const machine::Machine machine = priced_machine(options.machine, options.parts);
    rules::RewriteOptions search{.cost = operator_cost(graph, machine, workers),
                                 .without = options.parts.rule_families};
    search.saturation.nodes *= options.search_effort;
    search.saturation.iterations = static_cast<int>(
        std::min<int64_t>(search.saturation.iterations * options.search_effort, kMostIterations));
    search.conflicts *= options.search_effort;
    rules::Rewritten result = pass.run(
        "rewrite", "ir",
        [&] {
            rules::Rewritten found = rules::rewrite(graph, search);
            verify(found.graph, graph.name);
            return found;
        },
        [](const rules::Rewritten& found) { return print(found.graph); });
    pass.note(rules::summary(result.blocks), print(result.blocks));
    append(cut_short, pass.note_cut(rules::cut_short(result.blocks)));
    return std::move(result.graph);
}

/// Parses a file with a parser that knows the micro-kernels.
template <typename Parse>
auto read(const std::filesystem::path& path, Parse parse) {
    const MappedFile file = MappedFile::open(path);
    const auto bytes = file.bytes();
    return parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string(),
                 kernels::micro_kernels());
}

/// The kernels that were measured for this graph on this machine.
std::vector<plan::StatedKernel> tuned_kernels(const Graph& graph, const plan::Plan& plan,
                                              const CompileOptions& options, PassRunner& pass) {
    const planner::UsedTuning used = pass.run(
        "tuning", "txt",
        [&] {
            const auto parse = [&](std::string_view text, const std::string& where,
                                   plan::MicroKernels kernels) {
                return planner::used_tuning(planner::parse_tuning_log(text, where), where,
                                            machine::content_hash(options.machine), graph, plan, kernels);
            };
            planner::UsedTuning found = read(*options.tuning, parse);
            planner::check_stated(graph, plan, found.kernels);
            return found;
        },
        [](const planner::UsedTuning& found) {
            std::string text;
            for (const plan::StatedKernel& kernel : found.kernels)
                text += fmt::format("{}: {}\n", kernel.specialisation, plan::print(kernel.nest));
            return text;
        });
    std::string summary = fmt::format("{} kernels as measured", used.kernels.size());
    if (used.of_other_machines > 0)
        summary += fmt::format(", {} of other machines ignored", used.of_other_machines);
    if (used.of_other_kernels > 0)
        summary += fmt::format(", {} of other kernels ignored", used.of_other_kernels);
    pass.note(summary, summary + "\n");
    return used.kernels;
}

plan::Plan with_layouts(const Graph& graph, const plan::Plan& initial, const planner::PlannerOptions& planner,
                        const CompileOptions& options, PassRunner& pass,
                        std::vector<std::string>& cut_short) {
    struct Found {
        layouts::Search search;
        plan::Plan plan;
    };
    Found found = pass.run(
        "layouts", "toml",
        [&] {
            const layouts::SearchOptions search =
                layout_search_options(graph, initial, planner, options.search_effort);
            layouts::Search all = layouts::search_layouts(graph, initial, search);
            plan::Plan plan = layouts::decision_of(graph, initial, all);
            return Found{std::move(all), std::move(plan)};
        },
        [](const Found& each) { return plan::print(each.plan); });
    pass.note(layouts::summary(found.search) +
                  (planner.costs->is_measured() ? "" : ", by roofs: no micro-kernels were measured"),
              print(found.search));
    append(cut_short, pass.note_cut(layouts::cut_short(found.search)));
    return std::move(found.plan);
}

Graph decomposed(const Graph& graph, PassRunner& pass) {
    return pass.run(
        "decompose", "ir",
        [&] {
            Graph made = ops::decompose(graph);
            verify(made, graph.name);
            return made;
        },
        [](const Graph& g) { return print(g); });
}

/// A pass that leaves most graphs as they are: then it is none of theirs.
Graph changed(const char* name, Graph graph, std::optional<Graph> (*change)(const Graph&), PassRunner& pass) {
    std::optional<Graph> made = change(graph);
    if (!made) return graph;
    return pass.run(
        name, "ir",
        [&] {
            verify(*made, graph.name);
            return *std::move(made);
        },
        [](const Graph& g) { return print(g); });
}

std::string print_plan(const plan::Plan& plan) {
    return plan::print(plan);
}

std::string print_lowered(const planner::LoweredPlan& lowered) {
    return plan::print(lowered.plan);
}

/// The ablations of the search: its published price, and the parts that were left out.
std::string searched_by(const CompileOptions& options) {
    return (options.cost ? fmt::format(", priced by {}", name(*options.cost)) : "") + left_out(options.parts);
}

/// The place that errors of the plan name.
std::string place_of_plan(const CompileOptions& options) {
    return options.plan ? options.plan->string() : kDefaultPlan;
}

/// The plan of a file, completed with the offsets of its buffers.
planner::LoweredPlan given_plan(const Graph& graph, plan::Plan plan, const CompileOptions& options,
                                PassRunner& pass) {
    const Graph with_copies = plan::with_copies(graph, plan, place_of_plan(options));
    // Structure first: buffers are placed by lowering, which relies on it.
    planner::verify_structure(with_copies, plan, place_of_plan(options));
    return pass.run(
        "place-buffers", "toml", [&] { return planner::lowered_and_placed(with_copies, std::move(plan)); },
        print_lowered);
}

/// Kernels and places for a plan whose layouts are chosen.
planner::LoweredPlan completed(const Graph& graph_with_copies, const plan::Plan& plan,
                               planner::PlannerOptions planner, const CompileOptions& options,
                               PassRunner& pass, std::vector<std::string>& cut_short) {
    std::string account;
    schedule::Totals totals;
    planner.on_schedule = [&](const std::string& specialisation, const std::string& block,
                              const schedule::Schedule& schedule) {
        account += fmt::format("{}, {}: {}", specialisation, block, print(schedule));
        totals.add(schedule);
    };
    std::string why_untuned;
    const auto complete_or_untuned = [&] {
        planner::CompletedPlan first = planner::completed_plan(graph_with_copies, plan, planner);
        const auto* refusal = std::get_if<lowering::Refusal>(&first);
        if (!options.tuning || !refusal) return planner::expected(std::move(first));
        // Kernels that were measured alone are advice: if this plan cannot have them, it is made without.
        why_untuned = fmt::format(", no kernel as measured: {}", refusal->text());
        planner.stated.clear();
        account.clear();
        totals = {};
        return planner::expected(planner::completed_plan(graph_with_copies, plan, planner));
    };
    planner::LoweredPlan lowered = pass.run("plan", "toml", complete_or_untuned, print_lowered);
    pass.note(summary(totals) + searched_by(options) + why_untuned, account);
    append(cut_short, pass.note_cut(schedule::cut_short(totals)));
    return lowered;
}

/// The default planner's plan, around the kernels that are stated or were measured.
planner::LoweredPlan searched_plan(const Graph& graph, const CompileOptions& options, PassRunner& pass,
                                   std::vector<std::string>& cut_short) {
    auto [planner, plan] =
        planning_start(graph, options.machine, options.workers, options.search_effort, options.parts);
    // The search for layouts asks what is fused. Most kernels of that search come again.
    planner.known = std::make_shared<std::map<std::string, schedule::KnownKernels>>();
    std::vector<plan::StatedWithLoads> stated;
    if (options.kernels) {
        stated = read(*options.kernels, plan::parse_stated_kernels);
        planner.stated = planner::without_loads(stated);
        planner::check_stated(graph, plan, planner.stated);
    }
    if (options.search_effort > 0 && options.parts.layouts)
        plan = with_layouts(graph, plan, planner, options, pass, cut_short);
    if (options.cost) {
        planner.published = cost::published_on(*options.cost, *planner.costs, planner.workers);
        planner.known.reset();  // these have the planner's own prices
    }
    plan = planner::with_loads(graph, std::move(plan), stated);
    planner.stated = planner::with_copies(stated);
    const Graph with_copies = plan::with_copies(graph, plan, place_of_plan(options));
    if (options.tuning) planner.stated = tuned_kernels(with_copies, plan, options, pass);
    return completed(with_copies, plan, std::move(planner), options, pass, cut_short);
}

/// The result of the passes that decide.
struct Decided {
    KeptPlan kept;
    std::vector<movement::Program> programs;
};

/// The passes that decide: they make a graph that is proved equal to this one, and its plan.
Decided decided(const Graph& graph, const CompileOptions& options, PassRunner& pass) {
    KeptPlan kept;
    kept.graph = changed("pad-operands", decomposed(graph, pass), rules::with_padded_operands, pass);
    std::optional<plan::Plan> given;
    if (options.plan)
        given = pass.run(
            "read-plan", "toml", [&] { return read(*options.plan, plan::parse_plan); }, print_plan);
    // A given plan belongs to the graph that is found for its number of workers.
    const auto workers = given ? std::optional(given->workers) : options.workers;
    if (rewrites(options) && !options.is_rewritten)
        kept.graph = rewritten(kept.graph, options, workers, pass, kept.cut_short);
    if (options.composes_maps)
        kept.graph = changed("compose-maps", std::move(kept.graph), rules::with_composed_maps, pass);
    kept.graph = changed("own-storage", std::move(kept.graph), planner::with_own_storage, pass);
    planner::LoweredPlan lowered = given ? given_plan(kept.graph, *std::move(given), options, pass)
                                         : searched_plan(kept.graph, options, pass, kept.cut_short);
    lowered.plan.machine = options.machine.name;
    const std::string where = place_of_plan(options);
    const auto verify_placed = [&] {
        planner::verify_lowered(plan::with_copies(kept.graph, lowered.plan, where), lowered, where);
        return lowered.plan;
    };
    kept.plan = pass.run("verify-plan", "toml", verify_placed, print_plan);
    return {std::move(kept), std::move(lowered.programs)};
}

/// Returns the decisions of an earlier compilation, if they stand up to a check.
std::optional<Decided> decided_before(const std::filesystem::path& file, const std::string& name,
                                      const CompileOptions& options, PassRunner& pass,
                                      CompileReport& report) {
    std::optional<KeptPlan> kept = kept_plan(file, name);
    if (!kept) return std::nullopt;
    Decided out{*std::move(kept), {}};
    const auto verified = [&] {
        return planner::verify_plan(plan::with_copies(out.kept.graph, out.kept.plan, file.string()),
                                    out.kept.plan, file.string());
    };
    try {
        out.programs = pass.run("plan", "toml", verified, [](const auto&) { return std::string(); });
    } catch (const Error&) {
        return std::nullopt;  // the file is damaged
    }
    pass.note("from the cache" + searched_by(options), "");
    for (const std::string& warning : out.kept.cut_short)
        if (std::ranges::find(report.warnings, warning) == report.warnings.end())
            report.warnings.push_back(warning);
    return out;
}

/// If the plan cannot be kept, the next compilation searches again; this one does not need the file.
void keep_for_later(const std::filesystem::path& file, const KeptPlan& plan, CompileReport& report) {
    try {
        keep_plan(file, plan);
    } catch (const Error& error) {
        report.warnings.push_back(fmt::format("the plan is not kept for the next time: {}", error.what()));
    }
}

}  // namespace

Graph rewrite_graph(const Graph& graph, const CompileOptions& options, CompileReport& report) {
    PassRunner pass(options, report);
    Graph plain = decomposed(graph, pass);
    std::vector<std::string> cut_short;  // the report has it
    return rewrites(options) ? rewritten(plain, options, options.workers, pass, cut_short) : plain;
}

Compiled compile_graph(const Graph& graph, const CompileOptions& options, CompileReport& report) {
    PassRunner pass(options, report);
    pass.run(
        "import", "ir", [&] { return graph; }, [](const Graph& g) { return print(g); });
    const std::filesystem::path kept_at = kept_plan_file(graph, options);
    std::optional<Decided> all = decided_before(kept_at, graph.name, options, pass, report);
    if (!all) {
        all = decided(graph, options, pass);
        if (!kept_at.empty()) keep_for_later(kept_at, all->kept, report);
    }
    Compiled out{.graph = std::move(all->kept.graph),
                 .plan = std::move(all->kept.plan),
                 .programs = {},
                 .code = {},
                 .cut_short = std::move(all->kept.cut_short)};
    // Planning and verification have lowered every specialisation.
    out.programs = pass.run(
        "lower", "txt", [&] { return std::move(all->programs); },
        [](const std::vector<movement::Program>& programs) {
            std::string text;
            for (const movement::Program& p : programs) text += movement::print(p);
            return text;
        });
    out.code = pass.run(
        "emit", std::string(options.backend->suffix),
        [&] { return options.backend->emit({}, out.programs, backend::exchanges_of(out.graph)); },
        [](const backend::Code& code) { return code.text; });
    report.code_bytes = static_cast<int64_t>(out.code.text.size());
    return out;
}

}  // namespace tessera::compiler
