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

/// What steps have to do, whatever code does it: derived from the definitions of the model's operators. Bytes
/// are those of weights and cache, each element once in a step; what lies between two operators may stay in a
/// near memory, so no program moves fewer bytes and a good one hardly more.
struct StepWork {
    int64_t flops = 0;          ///< all arithmetic, that which decodes quantised weights included
    int64_t multiply_adds = 0;  ///< operations of sums alone, two for each product: as matrix products count
    int64_t special = 0;        ///< exp, rsqrt and their like
    int64_t weight_bytes = 0;
    int64_t cache_bytes_read = 0;
    int64_t cache_bytes_written = 0;

    int64_t bytes() const { return weight_bytes + cache_bytes_read + cache_bytes_written; }
    StepWork& operator+=(const StepWork& other);
    bool operator==(const StepWork&) const = default;
};

struct BenchSettings {
    int64_t prefill = 512;               ///< tokens of a prompt that is computed at once; 0: none is timed
    int64_t decode = 64;                 ///< tokens that are computed one by one; 0: none are timed
    std::vector<int64_t> depths{0};      ///< tokens in the cache before them
    int64_t repeat = 9;                  ///< times that each is timed
    int64_t chunk = 0;                   ///< most tokens of one step; 0: as many as the code takes
    bool limits = false;                 ///< times the machine, too, before each time of a model
    std::filesystem::path machine = {};  ///< predicts the times: a measured description; may be empty
    std::function<void(int64_t done, int64_t all)> on_progress = {};  ///< in parts of the whole; may be empty
    std::function<bool()> should_stop = {};  ///< asked between two times: true ends the bench there
};

/// Rates of the machine when nothing else is done, by as many threads as the model has workers.
struct HostLimits {
    double bytes_per_second = 0;          ///< reading a buffer that no cache holds
    double multiply_adds_per_second = 0;  ///< of F32 in registers, two for each instruction and lane
};

/// One thing that was timed, on one model.
struct BenchCase {
    enum class Kind { kPrefill, kDecode };

    size_t model = 0;  ///< position in the models that were given
    Kind kind = Kind::kPrefill;
    int64_t tokens = 0;
    int64_t depth = 0;
    StepWork work;                   ///< of all its tokens together
    std::vector<double> seconds;     ///< of all its tokens together, for each repetition
    double predicted_seconds = 0;    ///< likewise; 0 without `BenchSettings::machine`, infinite if not known
    std::vector<HostLimits> limits;  ///< likewise, just before; empty without `BenchSettings::limits`
};

/// Times every model at every depth. The cache is filled to a depth once; what a repetition has added is then
/// forgotten. Models, prefill and decode alternate within a repetition, so that what disturbs the machine
/// disturbs them alike. Nothing is drawn from the logits: tokens are fixed.
/// @return fewer repetitions than wanted, of all cases equally many or one more, if `should_stop` said so.
/// @throws Error if a setting is outside its range, nothing was measured of the machine, or a model does not
/// allow depth and tokens, cannot be loaded, or needs more memory than there is.
std::vector<BenchCase> bench(std::span<const ModelFile> models, const BenchSettings& settings);

/// What a sorted half has above and below it; between two values in proportion, as most programs do.
struct Quartiles {
    double low = 0;
    double median = 0;
    double high = 0;
};
/// @pre there are values
Quartiles quartiles(std::vector<double> values);

}  // namespace tessera
