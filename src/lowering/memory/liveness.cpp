#include "lowering/memory/liveness.h"

#include <algorithm>
#include <map>

#include "lowering/movement/phases.h"
#include "lowering/plan/parts.h"

namespace tessera::memory {

std::vector<LiveBuffer> liveness(const Graph& graph, const movement::Program& program) {
    struct Use {
        size_t block;
        int64_t kernel;
    };
    std::map<std::string, std::vector<Use>> uses;
    std::map<std::string, int64_t> bytes;
    std::vector<std::pair<int64_t, int64_t>> span(program.blocks.size());  // kernels of each block
    int64_t kernel = 0;
    for (size_t b = 0; b < program.blocks.size(); ++b) {
        span[b].first = kernel;
        for (const movement::Kernel& k : program.blocks[b].kernels) {
            for (const movement::ProgramBuffer& buffer : k.buffers) {
                if (buffer.memory != movement::MemoryKind::kArena) continue;
                uses[buffer.value].push_back({b, kernel});
                bytes[buffer.value] = std::max(bytes[buffer.value], buffer.bytes);
            }
            ++kernel;
        }
        span[b].second = kernel;
    }
    struct Span {
        int64_t first, last;
    };
    std::map<int64_t, Span> kernels_of;  // the first and one behind the last of each phase
    const std::vector<int64_t> phase = movement::phases(program);
    for (int64_t k = 0; k < kernel; ++k) {
        const auto [at, is_new] = kernels_of.emplace(phase[static_cast<size_t>(k)], Span{k, k + 1});
        at->second.last = k + 1;
    }
    std::vector<LiveBuffer> result;
    std::vector<std::string> names;
    for (const Value& value : graph.values) {
        names.push_back(value.name);
        names.push_back(plan::parts_of(value.name));
    }
    for (const std::string& name : names) {
        const auto at = uses.find(name);
        if (at == uses.end()) continue;
        LiveBuffer live{name, bytes[name], at->second.front().kernel, at->second.back().kernel + 1};
        const bool crosses = at->second.front().block != at->second.back().block;
        for (const Use& use : at->second) {
            if (!crosses || program.blocks[use.block].repeat == 1) continue;
            live.first = std::min(live.first, span[use.block].first);
            live.last = std::max(live.last, span[use.block].second);
        }
        const Span begin = kernels_of.at(phase[static_cast<size_t>(live.first)]);
        const Span end = kernels_of.at(phase[static_cast<size_t>(live.last - 1)]);
        live.first = std::min(begin.first, end.first);
        live.last = std::max(begin.last, end.last);
        result.push_back(std::move(live));
    }
    return result;
}

}  // namespace tessera::memory
