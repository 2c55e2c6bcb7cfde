#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "run/llm/pcg32.h"
#include "run/llm/tokenizer.h"

namespace tessera::llm {

/// A token that may be drawn.
struct Candidate {
    TokenId id = 0;
    double weight = 0;  ///< in proportion to its probability; 1 for the most probable token

    bool operator==(const Candidate&) const = default;
};

/// All tokens by ascending id, with the weights exp((logit - largest) / temperature).
/// @pre temperature > 0; the largest logit is finite
std::vector<Candidate> weigh(std::span<const float> logits, double temperature);

// Each of the following leaves at least one candidate. The remaining candidates and their order depend on the
// candidates only: on a tie of weights, the lower id is the more probable one.

/// The `count` most probable. Source: Fan et al., "Hierarchical Neural Story Generation" (2018), 5.4.
/// @pre count >= 1
void keep_top_k(std::vector<Candidate>& candidates, size_t count);

/// The fewest of the most probable that have together at least `mass` of the probability of all.
/// Source: Holtzman et al., "The Curious Case of Neural Text Degeneration" (2020), 3.1 (nucleus sampling).
void keep_top_p(std::vector<Candidate>& candidates, double mass);

/// Those that are at least `fraction` as probable as the most probable one.
/// Source: Nguyen et al., "Turning Up the Heat: Min-p Sampling" (2024), 3.
void keep_min_p(std::vector<Candidate>& candidates, double fraction);

/// Those whose surprise, minus the logarithm of the probability, is nearest to the expected surprise, the
/// entropy: the fewest that have together at least `mass` of the probability. In the order of their nearness.
/// Source: Meister et al., "Locally Typical Sampling" (2023), eq. 11.
void keep_typical(std::vector<Candidate>& candidates, double mass);

/// One of them, by its weight; takes one fraction of `random`. @pre a weight is positive
TokenId draw(std::span<const Candidate> candidates, Pcg32& random);

}  // namespace tessera::llm
