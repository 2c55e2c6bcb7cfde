#include "distribution/spmd/interpret_ranks.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "distribution/boxes.h"
#include "ir/body_value.h"
#include "support/error.h"

namespace tessera::spmd {
namespace {

using distribution::Form;
using facts::Range;

/// Calls visit(position in the part, position in the whole) for all elements of the ranges.
template <typename Visit>
void for_each_element(std::span<const int64_t> shape, std::span<const Range> ranges, const Visit& visit) {
    std::vector<int64_t> at;
    for (const Range& range : ranges) {
        if (range.empty()) return;
        at.push_back(range.first);
    }
    for (size_t part = 0;; ++part) {
        size_t whole = 0;
        for (size_t a = 0; a < at.size(); ++a)
            whole = whole * static_cast<size_t>(shape[a]) + static_cast<size_t>(at[a]);
        visit(part, whole);
        size_t a = at.size();
        for (; a > 0; --a) {
            if (++at[a - 1] < ranges[a - 1].last) break;
            at[a - 1] = ranges[a - 1].first;
        }
        if (a == 0) return;
    }
}

/// The meetings of the devices. The last one to come exchanges for all.
class Meeting {
public:
    Meeting(const Graph& graph, const ModelDistribution& plan, const std::map<std::string, int64_t>& symbols)
        : graph_(graph),
          plan_(plan),
          placement_(plan.model.problem.placement),
          symbols_(symbols),
          devices_(all_devices(placement_)),
          given_(devices_.size()),
          made_(devices_.size()) {
        for (size_t v = 0; v < plan.model.places.size(); ++v)
            values_[graph[plan.model.places[v].value].name].push_back(static_cast<int>(v));
    }

    TensorData exchange(size_t rank, const Node& node, const TensorData& data) {
        std::unique_lock lock(mutex_);
        if (failed_) throw Failed{};
        if (arrived_ == 0) node_ = node;
        if (node_.name != node.name) {
            fail();
            throw Error(graph_.name, node.name,
                        fmt::format("is a box where another device is at {}", node_.name));
        }
        given_[rank] = data;
        if (++arrived_ == devices_.size()) {
            arrived_ = 0;
            try {
                exchange_all();
            } catch (...) {
                fail();
                throw;
            }
            ++round_;
            changed_.notify_all();
        } else {
            const size_t round = round_;
            changed_.wait(lock, [&] { return round_ != round || failed_; });
            if (round_ == round) throw Failed{};
        }
        return std::move(made_[rank]);
    }

    struct Failed {};  ///< thrown where another device has failed

    void fail() {
        failed_ = true;
        changed_.notify_all();
    }
    void fail_locked() {
        const std::lock_guard lock(mutex_);
        fail();
    }

private:
    /// The box of the plan that the composite stands for.
    const distribution::Box& box() const {
        const auto& attributes = std::get<Composite>(node_.op).attributes;
        const auto& value = std::get<std::string>(attributes.at("value"));
        for (const int v : values_.at(value))
            for (const distribution::Box& each : plan_.found.plan.values[static_cast<size_t>(v)].boxes)
                if (distribution::text(each.from) == std::get<std::string>(attributes.at("from")) &&
                    distribution::text(each.to) == std::get<std::string>(attributes.at("to")))
                    return each;
        TESSERA_CHECK(false, "no box {} is in the plan", node_.name);
    }

    void exchange_all() {
        const distribution::Box& each = box();
        const TensorType& type =
            graph_[*graph_.find(std::get<std::string>(std::get<Composite>(node_.op).attributes.at("value")))]
                .type;
        const std::vector<int64_t> shape = evaluate(type.shape, symbols_);
        const auto level = static_cast<size_t>(each.level);
        for (size_t first = 0; first < devices_.size(); ++first) {
            if (devices_[first][level] != 0) continue;
            std::vector<size_t> group;
            for (size_t rank = 0; rank < devices_.size(); ++rank) {
                std::vector<int64_t> device = devices_[rank];
                device[level] = 0;
                if (device == devices_[first]) group.push_back(rank);
            }
            exchange_group(each, type, shape, group);
        }
    }

