#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/definition.h"
#include "ir/tensor_type.h"

/// An artefact's description of itself: everything that the run time needs to call the code in it, and no
/// more (docs/artefact.md). It is stored as JSON.
namespace tessera::runtime {

struct Manifest {
    /// An input or output of the step, row-major.
    struct Tensor {
        std::string name;
        ElementType element = ElementType::kF32;
        std::vector<Dim> shape;
        std::string array =
            {};  ///< what a call names its array, where that is no name of a graph; else empty
        bool is_scalar = false;  ///< its array has no axes, the step's has one
        bool operator==(const Tensor&) const = default;

        const std::string& array_name() const { return array.empty() ? name : array; }
    };
    /// Memory that one step leaves to the next. Its repetitions lie one after the other.
    struct State {
        std::string name;
        ElementType element = ElementType::kF32;
        std::vector<Dim> shape;   ///< of one repetition
        std::vector<Dim> stored;  ///< extents as stored, padding of the layout included; their product counts
        int64_t repeat = 1;
        std::string array = {};  ///< as that of a tensor
        bool operator==(const State&) const = default;

        const std::string& array_name() const { return array.empty() ? name : array; }
    };
    /// A weight in its packed form. The run time passes on the whole section; this is for people.
    struct Constant {
        std::string name;
        ElementType element = ElementType::kF32;
        std::vector<int64_t> shape;
        std::string layout;  ///< as print(Layout)
        int64_t offset = 0;  ///< in the section, a multiple of 64
        int64_t bytes = 0;   ///< of one repetition
        int64_t stride = 0;  ///< from one repetition to the next; 0 if there is one
        int64_t repeat = 1;
        bool operator==(const Constant&) const = default;
    };
    /// Inclusive.
    struct Bounds {
        int64_t low = 0;
        int64_t high = 0;
        bool operator==(const Bounds&) const = default;
    };
    struct Specialisation {
        std::string name;
        std::string entry;                     ///< symbol of the shared object, a TesseraStepFunction
        std::map<std::string, Bounds> bounds;  ///< of every symbol, within its own
        int64_t arena_bytes = 0;
        bool operator==(const Specialisation&) const = default;
    };
    /// Rows of numbers in the place of a source's tokens: token p has `taps` of them, from row every * p +
    /// first on; those that are not there are zeros.
    struct Features {
        int64_t width = 1;
        int64_t taps = 1;
        int64_t every = 1;
        int64_t first = 0;
        int64_t count = 1;  ///< tokens of every source
        bool operator==(const Features&) const = default;
    };
    /// The properties of a language model that generating text needs.
    struct Text {
        int64_t vocabulary = 0;  ///< width of a row of logits
        int64_t context = 0;     ///< the longest sequence, in tokens
        int64_t page_size = 16;  ///< slots of one page of the cache
        std::optional<int32_t> bos;
        std::vector<int32_t> eos;
        std::string policy = "exact";  ///< how activations were allowed to be rounded, for people
        std::string pooling = {};      ///< of embeddings, as the model's files name it; empty: they do not
        bool normalises = true;        ///< embeddings, to length 1, unless its files say otherwise
        bool has_source = false;       ///< a text is made of another, which a step takes as a whole
        std::optional<Features> features = {};  ///< of the source
        bool is_encoder =
            false;  ///< a step takes whole texts, and gives vectors of their tokens in place of logits
        bool operator==(const Text&) const = default;
    };

    std::string model;            ///< name, for people
    std::string tessera_version;  ///< of the compiler
    std::string machine;          ///< name of the machine description
    std::string machine_hash;
    std::string architecture;                   ///< "x86_64", "aarch64"
    std::vector<std::string> instruction_sets;  ///< that the code uses; "avx2" for the compiler's flag -mavx2
    int64_t workers = 1;                        ///< threads that call an entry together
    std::vector<DimSymbol> symbols;
    std::vector<Tensor> inputs;
    std::vector<Tensor> outputs;
    /// Arrays of a call without elements, which the step knows nothing of, and outputs of the step that a
    /// call does not show.
    std::vector<Tensor> empty_inputs, empty_outputs;
    std::vector<std::string> hidden_outputs;
    /// Outputs in which the ranks place their parts, and write nothing else: those of one process can share
    /// the memory of such an output.
    std::vector<std::string> placed_outputs;
    std::vector<State> states;
    int64_t constants_bytes = 0;
    std::vector<Constant> constants;              ///< by ascending offset, apart from each other
    std::vector<Specialisation> specialisations;  ///< the first whose bounds hold is called
    std::optional<Text> text;
    std::vector<std::string> warnings;      ///< about the checkpoint, for users of the artefact
    std::vector<std::string> cut_short;     ///< searches that a budget ended, for those who recompile
    std::vector<std::string> without = {};  ///< parts that the searches left out, for comparisons
    std::optional<int64_t> regions = {};    ///< operators of the regions, if they were stated

    bool operator==(const Manifest&) const = default;
};

/// JSON; parse_manifest(print(m), "") equals m, and equal manifests print equally.
std::string print(const Manifest& manifest);
/// @throws Error naming the field that is missing, of a wrong type or beyond its limits, or that does not
/// agree with another one. `where` is the file.
Manifest parse_manifest(std::string_view json, const std::string& where);
/// The part of parse_manifest that looks at values: names are unique, symbols known, bounds and sizes
/// possible.
void verify(const Manifest& manifest, const std::string& where);

/// Position of a symbol; -1 if there is none.
int symbol_index(const Manifest& manifest, std::string_view name);
/// Bytes of a tensor of this shape. `symbols` as in the manifest. Empty where the number does not fit.
/// @pre the symbols of the shape are the manifest's.
std::optional<int64_t> byte_size(const Manifest& manifest, ElementType element, std::span<const Dim> shape,
                                 std::span<const int64_t> symbols);
/// Bytes of all repetitions of a state.
std::optional<int64_t> byte_size(const Manifest& manifest, const Manifest::State& state,
                                 std::span<const int64_t> symbols);

}  // namespace tessera::runtime
