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

struct ModelSettings {
    int64_t context =
        0;  ///< tokens of the longest sequence, for which memory is set aside; 0: all that the model allows
    int64_t chunk = 0;  ///< most tokens of one step; 0: as many as the code takes
};

/// A compiled language model, ready to run. Moves but does not copy; not to be used by two threads at once.
/// Several models may be open, also of one file, whose weights are then in memory once.
class Model {
public:
    /// Maps the file and loads its code. An artefact is as trusted as a program.
    /// @throws Error if it is damaged, holds no language model, was made for another machine, or does not
    /// allow the settings.
    explicit Model(const std::filesystem::path& artefact, const ModelSettings& settings = {});
    Model(Model&&) noexcept;
    Model& operator=(Model&&) noexcept;
    ~Model();

    const std::string& name() const;
    int64_t vocabulary() const;    ///< width of a row of logits
    int64_t context() const;       ///< tokens of the longest sequence
    int64_t memory_bytes() const;  ///< cache and intermediate buffers; weights are mapped from the file
    void verify_weights() const;   ///< reads all of them. @throws Error if they are damaged

    /// The ids of a prompt, with a BOS in front where the model expects one. With `special`, special tokens
    /// that the text spells, such as <|im_start|>, become their ids; they are text otherwise.
    /// @throws Error if the artefact has no tokenizer.
    std::vector<TokenId> encode(std::string_view prompt, bool special = false) const;
    /// @throws Error if the artefact has no tokenizer, or for an id that it does not have.
    std::string decode(std::span<const TokenId> ids) const;

    /// Continues a prompt in a sequence of its own, until the model ends it or an option does. Text needs a
    /// tokenizer; without one, `on_token` and the ids of the result are what there is.
    /// @throws Error if an option is outside its range, or the prompt is empty or does not fit into the
    /// context.
    Generation generate(std::span<const TokenId> prompt, const GenerateOptions& options = {});
    Generation generate(std::string_view prompt, const GenerateOptions& options = {});

    /// The logits [vocabulary] after each of the ids, in order. A span lives during the call.
    /// @throws Error if they do not fit into the context, or one is not of the vocabulary.
    void logits(std::span<const TokenId> ids, const std::function<void(std::span<const float>)>& on_row);

private:
    struct Contents;
    std::unique_ptr<Contents> contents_;
};

}  // namespace tessera