    void exchange_group(const distribution::Box& each, const TensorType& type,
                        const std::vector<int64_t>& shape, const std::vector<size_t>& group) {
        size_t elements = 1;
        for (const int64_t extent : shape) elements *= static_cast<size_t>(extent);
        std::vector<double> whole(elements);
        const facts::Sbp& entry = each.from[static_cast<size_t>(each.level)];
        if (entry.monoid == Monoid::kSoftmaxSum)
            throw Error(graph_.name, node_.name,
                        "folds partial results of softmax_sum, which need each other",
                        "distribute it for execution");
        for (const size_t rank : group) {
            const auto ranges = held_ranges(type, each.from, placement_, devices_[rank], symbols_);
            const bool folds = entry.kind == facts::Sbp::Kind::kPartial && rank != group.front();
            for_each_element(shape, ranges, [&](size_t part, size_t at) {
                const double value = given_[rank].values[part];
                whole[at] = folds ? round_to(type.element, fold(entry.monoid, whole[at], value)) : value;
            });
        }
        for (const size_t rank : group) {
            // A slice needs the rank's own copy alone: others have equal ones only if the program is right.
            const auto ranges = held_ranges(type, each.to, placement_, devices_[rank], symbols_);
            made_[rank] = {{}, {}};
            for (const Range& range : ranges) made_[rank].shape.push_back(range.size());
            for_each_element(shape, ranges,
                             [&](size_t, size_t at) { made_[rank].values.push_back(whole[at]); });
        }
    }

    const Graph& graph_;
    const ModelDistribution& plan_;
    const distribution::Placement& placement_;
    const std::map<std::string, int64_t>& symbols_;
    const std::vector<std::vector<int64_t>> devices_;
    std::map<std::string, std::vector<int>> values_;  ///< by name in the whole graph
    std::mutex mutex_;
    std::condition_variable changed_;
    Node node_;
    std::vector<TensorData> given_, made_;
    size_t arrived_ = 0, round_ = 0;
    bool failed_ = false;
};

}  // namespace

GraphCall local_call(const Graph& graph, const ModelDistribution& plan, const LocalGraph& local,
                     const GraphCall& call, std::span<const int64_t> device) {
    GraphCall own{.symbols = call.symbols, .inputs = call.inputs, .constant = {}, .states = {}};
    own.constant = [&graph, &local, &call](const tessera::Value& value, int64_t repetition) {
        const ConstantPart& part = local.constants.at(value.name);
        return part_of_data(call.constant(graph[part.whole], repetition), part.ranges);
    };
    const distribution::Placement& placement = plan.model.problem.placement;
    for (const Block& block : graph.blocks)
        for (const StateUpdate& state : block.states) {
            const int value = plan.model.numbers.at({state.after.index, -1});
            const auto ranges =
                held_ranges(graph[state.after].type, plan.found.plan.values[static_cast<size_t>(value)].made,
                            placement, device, call.symbols);
            const std::string& name = graph[state.before].name;
            for (const TensorData& whole : call.states.at(name))
                own.states[name].push_back(part_of_data(whole, ranges));
        }
    return own;
}

TensorData part_of_data(const TensorData& whole, std::span<const Range> ranges) {
    TensorData part;
    for (const Range& range : ranges) part.shape.push_back(range.size());
    for_each_element(whole.shape, ranges,
                     [&](size_t, size_t at) { part.values.push_back(whole.values[at]); });
    return part;
}

std::vector<GraphResult> interpret_ranks(const Graph& graph, const ModelDistribution& plan,
                                         const std::vector<LocalGraph>& locals, const GraphCall& call) {
    const auto devices = all_devices(plan.model.problem.placement);
    TESSERA_CHECK(locals.size() == devices.size());
    Meeting meeting(graph, plan, call.symbols);
    std::vector<GraphResult> results(locals.size());
    std::vector<std::exception_ptr> errors(locals.size());
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < locals.size(); ++rank)
        threads.emplace_back([&, rank] {
            try {
                GraphCall own = local_call(graph, plan, locals[rank], call, devices[rank]);
                own.composite = [&](const Node& node, const std::vector<TensorData>& operands) {
                    return std::vector<TensorData>{meeting.exchange(rank, node, operands.front())};
                };
                results[rank] = interpret_graph(locals[rank].graph, own);
            } catch (const Meeting::Failed&) {
                // the one that failed says why
            } catch (...) {
                errors[rank] = std::current_exception();
                meeting.fail_locked();
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
    return results;
}

}  // namespace tessera::spmd
