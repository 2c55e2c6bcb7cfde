#pragma once

#include "cost/cost_model.h"
#include "machine/published_models.h"

/// Published models inside the evaluator (cost/evaluate.h), so that a search can be carried out by each.
///
/// nncase has the transfers of all levels as T_mem and the calls of micro-kernels as T_comp, both of the
/// worker with most work. MCFuser and the roofline know two levels, the main memory and what is in tiles, and
/// all workers together. MCFuser's blocks are the trips of the kernel's first loops over results; a tile of a
/// tensor is loaded when it changes and at the begin of each block, and one of a sum that is not complete is
/// stored and loaded again. These counts are those of nests/ where extents are multiples of tiles and every
/// access is an iterator. Predicates and tables of indices are ignored.
namespace tessera::cost {

/// The bandwidth of the main memory for so many threads, and the highest peak of the machine's units.
machine::PeakRates peak_rates(const CostModel& model, int64_t workers);

}  // namespace tessera::cost
