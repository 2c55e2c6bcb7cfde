#include "tessera/bench.h"

#include <memory>

#include "compiler/api/model_file.h"
#include "compiler/bench/run_bench.h"
#include "machine/probe.h"

namespace tessera {

std::vector<BenchCase> bench(std::span<const ModelFile> models, const BenchSettings& settings) {
    std::vector<std::shared_ptr<const runtime::Artefact>> artefacts;
    for (const ModelFile& model : models) artefacts.push_back(model.contents_->artefact);
    return benchmark::run_bench(artefacts, machine::host_features(), settings);
}

}  // namespace tessera
