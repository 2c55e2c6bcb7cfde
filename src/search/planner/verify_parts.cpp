// A reduction that the workers divide has two halves, and both must be there:
//
//   g:1 { s:64@worker { scores; attend } }      leaves `parts of A`, a copy for each worker
//   barrier  attend[combine]; normalise         makes A of them
//
// The check of the order of execution ensures that nobody reads A in between, verify_workers that the barrier
// exists.
#include "search/planner/verify_parts.h"

#include <algorithm>
#include <set>

#include "lowering/parts.h"
#include "lowering/plan/parts.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

class PartsVerifier {
public:
    PartsVerifier(const Graph& graph, const plan::SpecialisationPlan& plan, const std::string& where)
        : graph_(graph), plan_(plan), where_(where) {}

    void run() {
        for (const Block& block : graph_.blocks) check_block(block);
        for (const auto& [name, tensor] : plan_.tensors) {
            const auto whole = plan::whole_of(name);
            if (whole && !with_parts_.contains(*whole))
                fail(name, "has a place, but no kernel leaves parts of it");
        }
    }

private:
    [[noreturn]] void fail(const std::string& entity, const std::string& problem,
                           const std::string& advice = {}) const {
        throw Error(where_, entity, problem, advice);
    }

    void check_block(const Block& block) {
        std::set<std::string> left;  // operators of which there are parts that nobody has combined
        for (const plan::KernelPlan& kernel : plan_.kernels) {
            if (kernel.block != block.name) continue;
            for (const plan::Leaf* leaf : plan::leaves(kernel.nest)) {
                if (lowering::combines_parts(*leaf) && left.erase(leaf->node) == 0) {
                    fail(leaf->node, "combines parts, but no earlier kernel leaves any",
                         "divide its reduction between the workers in an earlier kernel, by @worker");
                }
            }
            const Node* parted = lowering::parted_operator(kernel.nest, block);
            if (!parted) continue;
            check_parts(*parted);
            // Elsewhere lowering says what is wrong with the loop.
            if (kernel.nest.root().node == parted->name) left.insert(parted->name);
        }
        if (left.empty()) return;
        fail(*left.begin(), "is divided between the workers along a reduction, but no later kernel combines",
             fmt::format("begin a later kernel with {}[combine]", *left.begin()));
    }

    void check_parts(const Node& parted) {
        for (const ValueId result : parted.results) {
            const std::string& name = graph_[result].name;
            with_parts_.insert(name);
            const auto own = plan_.tensors.find(name);
            if (own != plan_.tensors.end() && own->second.place == plan::Place::kInPlace) {
                fail(name, fmt::format("takes over {}, but is combined from parts", own->second.of),
                     "give it storage of its own");
            }
            const auto parts = plan_.tensors.find(plan::parts_of(name));
            if (parts == plan_.tensors.end() || !parts->second.each_worker) {
                fail(plan::parts_of(name), "has no place of each worker",
                     "write `\"parts of VALUE\" = \"arena of each worker\"`");
            }
        }
        const Definition& definition = *parted.definition();
        if (!definition.post) return;
        for (const Read& read : reads_in({definition.post})) {
            const std::string& name = graph_[lowering::value_of(parted, read.tensor)].name;
            const auto at = plan_.tensors.find(name);
            if (at != plan_.tensors.end() && at->second.place == plan::Place::kTile) {
                fail(name,
                     fmt::format("exists by tiles only, but whoever combines {} reads it too", parted.name),
                     "place it in the arena");
            }
        }
    }

    const Graph& graph_;
    const plan::SpecialisationPlan& plan_;
    const std::string& where_;
    std::set<std::string> with_parts_;
};

}  // namespace

void verify_parts(const Graph& graph, const plan::SpecialisationPlan& plan, const std::string& where) {
    PartsVerifier(graph, plan, where).run();
}

}  // namespace tessera::planner
