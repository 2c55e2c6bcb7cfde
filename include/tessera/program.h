#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tessera/compile.h"
#include "tessera/open.h"

/// Programs: compiled ONNX models and graphs, called with arrays in memory (docs/programs.md, docs/onnx.md).
namespace tessera {

/// Numbers that the caller keeps, in the order of C, little-endian, as NumPy holds them.
struct ArrayView {
    std::string type;  ///< NumPy's: "<f4"
    std::vector<int64_t> shape;
    std::span<const std::byte> bytes;
};

struct Array {
    std::string type;
    std::vector<int64_t> shape;
    std::vector<std::byte> bytes;
};

/// An array that a call takes or gives.
struct ArrayInfo {
    std::string name;
    std::string type;                                       ///< as above
    std::vector<std::variant<int64_t, std::string>> shape;  ///< a symbolic extent is "T" or "16 * P"
};

struct CallOptions {
    std::map<std::string, int64_t> symbols = {};  ///< that no input's shape gives
    /// States that the call does not give are as the one before left them, and none is returned: nothing of
    /// them is copied.
    bool continues = false;
};

/// An artefact, loaded, with memory of its own. Not to be called by two threads at once.
class Program {
public:
    /// @throws Error if the file is no artefact, is damaged, or that of a language model
    explicit Program(const std::filesystem::path& artefact);
    Program(Program&&) noexcept;
    ~Program();

    const std::filesystem::path& path() const;
    int64_t workers() const;  ///< threads that compute together: part of the compiled plan
    std::vector<ArrayInfo> inputs() const;
    std::vector<ArrayInfo> outputs() const;
    /// Memory that is zero where a call does not give it, and that the call returns.
    std::vector<ArrayInfo> states() const;

    /// The outputs and states by their names.
    /// @throws Error naming the input that is missing, unknown, or of another type or shape
    std::map<std::string, Array> call(const std::map<std::string, ArrayView>& inputs,
                                      const CallOptions& options = {});

private:
    struct Contents;
    std::unique_ptr<Contents> contents_;
};

/// The program of an ONNX model, which is compiled into `models_directory` and found there again until its
/// files, the library, the machine, or what was asked for have changed. Settings as for a program.
/// @throws Error as compile_onnx
Program open_onnx(const std::filesystem::path& model, const OnnxSettings& onnx, const OpenSettings& settings);

/// The description that an ONNX model has of itself.
struct OnnxDescription {
    struct Port {
        std::string name;
        std::string type;  ///< as ONNX spells it: "FLOAT"; or "sequence", "optional", "map"
        bool has_shape = true;
        /// As the model says it: a number, or a name, which may be empty.
        std::vector<std::variant<int64_t, std::string>> shape;
        std::vector<std::string> symbols;  ///< of each axis: its name in OnnxSettings::dims; empty: a number
    };
    int64_t ir_version = 0;
    std::string producer, domain, description, graph_name, graph_description;
    std::optional<int64_t> version;
    std::map<std::string, std::string> metadata;
    std::map<std::string, int64_t> opsets;  ///< by domain
    std::vector<Port> inputs, outputs;
};

/// @throws Error for a file that cannot be read
OnnxDescription describe_onnx(const std::filesystem::path& model);

/// Everything that keeps the model from being compiled, a line each; none: nothing does.
/// @throws Error for a file that cannot be read
std::vector<std::string> unsupported_in_onnx(const std::filesystem::path& model, const OnnxSettings& onnx);

/// The meaning of a model's imported graph: its outputs for these inputs, computed number by number, slowly,
/// without any pass of the compiler. Compiled code is to agree with it.
/// @throws Error as compile_onnx, and naming an input that is missing or of another type or shape
std::map<std::string, Array> interpret_onnx(const std::filesystem::path& model, const OnnxSettings& onnx,
                                            const std::map<std::string, ArrayView>& inputs);

}  // namespace tessera
