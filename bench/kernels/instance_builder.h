#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tessera {

/// A part of a model at one size, in a graph of its own: a block that repeats with other weights each time.
struct Instance {
    std::string name;
    Graph graph;
    std::map<std::string, std::vector<double>> contents = {};  ///< of its index inputs
};

/// Appends to an instance, which must outlive it.
class InstanceBuilder {
public:
    InstanceBuilder(Instance& instance, int64_t repeat);
    Graph& graph() { return instance_.graph; }
    Block& block() { return graph().blocks[0]; }

    ValueId input(const std::string& name, const std::vector<int64_t>& shape,
                  ElementType type = ElementType::kF32);
    ValueId indices(const std::string& name, const std::vector<int64_t>& shape, std::vector<double> contents);
    /// Another one for each repetition.
    ValueId constant(const std::string& name, const std::vector<int64_t>& shape,
                     ElementType type = ElementType::kF32);
    ValueId state(const std::string& name, const std::vector<int64_t>& shape, ElementType type);
    /// An operator whose result may be rounded.
    ValueId node(const std::string& name, const DefinitionPtr& definition, std::vector<ValueId> operands);

private:
    ValueId add(const std::string& name, ValueKind kind, const std::vector<int64_t>& shape, ElementType type,
                std::vector<std::string> sources);

    Instance& instance_;
    int64_t repeat_;
};

}  // namespace tessera
