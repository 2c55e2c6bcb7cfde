#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "distribution/boxes.h"
#include "distribution/choices.h"
#include "distribution/problem.h"

/// The distributed e-graph (paper 000, figure 5): for each value a cluster of its forms with the boxes among
/// them, for each operator its choices, which read and make these forms.
namespace tessera::distribution {

/// A form of one value, as a position in its cluster.
using FormId = int32_t;
inline constexpr FormId kFree = -1;  ///< any form that may be stored
/// The price of what cannot be.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The e-classes of one value, one for each form.
struct Cluster {
    struct Edge {
        FormId from;
        FormId to;
        double seconds;
        int64_t units = 0;  ///< memory of what it makes
    };
    std::vector<Form> forms;
    std::map<Form, FormId> ids;
    std::vector<int64_t> units;  ///< memory of each form
    std::vector<Edge> boxes;
    std::vector<FormId> ended;  ///< the form without P(softmax_sum), which must be made too; itself if none
    std::vector<FormId> storable;  ///< where a constant may begin
    FormId given = kFree;          ///< of an input
    FormId wanted = kFree;         ///< kFree if no form is asked for
};

struct SearchChoice {
    std::vector<FormId> forms;  ///< for each tensor of the operator
    double seconds = 0;
};

struct SearchOperator {
    std::vector<int> values;      ///< for each tensor
    std::vector<bool> is_result;  ///< for each tensor
    std::vector<SearchChoice> choices;
};

/// All that the search looks at: it knows no definitions.
struct SearchGraph {
    std::vector<SearchOperator> operators;
    std::vector<Cluster> values;
    std::vector<int> makers;                ///< of each value, -1 if none
    std::vector<std::vector<int>> readers;  ///< of each value
};

/// @param choices of each operator
SearchGraph build_search_graph(const Problem& problem, const std::vector<std::vector<Choice>>& choices);

}  // namespace tessera::distribution
