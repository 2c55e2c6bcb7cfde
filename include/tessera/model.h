#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/error.h"
#include "tessera/generation.h"

/// Running an artefact.
namespace tessera {

struct BenchCase;
struct BenchSettings;

struct ModelSettings {
    int64_t context = 0;  ///< tokens of the longest sequence, for which memory is set aside; 0: all it allows
    int64_t chunk = 0;    ///< most tokens of one step; 0: as many as the code takes
};

/// An artefact: what it says of itself, and its tokenizer. Its code is not loaded yet. Copies share one.
class ModelFile {
public:
    /// Maps the file. An artefact is as trusted as a program.
    /// @throws Error if it is none, damaged, or holds no language model.
    explicit ModelFile(const std::filesystem::path& artefact);

    const std::string& name() const;
    int64_t vocabulary() const;    ///< width of a row of logits
    int64_t context() const;       ///< tokens of the longest sequence that the code allows
    int64_t workers() const;       ///< threads that compute a step together: part of the compiled plan
    std::string describe() const;  ///< "Qwen3-0.6B, policy default, cache bf16, 2 workers, for host"
    /// What its checkpoint holds and the artefact does not compute, or computes otherwise than the settings
    /// say; to be shown to whoever uses the results.
    const std::vector<std::string>& warnings() const;
    void verify_weights() const;  ///< reads all of them. @throws Error if they are damaged

    /// What running takes: "weights 2.39 GB mapped, cache 28.7 kB per token x 512, ...".
    /// @throws Error if the model does not allow the settings.
    std::string describe_memory(const ModelSettings& settings) const;

    /// The ids of a prompt, with a BOS in front where the model expects one, and never an EOS behind. With
    /// `special`, special tokens that the text spells, such as <|im_start|>, become their ids; they are text
    /// otherwise.
    /// @throws Error if the artefact has no tokenizer, or one that is not supported.
    std::vector<TokenId> encode(std::string_view prompt, bool special = false) const;
    /// @throws Error as encode, and for an id that the tokenizer does not have.
    std::string decode(std::span<const TokenId> ids) const;

private:
    friend class Model;
    friend std::vector<BenchCase> bench(std::span<const ModelFile>, const BenchSettings&);
    struct Contents;
    std::shared_ptr<Contents> contents_;
};

/// The threads that compute the steps of a model together.
struct WorkerStatistics {
    int64_t workers = 1;
    bool lacks_processors = false;  ///< some share one: the results are the same, slowly
    int64_t steps = 0;
    int64_t barriers = 0;  ///< times that all workers have met within steps
};

/// A language model, ready to run. Moves but does not copy; not to be used by two threads at once. Several
/// may be open, also of one file, whose weights are then in memory once.
class Model {
public:
    /// Loads the code, and sets memory aside for the cache.
    /// @throws Error if it was made for another machine, does not allow the settings, or needs more memory
    /// than there is.
    explicit Model(ModelFile file, const ModelSettings& settings = {});
    explicit Model(const std::filesystem::path& artefact, const ModelSettings& settings = {});
    Model(Model&&) noexcept;
    Model& operator=(Model&&) noexcept;
    ~Model();

    const ModelFile& file() const;
    int64_t context() const;       ///< tokens of the longest sequence under the settings
    int64_t memory_bytes() const;  ///< cache and intermediate buffers; weights are mapped from the file

    WorkerStatistics worker_statistics() const;

    /// Continues a prompt in a sequence of its own, until the model ends it or an option does. Without a
    /// tokenizer, `on_token` and the ids of the result are what there is.
    /// @throws Error if an option is outside its range, or the prompt is empty or does not fit into the
    /// context.
    Generation generate(std::span<const TokenId> prompt, const GenerateOptions& options = {});
    /// The same from text, with a tokenizer.
    Generation generate(std::string_view prompt, const GenerateOptions& options = {});

    /// The logits [vocabulary] after each of the ids, in order. A span lives during the call.
    /// @throws Error if there are none, they do not fit into the context, or one is not of the vocabulary.
    void logits(std::span<const TokenId> ids, const std::function<void(std::span<const float>)>& on_row);

private:
    struct Contents;
    std::unique_ptr<Contents> contents_;
};

}  // namespace tessera
