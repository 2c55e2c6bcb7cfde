#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/chat.h"
#include "tessera/embedding.h"
#include "tessera/error.h"
#include "tessera/generation.h"

/// Running an artefact.
namespace tessera {

namespace runtime {
class Communicator;
}
struct BenchCase;
struct BenchSettings;
struct OpenSettings;

struct ModelSettings {
    /// Tokens of the longest sequence, for which memory is reserved; 0: as many as the model allows.
    int64_t context = 0;
    int64_t chunk = 0;  ///< most tokens of one step; 0: as many as the code takes
};

/// An artefact: its description of itself, and its tokenizer. Its code is not loaded yet. Copies share one
/// file.
class ModelFile {
public:
    /// Maps the file, and checks all of it but the weights. An artefact is as trusted as a program.
    /// @throws Error if the file is no artefact, is damaged, or holds no language model.
    /// @param processes that compute together (run/runtime/communicator.h), each with its share of the ranks
    /// of the file; null: this one has all
    explicit ModelFile(const std::filesystem::path& artefact,
                       std::shared_ptr<runtime::Communicator> processes = nullptr);

    const std::string& name() const;            ///< of the model, for people
    const std::filesystem::path& path() const;  ///< of the artefact
    int64_t vocabulary() const;                 ///< width of a row of logits
    int64_t context() const;                    ///< tokens of the longest sequence that the code allows
    int64_t ranks() const;    ///< parts of the model that compute a step together, each in threads of its own
    int64_t workers() const;  ///< threads of each rank: part of the compiled plan
    int64_t processes() const;  ///< among which the ranks are divided
    int64_t process() const;    ///< this one of them
    /// The bytes of the first process, on all; unchanged if there is only one.
    void take_from_first_process(std::span<std::byte> bytes) const;
    int64_t embedding_width() const;  ///< 0: compiled without CompileSettings::embeddings
    bool has_tokenizer() const;       ///< without one there are only ids
    /// The options, with the values of the model's files for those that are not set.
    /// @throws Error (kUsage) if these name a pooling that is not supported
    EmbedOptions decided(const EmbedOptions& options) const;
    std::string describe() const;  ///< "Qwen3-0.6B, policy default, cache bf16, 2 workers, for host"
    /// Parts of the model's checkpoint that the artefact does not compute, or computes otherwise than the
    /// settings say; to be shown to all users of the results.
    const std::vector<std::string>& warnings() const;
    void verify_weights() const;  ///< reads all weights. @throws Error if they are damaged

    /// The memory needed for running: "weights 2.39 GB mapped, cache 28.7 kB per token x 512, ...".
    /// @throws Error if the model does not allow the settings.
    std::string describe_memory(const ModelSettings& settings) const;

    /// The ids of a prompt, with a BOS in front if the model expects one, and never an EOS behind. With
    /// `special`, special tokens that the text spells, such as <|im_start|>, become their ids; otherwise they
    /// are ordinary text.
    /// @throws Error if the artefact has no tokenizer, or one that is not supported.
    std::vector<TokenId> encode(std::string_view prompt, bool special = false) const;
    /// The ids of a whole text, as for an embedding: with all tokens that the model expects around it, an EOS
    /// behind included. Special tokens that it spells are ordinary text. @throws as encode
    std::vector<TokenId> encode_whole(std::string_view text) const;
    /// The text of ids, special tokens included. It may end inside a character.
    /// @throws Error as encode does, and for an id that the tokenizer does not have.
    std::string decode(std::span<const TokenId> ids) const;

    /// The options of sampling that the model's files state (`generation_config.json`, `general.sampling.*`
    /// of a GGUF file). If they state how tokens are drawn, the rest is neutral; else it is as in
    /// `otherwise`. @throws Error for files that cannot be read
    SamplingOptions sampling(const SamplingOptions& otherwise = {}) const;

