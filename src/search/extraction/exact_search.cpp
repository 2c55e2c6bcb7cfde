#include "search/extraction/exact_search.h"

#include <utility>

#include "support/error.h"

namespace tessera::extraction {

ExactSearch::ExactSearch(const Instance& instance, Incumbent known, const SimplifyOptions& options)
    : instance_(instance), best_(std::move(known)), simplified_(instance) {
    if (!simplify(simplified_, best_.cost, options)) {
        TESSERA_CHECK(!best_.exists(), "simplification has lost a solution");
        return;
    }
    formula_.emplace(simplified_, sat_);
    max_sat_.emplace(sat_, formula_->softs(), formula_->base(), [this] { return read_model(); });
    max_sat_->lower_upper(best_.cost);
}

std::optional<Weight> ExactSearch::read_model() {
    const auto found = formula_->read_model();
    if (!found) return std::nullopt;
    auto whole = restore(instance_, simplified_, found->choice);
    TESSERA_CHECK(whole, "a choice is lost with what simplification took out");
    offer(*whole);
    return best_.cost;
}

void ExactSearch::offer(const Incumbent& found) {
    if (found.cost < best_.cost) best_ = found;
    if (max_sat_) max_sat_->lower_upper(best_.cost);
}

MaxSat::End ExactSearch::run(Budget& budget) {
    return max_sat_ ? max_sat_->run(budget) : MaxSat::End::kInfeasible;
}

}  // namespace tessera::extraction
