// What the search for layouts loses against the best one: `regret_bench MACHINE.toml INCLUDE CACHE [NAME]`.
// Each product of a block (whose name has NAME in it) is compiled with its weight in every layout that the
// planner and the verifier let pass, and in the one that the search chooses. All are called three times;
// those within twice the fastest, and the choice, are timed nine times in turns. Every call reads a weight
// that was not read for long. One JSON object on stdout.
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
constexpr double kNotRun = 10;
/// A form that takes so much longer than the fastest is left out of the turns.
constexpr double kBrief = 2;

/// Once, with its result as the output: the search drops what nobody needs.
Instance alone(Instance instance) {
    Graph& graph = instance.graph;
    Block& block = graph.blocks.front();
    block.repeat = 1;
    for (Value& value : graph.values)
        if (value.kind == ValueKind::kConstant) value.sources.resize(value.parts());
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
    /// A forced form whose plan is that of the choice.
    bool is_the_choice(size_t i) const { return i > 0 && forms_[i].plan == forms_[0].plan; }

    bool is_run(size_t i) const {
        return forms_[i].why_refused.empty() && !is_the_choice(i) &&
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
        // The weights that were read last are in a cache: the next ones are others, whoever reads them.
        const size_t last = machine_.memory.size() - 1;
        const int64_t stride = (most + 63) / 64 * 64;
        const int64_t copies = std::max<int64_t>(1, working_set(machine_, last, 1, options_) / stride);
        PinnedThreads one(1);
        NearMemory constants(one, copies * stride);
        int64_t next = 0;
        const auto sample = [&](size_t i, double seconds) {
            const auto entry = code_->function<TesseraStepFunction>(cpp::entry_name(forms_[i].program));
            return repeated(
                [&, &own = memory[i], entry](int64_t calls) {
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
        calls_.resize(forms_.size());
        turns_.resize(forms_.size());
        double fastest = 0;
        for (size_t i = 0; i < forms_.size(); ++i) {
            if (!is_run(i)) continue;
            const Sample call = sample(i, 0);
            call();
            for (int n = 0; n < 3; ++n) calls_[i].push_back(call());
            std::sort(calls_[i].begin(), calls_[i].end());
            if (fastest == 0 || calls_[i][1] < fastest) fastest = calls_[i][1];
        }
        std::vector<std::pair<size_t, Sample>> near;
        for (size_t i = 0; i < forms_.size(); ++i)
            if (i == 0 || (is_run(i) && calls_[i][1] <= kBrief * fastest))
                near.emplace_back(i, sample(i, options_.seconds));
        for (int64_t turn = 0; turn < options_.samples; ++turn) {
                        for (const auto& [i, taken] : near) turns_[i].push_back(taken());
            std::rotate(near.begin(), near.begin() + 1, near.end());
        }
    }

    Json as_json(size_t i) const {
        const WeightForm& form = forms_[i];
        Json json;
        json["layout"] = form.layout;
        if (!form.why_refused.empty()) {
            json["refused"] = form.why_refused;
            return json;
        }
        if (is_the_choice(i)) {
            json["is_the_choice"] = true;
            return json;
        }
        json["kernels"] = form.kernels;

        json[turns_[i].empty() ? "call_seconds" : "turn_seconds"] = turns_[i].empty() ? calls_[i] : turns_[i];
        return json;
    }

    const Instance& instance_;
    const Machine& machine_;
    const MeasureOptions& options_;
    std::vector<WeightForm> forms_;  ///< the choice, then the forced ones
    std::unique_ptr<SharedLibrary> code_;
    std::vector<std::vector<double>> calls_;  ///< seconds of three calls, ascending; none if it was not run
    std::vector<std::vector<double>> turns_;  ///< of a call, turn by turn; none if it is far from the fastest
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
