#pragma once

#include <filesystem>
#include <string>

#include "tessera/error.h"

/// The contents of an artefact, as data.
namespace tessera {

struct InspectSettings {
    bool costs = false;  ///< predicted times, too
    /// Description of the machine that `costs` are for; empty: this one, if the artefact was compiled for it.
    std::filesystem::path machine = {};
    std::filesystem::path measured_machines = {};  ///< CompileSettings::measured_machines
};

/// A JSON document of an artefact of a model or of a program:
///
///     manifest   how the code is called: symbols, inputs, outputs, states, constants (docs/artefact.md)
///     plan       every decision of the compilation, as in docs/plan.md
///     operators  [{point, operators: [{block, operator, times, flops, special, bytes}]}], by definition
///     costs      {machine, machine_hash, is_measured, steps: [{point, specialisation, seconds, kernels:
///     [{block,
///                kernel, times, seconds, compute_seconds, stall_seconds, barrier_seconds, levels: [{level,
///                bytes, seconds}], unknown}]}]}; null without `costs`
///
/// Seconds of a kernel are those of one of its `times`; null if they are not known, for the reason in
/// `unknown`. Costs of a machine that was not measured are roofs, not predictions.
/// @throws Error if the file is no artefact or is damaged; with `costs` also if the machine that it was
/// compiled for is unknown.
std::string inspect(const std::filesystem::path& artefact, const InspectSettings& settings = {});

/// The plan as the text that CompileSettings::plan takes. @throws Error if the file is no artefact.
std::string plan_text(const std::filesystem::path& artefact);

}  // namespace tessera
