#pragma once

#include <cstdint>

#include "search/extraction/budget.h"
#include "search/extraction/instance.h"

namespace tessera::extraction {

/// Large-neighbourhood search: frees a ball of classes around a random computed one, keeps every other
/// choice, and solves the rest exactly. The ball grows when that was easy and shrinks when it was not.
class Neighbourhood {
public:
    Neighbourhood(Instance instance, uint64_t seed);

    /// Improves the incumbent until the budget is spent.
    void improve(Incumbent& incumbent, Budget& budget);

private:
    uint64_t next_random();
    std::vector<char> ball(int centre, size_t size) const;

    Instance instance_;
    std::vector<int> classes_;
    std::vector<std::vector<int>> neighbours_;
    uint64_t state_;
    double share_;
};

}  // namespace tessera::extraction
