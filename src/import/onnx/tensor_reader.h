#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "import/onnx/onnx_model.h"
#include "support/protobuf_reader.h"

namespace tessera::import::onnx {

/// Reads TensorProtos, also those whose contents lie in files beside the model.
class TensorReader {
public:
    /// @param folder of the files of tensors; empty: none may be read
    TensorReader(std::string where, std::filesystem::path folder)
        : where_(std::move(where)), folder_(std::move(folder)) {}

    /// @throws Error if the contents are not those of the type and shape, or lie outside of the folder.
    Tensor read(ProtobufReader message);
    /// Keeps the contents that lie in other files.
    std::vector<std::shared_ptr<const void>> files() const;
    std::vector<std::filesystem::path> paths() const;

private:
    struct External {
        std::string location;
        int64_t offset = 0;
        int64_t length = -1;  ///< all that follows
    };
    static void entry(ProtobufReader message, External& external);
    TensorContents contents(const External& external, const std::string& tensor, size_t expected);

    std::string where_;
    std::filesystem::path folder_;
    std::map<std::string, std::shared_ptr<const MappedFile>> opened_;  ///< by location
};

}  // namespace tessera::import::onnx
