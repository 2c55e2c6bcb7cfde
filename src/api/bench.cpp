#include "tessera/bench.h"

#include <memory>

#include "api/model_file.h"
#include "bench/run_bench.h"
#include "machine/probe.h"

namespace tessera {

std::vector<BenchCase> bench(std::span<const ModelFile> models, const BenchSettings& settings) {
    std::vector<std::shared_ptr<const Artefact>> artefacts;
    for (const ModelFile& model : models) artefacts.push_back(model.contents_->artefact);
    return run_bench(artefacts, host_features(), settings);
}

}  // namespace tessera
