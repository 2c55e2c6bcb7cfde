#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <utility>

#include "search/planner/place_buffers.h"
#include "search/planner/verify_plan.h"
#include "search/planner/verify_structure.h"
#include "support/error.h"

namespace tessera::testing {

/// An edit that makes a legal plan illegal, and the reason of the refusal.
struct IllegalEdit {
    const char* name;
    std::function<void(plan::Plan&)> edit;
    std::string reason;
};

inline void PrintTo(const IllegalEdit& edit, std::ostream* out) {
    *out << edit.name;
}

/// How the reasons begin, for a plan of one specialisation `all`.
inline const std::string kHere = "plan.toml: specialisation all: ";

/// Verifies the plan as the compiler does; "" if it is legal.
inline std::string refusal(const Graph& graph, plan::Plan plan) {
    try {
        planner::verify_structure(graph, plan, "plan.toml");
        plan = planner::place_buffers(graph, std::move(plan));
        planner::verify_plan(graph, plan, "plan.toml");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace tessera::testing