    /// True if the model has a template for conversations: those that follow instructions do.
    bool has_chat_template() const;
    /// The prompt of a conversation, as the model's own template writes it. Special tokens come from the
    /// template alone, whatever the messages spell.
    /// @throws Error as encode does, if the model has no template, if it is wrong (with row and column), or
    /// if it refuses the conversation.
    std::vector<TokenId> encode_chat(std::span<const ChatMessage> messages,
                                     const ChatSettings& settings = {}) const;
    /// The grammar and the reader of the answer to such a prompt, if it may call functions of
    /// `settings.tools`.
    /// @throws Error as encode_chat, of kind kUsage if the template has no known form of calls
    /// (docs/chat.md), and for functions and schemas that are wrong or not followed
    ToolAnswer tool_answer(std::span<const TokenId> prompt, const ToolChoice& choice,
                           const ChatSettings& settings) const;
    /// Tokens that end an answer in a conversation, besides the model's own ends of a text: for
    /// GenerateOptions::stop_ids. @throws Error as encode_chat
    std::vector<TokenId> chat_ends(const ChatSettings& settings = {}) const;

private:
    friend class Engine;
    friend class Model;
    friend void expect_settings(const ModelFile&, const OpenSettings&);
    friend std::vector<BenchCase> bench(std::span<const ModelFile>, const BenchSettings&);
    struct Contents;
    std::shared_ptr<Contents> contents_;
};

/// The threads that compute the steps of a model together, since the model was opened.
struct WorkerStatistics {
    int64_t ranks = 1;              ///< of this process
    int64_t workers = 1;            ///< of each rank
    bool lacks_processors = false;  ///< some workers share a processor: the results are the same, but slow
    int64_t steps = 0;              ///< calls of the code
    int64_t barriers = 0;           ///< times that the workers of a rank have met within steps
    int64_t exchanges = 0;          ///< times that the ranks have exchanged parts
};

/// A language model, ready to run. It can be moved but not copied. It must not be used by two threads at
/// once. Several may be open; those of one file share its weights in memory.
class Model {
public:
    /// Loads the code, and reserves memory for the cache.
    /// @throws Error if the code needs instruction sets that this machine lacks, if the model does not allow
    /// the settings, or if it needs more memory than there is; from a path also as ModelFile does.
    explicit Model(ModelFile file, const ModelSettings& settings = {});
    explicit Model(const std::filesystem::path& artefact, const ModelSettings& settings = {});
    Model(Model&&) noexcept;
    Model& operator=(Model&&) noexcept;
    ~Model();

    const ModelFile& file() const;
    int64_t context() const;       ///< tokens of the longest sequence under the settings
    int64_t memory_bytes() const;  ///< cache and intermediate buffers; weights are mapped from the file

    WorkerStatistics worker_statistics() const;

    /// Continues a prompt, until the model ends it or an option does. A call does not depend on earlier ones,
    /// except for keys and values that `reuse_prefix` saves. Without a tokenizer the text is empty.
    /// @throws Error if an option is outside its range or needs a tokenizer that the artefact does not have,
    /// if the prompt is empty or does not fit into the context, or if an id is not of the vocabulary.
    Generation generate(std::span<const TokenId> prompt, const GenerateOptions& options = {});
    /// The same from text, as ModelFile::encode reads it. @throws Error as above and as encode does.
    Generation generate(std::string_view prompt, const GenerateOptions& options = {});

    /// Calls `on_row` with the logits f32[vocabulary] after each of the ids, in order. A span is valid during
    /// the call.
    /// @throws Error if there are no ids, they do not fit into the context, or one is not of the vocabulary.
    void logits(std::span<const TokenId> ids, const std::function<void(std::span<const float>)>& on_row);

    /// The same of a text that is made of another, the source, by an encoder and a decoder.
    void logits(std::span<const TokenId> source, std::span<const TokenId> ids,
                const std::function<void(std::span<const float>)>& on_row);
    /// The same where rows of numbers stand in the place of the source's tokens, one row after the other.
    /// @throws Error also for another number of them than the model reads, and if it reads tokens
    void logits_of_features(std::span<const float> rows, std::span<const TokenId> ids,
                            const std::function<void(std::span<const float>)>& on_row);
    /// Calls `on_row` for every id with its hidden state f32[ModelFile::embedding_width], in order.
    /// @throws Error as `embed` does
    void hidden(std::span<const TokenId> ids, const std::function<void(std::span<const float>)>& on_row);
    /// The embedding f32[ModelFile::embedding_width] of a text: its hidden states behind the last norm,
    /// pooled. Unless the pooling takes one token, the logits of all tokens are computed as well.
    /// @throws Error as logits does, and of kind kUsage if the artefact was compiled without embeddings.
    std::vector<float> embed(std::span<const TokenId> ids, const EmbedOptions& options = {});
    /// The same from text, as ModelFile::encode_whole reads it. @throws Error as above and as encode does.
    std::vector<float> embed(std::string_view text, const EmbedOptions& options = {});

private:
    struct Contents;
    std::unique_ptr<Contents> contents_;
};

}  // namespace tessera
