#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tessera/model.h"

/// How fast models run, and how fast this machine could run them.
namespace tessera {

/// The work of steps, for any code: derived from the definitions of the model's operators. Bytes are those of
/// weights and cache, each element once in a step. Values between two operators may stay in a near memory, so
/// no program moves fewer bytes, and a good one hardly more.
struct StepWork {
    int64_t flops = 0;          ///< all arithmetic, decoding of quantised weights included
    int64_t multiply_adds = 0;  ///< operations of sums alone, two for each product
    int64_t special = 0;        ///< exp, rsqrt and their like
    int64_t weight_bytes = 0;   ///< summed over the steps
    int64_t cache_bytes_read = 0;
    int64_t cache_bytes_written = 0;

    int64_t bytes() const { return weight_bytes + cache_bytes_read + cache_bytes_written; }
    StepWork& operator+=(const StepWork& other);
    bool operator==(const StepWork&) const = default;
};

struct BenchSettings {
    int64_t prefill = 512;  ///< tokens of a prompt that is added in as few steps as possible; 0: none
    int64_t decode = 64;    ///< tokens that are computed one by one; 0: none
    std::vector<int64_t> depths{0};  ///< tokens in the cache before them, each depth once; at least one
    int64_t repeat = 9;              ///< times that each case is timed, at least 1
    int64_t chunk = 0;               ///< most tokens of one step; 0: as many as the code takes
    bool limits = false;             ///< measures the machine, too, before each time of a model
    bool phases = false;             ///< times the phases of every case too, in runs that do not count
    /// Measured description of a machine, by which the times are predicted; empty: no predictions.
    std::filesystem::path machine = {};
    std::function<void(int64_t done, int64_t all)> on_progress = {};  ///< in parts of the whole; may be empty
    std::function<bool()> should_stop = {};  ///< asked between two times: true ends the bench there
};

/// Rates of the machine when nothing else is done, by as many threads as the model has workers.
struct HostLimits {
    double bytes_per_second = 0;          ///< reading a buffer that no cache holds
    double multiply_adds_per_second = 0;  ///< operations of F32 in registers: two for each lane
};

/// A kernel of the plan in all steps of a case together: what it computes, the barrier before it, and the
/// exchange between ranks behind it. The worker counts that has most to do between two barriers, and at a
/// barrier the one that arrives last. Predictions are 0 without `BenchSettings::machine`, infinite where
/// nothing is known.
struct BenchPhase {
    std::string specialisation, block, kernel;
    int64_t runs = 0;      ///< repetitions of the block count
    int64_t barriers = 0;  ///< as the workers have counted them
    double seconds = 0, predicted_seconds = 0;
    double barrier_seconds = 0, predicted_barrier_seconds = 0;
    double exchange_seconds = 0, predicted_exchange_seconds = 0;
};

/// Prefill or decode of one model at one depth.
struct BenchCase {
    enum class Kind { kPrefill, kDecode };

    size_t model = 0;  ///< position in the models that were given
    Kind kind = Kind::kPrefill;
    int64_t tokens = 0;            ///< that are timed together
    int64_t depth = 0;             ///< tokens in the cache before them
    StepWork work;                 ///< of all tokens together
    std::vector<double> seconds;   ///< of all tokens together, for each repetition
    double predicted_seconds = 0;  ///< of all tokens; 0 without `BenchSettings::machine`, infinite if unknown
    std::vector<HostLimits> limits;  ///< just before each repetition; empty without `BenchSettings::limits`
    std::vector<BenchPhase> phases;  ///< medians over the repetitions; empty without `BenchSettings::phases`
};

/// Times every model at every depth, lowest first. The cache is filled to a depth once, with made-up keys and
/// values; each case runs once untimed, and the tokens that a repetition adds are forgotten again. Models,
/// prefill and decode alternate within a repetition, so disturbances of the machine affect them alike. Tokens
/// are fixed: nothing is drawn from the logits.
/// @return the cases, by depth. If `should_stop` ended the bench, later depths may be missing, and cases of
/// the last depth have fewer repetitions: equally many or one more, perhaps none.
/// @throws Error if a setting is outside its range, if nothing was measured of `machine`, if the code of a
/// model is too old to tell its phases, or if it does not allow depth and tokens, cannot be loaded, or needs
/// more memory than there is.
std::vector<BenchCase> bench(std::span<const ModelFile> models, const BenchSettings& settings);

/// Lower quartile, median and upper quartile, interpolated linearly between neighbouring values.
struct Quartiles {
    double low = 0;
    double median = 0;
    double high = 0;
};
/// @pre `values` is not empty
Quartiles quartiles(std::vector<double> values);

}  // namespace tessera
