#include "backend/paths.h"

#include <algorithm>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/parts.h"
#include "lowering/plan/constants.h"
#include "lowering/plan/parts.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

std::string class_of(const Layout& layout) {
    return !layout.lanes.empty() ? "lanes" : layout.is_row_major() ? "row-major" : "order";
}

std::set<std::string> classes_of(const Graph& graph, const plan::Plan& plan,
                                 const plan::SpecialisationPlan& s, ValueId value) {
    std::set<std::string> result;
    for (auto at = s.tensors.find(graph[value].name); at != s.tensors.end();
         at = s.tensors.find(graph[value].name)) {
        const plan::Place place = at->second.place;
        if (place == plan::Place::kTile) result.insert("tile");
        if (place != plan::Place::kView && place != plan::Place::kInPlace) break;
        result.insert(place == plan::Place::kView ? "view" : "in place");
        value = *graph.find(at->second.of);
    }
    const auto at = s.tensors.find(graph[value].name);
    result.insert(
        class_of(at == s.tensors.end() ? plan::stored_layout(plan, graph[value].name) : at->second.layout));
    return result;
}

/// True if the leaf folds into parts, or reads them.
bool is_parted(const plan::KernelPlan& kernel, const Block& block, const plan::Leaf& leaf) {
    const Node* parted = lowering::parted_operator(kernel.nest, block);
    return lowering::combines_parts(leaf) || (parted && parted->name == leaf.node);
}

bool implements(std::string_view micro_kernel, const std::string& text) {
    try {
        const Definition definition = parse_definition(text, "probe");
        verify(definition, "probe");
        return kernels::find_micro_kernel(micro_kernel)->why_not(definition).empty();
    } catch (const Error&) {
        return false;  // no such operator
    }
}

}  // namespace

std::vector<std::string> storage_classes() {
    return {"row-major", "order", "lanes", "view", "in place", "tile"};
}

std::vector<std::string> narrow_types() {
    return {"f16", "bf16", "i8", "u8", "u6", "u5", "i4", "u4"};
}

std::set<Path> paths_of(const Graph& graph, const plan::Plan& plan) {
    std::set<Path> result;
    for (const plan::SpecialisationPlan& s : plan.specialisations) {
        for (const plan::KernelPlan& kernel : s.kernels) {
            for (const plan::Leaf* leaf : plan::leaves(kernel.nest)) {
                for (const Block& block : graph.blocks) {
                    const Node* node = block.find(leaf->node);
                    if (!node) continue;
                    const Definition& d = *node->definition();
                    for (int t = 0; t < static_cast<int>(d.tensors.size()); ++t) {
                        const Role role = d.tensors[static_cast<size_t>(t)].role;
                        if (role == Role::kIndex) continue;
                        if (role == Role::kIn && lowering::combines_parts(*leaf)) continue;
                        if (role != Role::kIn && is_parted(kernel, block, *leaf)) {
                            const auto parts =
                                s.tensors.find(plan::parts_of(graph[lowering::value_of(*node, t)].name));
                            result.insert({std::string(leaf->kernel->name),
                                           lowering::combines_parts(*leaf) ? "reads" : "writes",
                                           class_of(parts->second.layout)});
                            if (!lowering::combines_parts(*leaf)) continue;
                        }
                        const std::string access = role == Role::kIn ? "reads" : "writes";
                        for (const std::string& storage :
                             classes_of(graph, plan, s, lowering::value_of(*node, t)))
                            result.insert({std::string(leaf->kernel->name), access, storage});
                        const ElementType type = d.tensors[static_cast<size_t>(t)].type;
                        if (type != ElementType::kF32)
                            result.insert({std::string(leaf->kernel->name), access, std::string(name(type))});
                    }
                }
            }
        }
    }
    return result;
}

std::set<Path> all_paths() {
    std::set<Path> result;
    for (const plan::MicroKernel* each : kernels::micro_kernels()) {
        const plan::MicroKernel& kernel = *each;
        for (const char* access : {"reads", "writes"}) {
            for (const std::string& storage : storage_classes())
                result.insert({std::string(kernel.name), access, storage});
            for (const std::string& type : narrow_types())
                result.insert({std::string(kernel.name), access, type});
        }
    }
    return result;
}

std::string why_impossible(const Path& path) {
    const bool is_of_parts =
        path.storage == "row-major" || path.storage == "order" || path.storage == "lanes";
    if (path.access == "reads" && kernels::find_micro_kernel(path.micro_kernel)->combines_parts &&
        !is_of_parts)
        return "it reads parts, which are f32 and lie in the arena";
    if (implements(path.micro_kernel,
                   "op probe(n*: 4, p: 4, i>: 4)\nin X f32[i, n], V f32[i, p]\ncarry S f32[n, p]\n"
                   "carry S = S * 0.5 + X * V\nout Y f32[i, p] = sum(S * X)\nregrouped\n") &&
        !kernels::find_micro_kernel(path.micro_kernel)->is_plain)
        return "it implements recurrences alone, which are no part of random graphs (recurrence_test.cpp)";
    if (path.access != "writes") return {};
    if (const auto type = element_type_of(path.storage)) {
        const std::span<const ElementType> stored = kernels::find_micro_kernel(path.micro_kernel)->results;
        const bool is_stored = std::find(stored.begin(), stored.end(), *type) != stored.end();
        return is_stored ? "" : "its declaration does not list the type";
    }
    const bool maps = implements(path.micro_kernel, "op probe(n: 4)\nin X f32[n]\nout Y f32[n] = X + 1\n");
    bool updates = implements(path.micro_kernel, "op probe(n: 4)\nin X f32[n]\nupdate Y f32[n] = X\n");
    updates |= implements(path.micro_kernel,
                          "op probe(n: 4, k*: 4)\nin X f32[k], W f32[n, k]\nupdate Y f32[n] = sum(X * W)\n");
    updates |=
        implements(path.micro_kernel,
                   "op probe(n: 4, k*: 4)\nin X bf16[k], W bf16[n, k]\nupdate Y f32[n] = sum(X * W)\n");
    updates |= implements(path.micro_kernel,
                          "op probe(n: 4, d: 4, s*: 4)\nin P f32[n, s], V f32[s, d]\nupdate M f32[n], L "
                          "f32[n], A f32[n, d] = softmax_sum(P, V)\n");
    if (path.storage == "view" && !maps) return "only a map can replace a view, and it implements none";
    if (path.storage == "in place" && !maps && !updates) return "it implements neither maps nor updates";
    return {};
}

}  // namespace tessera::testing
