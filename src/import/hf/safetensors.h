#pragma once

#include <functional>
#include <map>
#include <string>

#include "import/weights.h"
#include "support/mapped_file.h"

namespace tessera::import {

/// A safetensors file: 8 bytes of header length, a JSON header, then the contents of the tensors without gap
/// or overlap. All of it is checked when it is opened, so that every tensor lies inside the file; the file
/// may be hostile. Source: the format section of github.com/huggingface/safetensors.
class SafetensorsFile : public WeightSource {
public:
    /// @throws Error naming the tensor and field, what was found and what was expected.
    static SafetensorsFile open(const std::string& path);

    const StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    void release(std::string_view name) const override;

private:
    MappedFile file_;
    std::map<std::string, StoredTensor, std::less<>> tensors_;
};

}  // namespace tessera::import
