#include <algorithm>

#include "codegen/cpp/emit.h"
#include "compiler/compiler.h"
#include "compiler/pass.h"
#include "compiler/planner_options.h"
#include "layouts/lay_out.h"
#include "movement/lower.h"
#include "ops/decompose.h"
#include "plan/constants.h"
#include "plan/copies.h"
#include "planner/default_planner.h"
#include "planner/place_buffers.h"
#include "planner/verify_plan.h"
#include "planner/verify_structure.h"
#include "support/error.h"
#include "support/mapped_file.h"

namespace tessera {

PlannerOptions planner_options(const Machine& machine, std::optional<int64_t> workers) {
    PlannerOptions options;
    options.workers = std::min(workers.value_or(machine.cores), kMostWorkers);
    options.machine = machine.name;
    options.lanes = vector_lanes(machine);
    options.vector_registers = vector_registers(machine);
    options.line_bytes = machine.cache_line_bytes;
    options.units = machine.units;
    if (is_measured(machine)) {
        options.costs = std::make_shared<const CostModel>(machine);
        options.has_all_blocks = true;
    }
    // Half of the core's own second level: the other half is for what streams through.
    if (const MemoryLevel* own = find_memory(machine, "L2"))
        options.resident_bytes = own->capacity_bytes / own->shared_by_cores / 2;
    return options;
}

namespace {

Plan read_plan(const std::filesystem::path& path) {
    const MappedFile file = MappedFile::open(path);
    const auto bytes = file.bytes();
    return parse_plan({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

Plan search_layouts(const Graph& graph, const Plan& initial, const PlannerOptions& planner,
                    const CompileOptions& options) {
    layouts::SearchOptions search = layouts::compiling_options(graph, initial, planner);
    search.extraction.conflicts *= options.search_effort;
    return layouts::decision_of(graph, initial, layouts::search_layouts(graph, initial, search));
}

}  // namespace

Compiled compile_graph(const Graph& graph, const CompileOptions& options, CompileReport& report) {
    PassRunner pass(options, report);
    Compiled out;
    pass.run(
        "import", "ir", [&] { return graph; }, [](const Graph& g) { return print(g); });
    out.graph = pass.run(
        "decompose", "ir",
        [&] {
            Graph decomposed = decompose(graph);
            verify(decomposed, graph.name);
            return decomposed;
        },
        [](const Graph& g) { return print(g); });
    const auto print_plan = [](const Plan& p) { return print(p); };
    const std::string where = options.plan ? options.plan->string() : "default plan";
    Graph graph_with_copies;
    if (options.plan) {
        out.plan = pass.run(
            "read-plan", "toml", [&] { return read_plan(*options.plan); }, print_plan);
        graph_with_copies = with_copies(out.graph, out.plan, where);
        // Structure first: buffers are placed by lowering, which relies on it.
        verify_structure(graph_with_copies, out.plan, where);
        out.plan = pass.run(
            "place-buffers", "toml", [&] { return place_buffers(graph_with_copies, out.plan); }, print_plan);
    } else {
        const PlannerOptions planner = planner_options(options.machine, options.workers);
        out.plan = initial_plan(out.graph, planner);
        if (options.search_effort > 0 && planner.costs) {
            out.plan = pass.run(
                "layouts", "toml", [&] { return search_layouts(out.graph, out.plan, planner, options); },
                print_plan);
        }
        graph_with_copies = with_copies(out.graph, out.plan, where);
        out.plan = pass.run(
            "plan", "toml", [&] { return complete_plan(graph_with_copies, out.plan, planner); }, print_plan);
    }
    out.plan.machine = options.machine.name;
    out.plan = pass.run(
        "verify-plan", "toml",
        [&] {
            verify_plan(graph_with_copies, out.plan, where);
            return out.plan;
        },
        print_plan);
    out.programs = pass.run(
        "lower", "txt",
        [&] {
            const ConstantSection constants = constant_section(out.graph, out.plan);
            std::vector<Program> programs;
            for (const SpecialisationPlan& s : out.plan.specialisations)
                programs.push_back(lower(graph_with_copies, out.plan, s, constants));
            return programs;
        },
        [](const std::vector<Program>& programs) {
            std::string text;
            for (const Program& p : programs) text += print(p);
            return text;
        });
    out.code = pass.run(
        "emit", "cpp", [&] { return cpp::emit(out.graph.name, out.programs); },
        [](const std::string& code) { return code; });
    report.code_bytes = static_cast<int64_t>(out.code.size());
    return out;
}

}  // namespace tessera
