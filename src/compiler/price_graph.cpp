#include "compiler/price_graph.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "compiler/nest_kernel.h"
#include "compiler/planner_options.h"
#include "cost/published.h"
#include "kernels/micro_kernels.h"
#include "ops/decompose.h"
#include "plan/copies.h"
#include "planner/loads.h"
#include "planner/own_storage.h"
#include "support/error.h"

namespace tessera::compiler {
namespace {

constexpr const char* kWhere = "stated kernels";

class GraphPricer {
public:
    GraphPricer(const Graph& graph, std::span<const plan::StatedText> stated, const machine::Machine& machine,
                const PriceOptions& options)
        : graph_(with_own_storage(graph)),
          start_(planning_start(graph_, machine, options.workers, 0)),
          cost_(options.cost),
          stated_(stated) {}

    GraphPrices run() {
        std::vector<plan::StatedKernel> kernels;  // without loads: they share a graph
        std::vector<size_t> numbers;              // of their statements
        for (size_t i = 0; i < stated_.size(); ++i) {
            int64_t loads = 0;
            const std::optional<plan::StatedWithLoads> kernel = read(i, loads);
            if (!kernel) continue;
            if (loads > 0) {
                price_with_loads(i, *kernel);
                continue;
            }
            kernels.push_back(planner::without_loads({&*kernel, 1}).front());
            numbers.push_back(i);
        }
        price(graph_, start_.initial, kernels, numbers);
        std::ranges::stable_sort(priced_, {}, &Priced::statement);
        GraphPrices out{.machine = start_.options.machine,
                        .is_measured = start_.options.costs->is_measured(),
                        .workers = start_.options.workers,
                        .nests = {}};
        for (Priced& each : priced_) out.nests.push_back(std::move(each.nest));
        return out;
    }

private:
    struct Priced {
        size_t statement;
        PricedNest nest;
    };

    static Graph with_own_storage(const Graph& graph) {
        Graph whole = ops::decompose(graph);
        verify(whole, graph.name);
        if (std::optional<Graph> own = planner::with_own_storage(whole)) {
            verify(*own, graph.name);
            return *std::move(own);
        }
        return whole;
    }

    void add(size_t statement, std::string specialisation,
             std::variant<NestPrice, planner::StatedRefusal> verdict) {
        const plan::StatedText& stated = stated_[statement];
        priced_.push_back(
            {statement, {stated.where, stated.nest, std::move(specialisation), std::move(verdict)}});
    }

    /// A statement that cannot be read, or is of another graph, gets a verdict; the others are still priced.
    std::optional<plan::StatedWithLoads> read(size_t statement, int64_t& loads) {
        try {
            plan::StatedWithLoads kernel =
                plan::parse_stated_kernel(stated_[statement], kernels::micro_kernels(), loads);
            planner::check_stated(graph_, start_.initial, planner::without_loads({&kernel, 1}));
            return kernel;
        } catch (const Error& error) {
            add(statement, "",
                planner::StatedRefusal{planner::StatedRefusal::Kind::kForm, lowering::as_refusal(error)});
            return std::nullopt;
        }
    }

    void price_with_loads(size_t statement, const plan::StatedWithLoads& kernel) {
        try {
            const plan::Plan plan = planner::with_loads(graph_, start_.initial, {&kernel, 1});
            price(plan::with_copies(graph_, plan, kWhere), plan, planner::with_copies({&kernel, 1}),
                  {statement});
        } catch (const Error& error) {
            add(statement, "",
                planner::StatedRefusal{planner::StatedRefusal::Kind::kForm, lowering::as_refusal(error)});
        }
    }

    void price(const Graph& graph, const plan::Plan& plan, const std::vector<plan::StatedKernel>& kernels,
               const std::vector<size_t>& statements) {
        for (planner::StatedVerdict& each : planner::price_stated(graph, plan, kernels, start_.options)) {
            const size_t statement = statements[each.kernel];
            if (auto* refusal = std::get_if<planner::StatedRefusal>(&each.verdict))
                add(statement, std::move(each.specialisation), std::move(*refusal));
            else
                add(statement, each.specialisation,
                    parts_of(graph, plan, each.specialisation, std::get<planner::StatedPrice>(each.verdict)));
        }
    }

    NestPrice parts_of(const Graph& graph, const plan::Plan& plan, const std::string& specialisation,
                       const planner::StatedPrice& price) const {
        const cost::CostModel& model = *start_.options.costs;
        NestPrice parts{.nest = plan::print(price.nest),
                        .seconds = price.cost.seconds,
                        .compute = price.cost.compute,
                        .stalls = price.cost.stalls,
                        .levels = cost::traffic_of(price.cost, model, start_.options.workers),
                        .buffers = {},
                        .barrier = price.barrier_seconds,
                        .why_infinite = price.cost.why_infinite};
        for (const cost::Evaluator::Buffer& buffer : price.buffers)
            parts.buffers.push_back(
                {graph[buffer.value].name, model.machine().memory[buffer.level].name, buffer.bytes});
        if (cost_ == machine::PublishedModel::kNncase)
            parts.published = nests::nncase_price(
                std::accumulate(price.cost.levels.begin(), price.cost.levels.end(), 0.0), price.cost.compute);
        else if (cost_)
            parts.published = published(graph, plan, specialisation, price);
        return parts;
    }

    machine::PeakRates rates() const {
        return cost::peak_rates(*start_.options.costs, start_.options.workers);
    }

    /// Counted on the nest alone, which not every operator allows.
    std::variant<nests::PublishedPrice, std::string> published(const Graph& graph, const plan::Plan& plan,
                                                               const std::string& specialisation,
                                                               const planner::StatedPrice& price) const {
        std::set<std::string> tiles;
        for (const cost::Evaluator::Buffer& buffer : price.buffers) tiles.insert(graph[buffer.value].name);
        const auto runs =
            std::ranges::find(plan.specialisations, specialisation, &plan::SpecialisationPlan::name);
        nests::PublishedPrice mean{.model = *cost_, .alpha = 0};
        double weights = 0;
        try {
            for (const cost::WeightedSizes& point : cost::sizes_of(graph, plan, *runs)) {
                const NestKernel found = nest_kernel(graph, price.nest, point.symbols, tiles);
                const auto nest = nests::build_nest(found.kernel, found.nest, found.visible);
                if (const auto* illegal = std::get_if<nests::Illegal>(&nest)) return illegal->reason;
                const nests::Verdict verdict =
                    nests::derive_facts(found.kernel, std::get<nests::Nest>(nest), rates());
                if (const auto* illegal = std::get_if<nests::Illegal>(&verdict)) return illegal->reason;
                const nests::PublishedPrice here =
                    nests::price_published(*cost_, std::get<nests::NestFacts>(verdict),
                                           nests::least_work(found.kernel, found.visible), rates());
                mean.seconds += point.weight * here.seconds;
                mean.memory += point.weight * here.memory;
                mean.compute += point.weight * here.compute;
                mean.alpha += point.weight * here.alpha;
                weights += point.weight;
            }
        } catch (const Error& error) {
            return std::string(error.what());
        }
        if (weights > 0) mean.alpha /= weights;
        return mean;
    }

    const Graph graph_;
    const PlanningStart start_;
    const std::optional<machine::PublishedModel> cost_;
    const std::span<const plan::StatedText> stated_;
    std::vector<Priced> priced_;
};

}  // namespace

GraphPrices price_graph(const Graph& graph, std::span<const plan::StatedText> stated,
                        const machine::Machine& machine, const PriceOptions& options) {
    return GraphPricer(graph, stated, machine, options).run();
}

}  // namespace tessera::compiler
