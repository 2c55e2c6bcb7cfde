#include "compiler/price_graph.h"

#include <algorithm>
#include <numeric>

#include "compiler/planner_options.h"
#include "cost/published.h"
#include "ir/ops/decompose.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/plan/copies.h"
#include "search/planner/loads.h"
#include "search/planner/own_storage.h"
#include "support/error.h"

namespace tessera::compiler {
namespace {

constexpr const char* kWhere = "stated kernels";

/// A published model's own parts of what the evaluator priced by it.
machine::PublishedPrice published_price(machine::PublishedModel model, const cost::Evaluation& cost) {
    machine::PublishedPrice price{.model = model,
                                  .seconds = cost.seconds,
                                  .memory = std::accumulate(cost.levels.begin(), cost.levels.end(), 0.0),
                                  .compute = cost.compute};
    if (model == machine::PublishedModel::kMcfuser)
        price.alpha = price.seconds / (price.memory + price.compute);
    return price;
}

class GraphPricer {
public:
    GraphPricer(const Graph& graph, std::span<const plan::StatedText> stated, const machine::Machine& machine,
                const PriceOptions& options)
        : graph_(with_own_storage(graph)),
          start_(planning_start(graph_, machine, options.workers, 0)),
          cost_(options.cost),
          stated_(stated) {
        if (!cost_) return;
        by_published_ = start_.options;
        by_published_->published = cost::published_on(*cost_, *start_.options.costs, start_.options.workers);
    }

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
        std::vector<plan::StatedKernel> found;  // of the legal ones, without anything open
        std::vector<NestPrice*> prices;
        std::vector<planner::StatedVerdict> verdicts =
            planner::price_stated(graph, plan, kernels, start_.options);
        priced_.reserve(priced_.size() + verdicts.size());
        for (planner::StatedVerdict& each : verdicts) {
            const size_t statement = statements[each.kernel];
            if (auto* refusal = std::get_if<planner::StatedRefusal>(&each.verdict)) {
                add(statement, std::move(each.specialisation), std::move(*refusal));
                continue;
            }
            auto& price = std::get<planner::StatedPrice>(each.verdict);
            add(statement, each.specialisation, parts_of(graph, price));
            prices.push_back(&std::get<NestPrice>(priced_.back().nest.verdict));
            found.push_back({stated_[statement].where, each.specialisation, std::move(price.nest)});
        }
        if (by_published_) add_published(graph, plan, found, prices);
    }

    /// The same nests, as the search for kernels prices them with `compile --cost`.
    void add_published(const Graph& graph, const plan::Plan& plan,
                       const std::vector<plan::StatedKernel>& found,
                       const std::vector<NestPrice*>& prices) const {
        for (const planner::StatedVerdict& each : planner::price_stated(graph, plan, found, *by_published_)) {
            const auto* price = std::get_if<planner::StatedPrice>(&each.verdict);
            TESSERA_CHECK(price, "{} is legal by one price alone", found[each.kernel].where);
            if (price->cost.why_infinite.empty())
                prices[each.kernel]->published = published_price(*cost_, price->cost);
        }
    }

    NestPrice parts_of(const Graph& graph, const planner::StatedPrice& price) const {
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
        return parts;
    }

    const Graph graph_;
    const PlanningStart start_;
    const std::optional<machine::PublishedModel> cost_;
    std::optional<planner::PlannerOptions> by_published_;  ///< with the model's price, if it is asked for
    const std::span<const plan::StatedText> stated_;
    std::vector<Priced> priced_;
};

}  // namespace

GraphPrices price_graph(const Graph& graph, std::span<const plan::StatedText> stated,
                        const machine::Machine& machine, const PriceOptions& options) {
    return GraphPricer(graph, stated, machine, options).run();
}

}  // namespace tessera::compiler
