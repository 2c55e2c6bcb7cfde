#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "import/npy/npy_file.h"
#include "import/weights.h"
#include "ir/graph.h"

namespace tessera::import {

/// The constants of a graph out of NumPy files, one for each source.
class NpyWeights : public WeightSource {
public:
    /// `files`: of each source by its name in the graph, which is `where`.
    /// @throws Error naming the sources without a file, a file that is no source's, and a file that has
    /// another shape or type than the graph wants.
    NpyWeights(const Graph& graph, const std::map<std::string, std::filesystem::path>& files,
               const std::string& where);

    const StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    TensorContents contents(std::string_view name) const override;

private:
    struct Source {
        NpyFile file;
        StoredTensor tensor;
    };
    std::map<std::string, Source, std::less<>> sources_;
};

}  // namespace tessera::import
