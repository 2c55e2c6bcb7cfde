// How fast the compute units are, and how much of that is left when a factor comes from further out. The fed
// peak is that of the register block that micro-kernels are made of:
//
//     C[rows, n] += A[rows, k] B[n, k]     A and the sums are near; B is read once, from its level

#include "compiler/measure/peaks.h"

#include <algorithm>
#include <cmath>

#include "compiler/measure/bandwidth.h"
#include "compiler/measure/near_memory.h"
#include "compiler/measure/samples.h"
#include "compiler/measure/unit_code.h"

namespace tessera::measure {
namespace {

struct UnitTrial {
    size_t unit;
    UnitProbe probe;
    std::string level;
    double operations;  ///< of one call
};

/// The longest k, a power of two, with which A and one panel of B take three quarters of the innermost level.
int64_t depth_of_panel(const UnitProbe& probe, const machine::MemoryLevel& innermost) {
    const int64_t bytes = (probe.rows + probe.groups * probe.lanes) * probe.element_bytes;
    int64_t k = 64;
    while (k < 4096 && 2 * k * bytes <= innermost.capacity_bytes / 4 * 3) k *= 2;
    return k;
}

class UnitTrials {
public:
    UnitTrials(const machine::Machine& machine, const runtime::SharedLibrary& code,
               const MeasureOptions& options)
        : machine_(machine), code_(code), options_(options), memory_(one_, buffer_bytes(), options) {}

    void add_registers(size_t unit, const UnitProbe& probe) {
        constexpr int64_t kSteps = 256;
        const auto run = code_.function<RegisterFunction>(register_function(probe));
        add({unit, probe, "registers", probe.register_operations(kSteps)}, [run] { run(kSteps); });
    }

    void add_fed(size_t unit, const UnitProbe& probe, size_t level) {
        const int64_t bytes = working_set(machine_, level, 1, options_);
        const int64_t k = depth_of_panel(probe, machine_.memory.front());
        const int64_t panel = probe.groups * probe.lanes;
        const int64_t ring = level == 0 ? 1 : bytes / (panel * k * probe.element_bytes);
        const int64_t panels =
            level == 0 ? 1 : bytes_of_call(bytes, options_) / (panel * k * probe.element_bytes);
        if (bytes == 0 || panels == 0 || !memory_.are_filled()) return;
        const int64_t n = panels * panel;
        // C of one panel suffices: it is written again and again, so that B alone comes from far.
        const auto run = code_.function<FedFunction>(fed_function(probe));
        const char* const a = memory_.of(0);
        const char* const b = a + probe.rows * k * probe.element_bytes / kAlignment * kAlignment + kAlignment;
        sums_.resize(std::max(sums_.size(), static_cast<size_t>(probe.rows * panel)));
        const int64_t panel_bytes = panel * k * probe.element_bytes;
        add({unit, probe, machine_.memory[level].name, probe.fed_operations(n, k)}, [=, this] {
            const int64_t first = next_++ % (ring / panels) * panels;
            for (int64_t p = first; p < first + panels; ++p)
                run(a, b + p * panel_bytes, sums_.data(), panel, k);
        });
    }

    void write_peaks(machine::Machine& machine) const {
        const std::vector<double> seconds = quartiles_in_turns(samples_, options_);
        for (size_t i = 0; i < trials_.size(); ++i) {
            if (!std::isfinite(seconds[i])) continue;
            machine.units[trials_[i].unit].peaks.push_back(
                {.level = trials_[i].level,
                 .operations_per_second = two_digits(trials_[i].operations / seconds[i])});
        }
    }

private:
    static constexpr int64_t kAlignment = 4096;

    /// Size of B for the main memory, and of A in front of it.
    int64_t buffer_bytes() const {
        int64_t most = 0;
        for (size_t level = 0; level < machine_.memory.size(); ++level)
            most = std::max(most, working_set(machine_, level, 1, options_));
        return most + (int64_t{1} << 20);
    }

    void add(UnitTrial trial, std::function<void()> call) {
        trials_.push_back(std::move(trial));
        samples_.push_back(repeated(
            [this, call = std::move(call)](int64_t calls) {
                return one_.seconds([&](int64_t) {
                    for (int64_t i = 0; i < calls; ++i) call();
                });
            },
            options_.seconds));
    }

    const machine::Machine& machine_;
    const runtime::SharedLibrary& code_;
    const MeasureOptions& options_;
    PinnedThreads one_{1};
    NearMemory memory_;
    std::vector<float> sums_;
    int64_t next_ = 0;  ///< counts the calls of all trials, which read one part of their memory after another
    std::vector<UnitTrial> trials_;
    std::vector<Sample> samples_;
};

}  // namespace

void measure_peaks(machine::Machine& machine, const runtime::SharedLibrary& code,
                   const MeasureOptions& options) {
    for (machine::ComputeUnit& unit : machine.units) unit.peaks.clear();
    if (options.is_over && options.is_over()) return;  // before buffers are filled
    UnitTrials trials(machine, code, options);
    for (size_t unit = 0; unit < machine.units.size(); ++unit) {
        const auto probe = probe_of(machine.units[unit]);
        if (!probe) continue;
        trials.add_registers(unit, *probe);
        for (size_t level = 0; level < machine.memory.size(); ++level) trials.add_fed(unit, *probe, level);
    }
    trials.write_peaks(machine);
}

}  // namespace tessera::measure
