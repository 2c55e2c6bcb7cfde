#pragma once

#include <string>
#include <vector>

#include "cli/remark.h"
#include "run/llm/stated_sampling.h"
#include "tessera/model.h"

namespace tessera::cli {

/// Prints on stderr, a line each, the warnings about a model's checkpoint.
void print_warnings(const std::string& model, const std::vector<std::string>& warnings);

/// Prints on stderr, before the model is loaded, its warnings and, as a remark, the memory for running it.
void announce_model(const ModelFile& file, const ModelSettings& settings,
                    const Remarks& remark = Remarks::all());

/// How tokens are drawn, and what the model's files ask for that is not done.
void announce_sampling(const SamplingOptions& sampling, const llm::StatedSampling& model,
                       const Remarks& remark);

}  // namespace tessera::cli
