#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "machine/machine.h"
#include "movement/program.h"

namespace tessera {

/// One operator alone in a graph, at a size.
struct KernelSubject {
    Graph graph;
    std::map<std::string, std::string> types;  ///< of A, B, C
    std::map<std::string, int64_t> sizes;      ///< of the iterators
    std::string
        streamed;  ///< the iterator of B's rows: lanes of a product lie along it or along the reduction
};

/// Products with every kind of weight that decoding and prefill read (float types, and two of whole and half
/// bytes with scales), with 1, 4 and 12 rows; the streaming softmax with 1 and 4. B takes half of the core's
/// own second level.
std::vector<KernelSubject> kernel_subjects(const Machine& machine);

/// One micro-kernel with its parameters on a subject, lowered.
struct KernelCase {
    size_t subject;
    std::string micro_kernel;
    std::map<std::string, int64_t> parameters;
    Program program;
    int64_t constants_bytes;
    int64_t arena_bytes;
};

/// What the planner's candidates of the machine's own width lower to, each micro-kernel with each set of
/// parameters once: a new micro-kernel or parameter is among them without being named here.
std::vector<KernelCase> kernel_cases(const std::vector<KernelSubject>& subjects, const Machine& machine);

}  // namespace tessera
