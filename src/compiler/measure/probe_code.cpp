#include "compiler/measure/probe_code.h"

#include <vector>

#include <fmt/core.h>

#include "backend/toolchain.h"
#include "compiler/measure/unit_code.h"

namespace tessera::measure {
namespace {

// The compiler drops a load whose value is unused; the empty statement uses it and costs nothing.
constexpr const char* kRead = R"(#include "tessera/ntt/ntt.h"

namespace ntt = tessera::ntt;

namespace {{

using V = ntt::Vector<float, {lanes}>;

template <int Streams, bool Prefetches>
[[gnu::always_inline]] inline void read(const char* data, int64_t bytes, [[maybe_unused]] int64_t distance) {{
    const int64_t part = bytes / Streams;
    for (int64_t at = 0; at < part; at += {step}) {{
#pragma GCC unroll 8
        for (int s = 0; s < Streams; ++s) {{
            const char* p = data + s * part + at;
#pragma GCC unroll 64
            for (int64_t i = 0; i < {step}; i += sizeof(V)) {{
                if constexpr (Prefetches) {{
                    if (i % {line} == 0) __builtin_prefetch(p + i + distance);
                }}
                const V v = ntt::load<V>(reinterpret_cast<const float*>(p + i));
                asm volatile("" : : "{register}"(v.bits));
            }}
        }}
    }}
}}

}}  // namespace
)";

}  // namespace

std::string read_function(int64_t streams, bool prefetches) {
    return fmt::format("read_{}{}", streams, prefetches ? "_ahead" : "");
}

std::string read_code(const machine::Machine& machine) {
    std::string text = fmt::format(kRead, fmt::arg("lanes", machine::vector_lanes(machine)),
                                   fmt::arg("step", kReadStep), fmt::arg("line", machine.cache_line_bytes),
                                   fmt::arg("register", machine.isa == machine::Isa::kX86_64 ? "v" : "w"));
    for (const int64_t streams : kStreams)
        for (const bool prefetches : {false, true})
            text += fmt::format(
                "\nextern \"C\" void {}(const char* data, int64_t bytes, int64_t distance) {{\n"
                "    read<{}, {}>(data, bytes, distance);\n}}\n",
                read_function(streams, prefetches), streams, prefetches);
    return text;
}

backend::Code roof_code(const machine::Machine& machine) {
    std::vector<UnitProbe> probes;
    for (const machine::ComputeUnit& unit : machine.units)
        if (const auto probe = probe_of(unit)) probes.push_back(*probe);
    backend::Code code = unit_code(probes, machine.isa);
    add_unit(code, read_code(machine));
    return code;
}

std::string compile_probe(const backend::Code& code, const machine::Machine& machine,
                          const MeasureOptions& options) {
    return backend::compile_shared_object(code, {.compiler = machine.compiler,
                                                 .isa = machine.isa,
                                                 .include_directory = options.include_directory,
                                                 .cache_directory = options.cache_directory,
                                                 .search_path = options.search_path,
                                                 .while_waiting = options.on_sample})
        .bytes;
}

}  // namespace tessera::measure
