#pragma once

#include <cstdint>

#include "machine/published_models.h"

/// Published models inside the evaluator (cost/evaluate.h), so that a search can be carried out by each.
///
/// nncase has the transfers that the evaluator counts as T_mem and the calls of micro-kernels as T_comp, both
/// of the worker with most work. MCFuser and the roofline know two levels, the main memory and what is in
/// tiles, and all workers together. MCFuser's blocks are the trips of the kernel's first loops over results;
/// a tile of a tensor is loaded when it changes and at the begin of each block, and one of a sum that is not
/// complete is stored and loaded again. These counts are those of nests/ where every access is an iterator
/// and tiles of tiles divide them. Predicates and tables of indices are ignored.
namespace tessera::cost {

class CostModel;

/// A published model on a machine.
struct Published {
    machine::PublishedModel model = machine::PublishedModel::kNncase;
    machine::PeakRates rates = {};  ///< not of nncase
};

/// The bandwidth of the main memory for so many threads, and the highest peak of the machine's units.
/// @throws Error if the machine's description has none
machine::PeakRates peak_rates(const CostModel& model, int64_t workers);

/// @throws Error if the machine's description lacks a rate that the model needs
Published published_on(machine::PublishedModel model, const CostModel& costs, int64_t workers);

}  // namespace tessera::cost
