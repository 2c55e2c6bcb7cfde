// What the search for layouts loses against the best one: `regret_bench MACHINE.toml INCLUDE CACHE [NAME]`.
// Each product of a block (whose name has NAME in it) is compiled with its weight in every layout that the
// planner and the verifier let pass, and in the one that the search chooses. All are run once; those within
// three times the fastest, and the choice, nine times in turns. One JSON object on stdout.
#include <algorithm>
#include <cstdio>
#include <memory>

#include <nlohmann/json.hpp>

#include "codegen/cpp/emit.h"
#include "forms.h"
#include "instances.h"
#include "machine/machine_text.h"
#include "measure/bandwidth.h"
#include "measure/call_memory.h"
#include "measure/near_memory.h"
#include "measure/probe_code.h"
#include "measure/samples.h"
#include "runtime/shared_library.h"
#include "support/error.h"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

/// A form that is estimated to take so much longer than the choice is not run.
constexpr double kNotRun = 30;
/// A form that takes so much longer than the fastest is run once.
constexpr double kOnce = 3;

/// Once, with its result as the output: the search drops what nobody needs.
Instance alone(Instance instance) {
    Graph& graph = instance.graph;
    Block& block = graph.blocks.front();
    block.repeat = 1;
    for (Value& value : graph.values)
        if (value.kind == ValueKind::kConstant) value.sources.resize(1);
    graph.outputs = {block.nodes.front().results.front()};
    return instance;
}

/// Those of a block of Qwen3-0.6B: query, key and value, output, gate and up, down.
std::vector<Instance> products(const Machine& machine) {
    constexpr ProductShape kShapes[] = {{"Qwen3-0.6B", 2048, 1024},
                                        {"Qwen3-0.6B", 1024, 1024},
                                        {"Qwen3-0.6B", 1024, 2048},
                                        {"Qwen3-0.6B", 3072, 1024},
                                        {"Qwen3-0.6B", 1024, 3072}};
    const std::pair<ops::WeightFormat, ops::Activation> kinds[] = {
        {ops::WeightFormat::kBF16, {ElementType::kBF16}}, {ops::WeightFormat::kF32, {}}};
    std::vector<Instance> all;
    for (const auto& [weight, input] : kinds)
        for (const ProductShape& shape : kShapes)
            for (const int64_t rows : {1, 8, 512})
                all.push_back(alone(product(machine, weight, input, rows, shape)));
    return all;
}

class Regret {
public:
    Regret(const Instance& instance, const Machine& machine, const MeasureOptions& options)
        : instance_(instance), machine_(machine), options_(options) {
        const PlannerOptions planning = planner_options(machine, 1);
        verify(instance.graph, instance.name);
        forms_.push_back(chosen_form(instance.graph, planning, 0));
        if (!forms_[0].why_refused.empty()) throw Error(instance.name, "the choice", forms_[0].why_refused);
        for (const Layout& layout : layouts_of_a_weight(machine))
            forms_.push_back(forced_form(instance.graph, layout, planning, forms_.size()));
    }

    Json run() {
        Json json;
        json["name"] = instance_.name;
        compile();
        measure();
        for (size_t i = 0; i < forms_.size(); ++i) json[i == 0 ? "chosen" : "forced"].push_back(as_json(i));
        return json;
    }

private:
    bool is_run(size_t i) const {
        return forms_[i].why_refused.empty() &&
               forms_[i].estimated_seconds <= kNotRun * forms_[0].estimated_seconds;
    }

    void compile() {
        std::vector<Program> programs;
        for (size_t i = 0; i < forms_.size(); ++i)
            if (is_run(i)) programs.push_back(forms_[i].program);
        code_ = std::make_unique<SharedLibrary>(
            compile_probe(cpp::emit("forms", programs), machine_, options_), instance_.name);
    }

    void measure() {
        int64_t most = 64;
        std::vector<CallMemory> memory;
        for (const WeightForm& form : forms_) {
            most = std::max(most, form.constants_bytes);
            memory.emplace_back(instance_.graph, form.arena_bytes);
        }
        // As in a model: each call reads a weight that was not read for long.
        const size_t last = machine_.memory.size() - 1;
        const int64_t stride = (most + 63) / 64 * 64;
        const int64_t copies = std::max<int64_t>(1, working_set(machine_, last, 1, options_) / stride);
        PinnedThreads one(1);
        NearMemory constants(one, copies * stride);
        const auto sample = [&](size_t i, double seconds) {
            const auto entry = code_->function<TesseraStepFunction>(cpp::entry_name(forms_[i].program));
            return repeated(
                [&one, &constants, &own = memory[i], entry, copies, stride,
                 next = int64_t{0}](int64_t calls) mutable {
                    return one.seconds([&](int64_t) {
                        for (int64_t call = 0; call < calls; ++call) {
                            const TesseraStep step = own.step(constants.of(0) + next * stride);
                            entry(&step);
                            next = (next + 1) % copies;
                        }
                    });
                },
                seconds);
        };
        taken_.resize(forms_.size());
        double fastest = 0;
        for (size_t i = 0; i < forms_.size(); ++i) {
            if (!is_run(i)) continue;
            taken_[i] = {sample(i, 0)()};
            if (fastest == 0 || taken_[i][0] < fastest) fastest = taken_[i][0];
        }
        std::vector<size_t> near;
        std::vector<Sample> samples;
        for (size_t i = 0; i < forms_.size(); ++i) {
            if (i > 0 && (taken_[i].empty() || taken_[i][0] > kOnce * fastest)) continue;
            near.push_back(i);
            samples.push_back(sample(i, options_.seconds));
        }
        const auto all = samples_in_turns(samples, options_);
        for (size_t i = 0; i < near.size(); ++i) taken_[near[i]] = all[i];
    }

    Json as_json(size_t i) const {
        const WeightForm& form = forms_[i];
        Json json;
        json["layout"] = form.layout;
        if (!form.why_refused.empty()) {
            json["refused"] = form.why_refused;
            return json;
        }
        json["plan"] = form.plan;

        json["measured_seconds"] = taken_[i];
        return json;
    }

    const Instance& instance_;
    const Machine& machine_;
    const MeasureOptions& options_;
    std::vector<WeightForm> forms_;  ///< the choice, then the forced ones
    std::unique_ptr<SharedLibrary> code_;
    std::vector<std::vector<double>> taken_;  ///< seconds of a step, ascending; none where it was not run
};

Json run(const Machine& machine, const MeasureOptions& options, const std::string& filter) {
    Json json;
    json["machine"] = print_machine(machine);
    for (const Instance& instance : products(machine)) {
        if (instance.name.find(filter) == std::string::npos) continue;
        std::fprintf(stderr, "\r%-60s", instance.name.c_str());
        json["instances"].push_back(Regret(instance, machine, options).run());
    }
    std::fprintf(stderr, "\n");
    return json;
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
    using namespace tessera;
    if (argc != 4 && argc != 5) {
        std::fprintf(stderr, "usage: regret_bench MACHINE.toml INCLUDE CACHE [NAME]\n");
        return 2;
    }
    try {
        const Machine machine = read_machine(argv[1]);
        if (!is_measured(machine))
            throw Error(argv[1], "", "has no measurements", "write it with `tessera machine --measure`");
        const MeasureOptions options{.seconds = 0.02,
                                     .include_directory = argv[2],
                                     .cache_directory = argv[3],
                                     .search_path = "/usr/local/bin:/usr/bin:/bin"};
        std::printf("%s\n", run(machine, options, argc == 5 ? argv[4] : "").dump(1).c_str());
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
