#include "cli/bench_phases.h"

#include <cmath>

#include <fmt/core.h>

#include "support/printable.h"

namespace tessera::cli {
namespace {

constexpr double kMicro = 1e6;

/// Rows of the table, and the errors of all that was predicted.
class PhaseTable {
public:
    explicit PhaseTable(const BenchCase& one) : case_(one) {
        for (const BenchPhase& phase : one.phases)
            all_ += phase.seconds + phase.barrier_seconds + phase.exchange_seconds;
    }

    std::string text() {
        text_ = fmt::format("\n{}, by phase\n  {:>9} {:>10} {:>10} {:>7} {:>7}  kernel\n", name_of(case_),
                            "runs", "us a run", "predicted", "ratio", "of all");
        BenchPhase barriers;
        for (const BenchPhase& phase : case_.phases) {
            const std::string name = fmt::format("{} {} {}", phase.specialisation, printable(phase.block),
                                                 printable(phase.kernel));
            row(name, phase.runs, phase.seconds, phase.predicted_seconds);
            if (phase.exchange_seconds > 0)
                row(name + ", exchange", phase.runs, phase.exchange_seconds,
                    phase.predicted_exchange_seconds);
            barriers.barriers += phase.barriers;
            barriers.barrier_seconds += phase.barrier_seconds;
            barriers.predicted_barrier_seconds += phase.predicted_barrier_seconds;
        }
        if (barriers.barriers > 0)
            row("barriers", barriers.barriers, barriers.barrier_seconds, barriers.predicted_barrier_seconds);
        if (!errors_.empty()) {
            const Quartiles errors = quartiles(errors_);
            text_ += fmt::format("  off by {:.0f} % in the median, {:.0f} % in three of four\n",
                                 100 * errors.median, 100 * errors.high);
        }
        return text_;
    }

private:
    void row(const std::string& name, int64_t runs, double seconds, double predicted) {
        const double each = kMicro / static_cast<double>(runs);
        const bool is_known = predicted > 0 && std::isfinite(predicted) && seconds > 0;
        if (is_known) errors_.push_back(std::abs(predicted / seconds - 1));
        text_ += fmt::format("  {:>9} {:>10.3f} {:>10} {:>7} {:>5.1f} %  {}\n", runs, each * seconds,
                             is_known ? fmt::format("{:.3f}", each * predicted) : "",
                             is_known ? fmt::format("{:.2f}", predicted / seconds) : "", 100 * seconds / all_,
                             name);
    }

    const BenchCase& case_;
    double all_ = 0;
    std::vector<double> errors_;
    std::string text_;
};

}  // namespace

std::string bench_phases(std::span<const BenchedModel> models, std::span<const BenchCase> cases) {
    std::string text;
    for (size_t m = 0; m < models.size(); ++m)
        for (const BenchCase& one : cases) {
            if (one.model != m || one.phases.empty()) continue;
            if (models.size() > 1) text += fmt::format("\n{}", printable(models[m].file));
            text += PhaseTable(one).text();
        }
    return text;
}

}  // namespace tessera::cli
