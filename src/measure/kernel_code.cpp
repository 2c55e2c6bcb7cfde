#include "measure/kernel_code.h"

#include <algorithm>
#include <chrono>
#include <future>

#include "codegen/cpp/emit.h"
#include "machine/processors.h"
#include "measure/probe_code.h"

namespace tessera::measure {
namespace {

constexpr std::chrono::milliseconds kTick{100};
/// Each compiler reads NTT's headers, which takes as long as a few cases.
constexpr size_t kFewCases = 32;

/// Deals the cases to the parts in turn, since neighbours take about equally long.
std::vector<std::vector<movement::Program>> in_parts(std::span<const KernelCase> cases) {
    const size_t most = machine::worker_processors().size();
    std::vector<std::vector<movement::Program>> parts(std::clamp<size_t>(cases.size() / kFewCases, 1, most));
    for (size_t i = 0; i < cases.size(); ++i) parts[i % parts.size()].push_back(cases[i].program);
    return parts;
}

}  // namespace

KernelCode::KernelCode(std::span<const KernelCase> cases, const machine::Machine& machine,
                       const MeasureOptions& options) {
    MeasureOptions silent = options;
    silent.on_sample = {};  // must not be called from several threads
    std::vector<std::future<std::string>> compiled;
    for (const std::vector<movement::Program>& part : in_parts(cases))
        compiled.push_back(std::async(std::launch::async,
                                      [&machine, &silent, code = codegen::cpp::emit("micro-kernels", part)] {
                                          return compile_probe(code, machine, silent);
                                      }));
    for (std::future<std::string>& each : compiled) {
        while (each.wait_for(kTick) != std::future_status::ready)
            if (options.on_sample) options.on_sample();
        libraries_.push_back(std::make_unique<runtime::SharedLibrary>(each.get(), "the micro-kernels"));
    }
    for (size_t i = 0; i < cases.size(); ++i) {
        const runtime::SharedLibrary& library = *libraries_[i % libraries_.size()];
        entries_.push_back(library.function<TesseraStepFunction>(codegen::cpp::entry_name(cases[i].program)));
    }
}

}  // namespace tessera::measure
