#include "backend/backend.h"

#include <algorithm>
#include <array>

#include "backend/cpp/emit.h"
#include "backend/scalar_c/emit.h"
#include "support/alternatives.h"

namespace tessera::backend {
namespace {

constexpr std::array kBackends = {
    Backend{.name = "cpp",
            .summary = "C++ over NTT, with the micro-kernels",
            .suffix = "cpp",
            .emit = [](const std::string& model, const std::vector<movement::Program>& programs,
                       const Exchanges& exchanges) { return cpp::emit(model, programs, exchanges); }},
    Backend{.name = "scalar-c",
            .summary = "plain C, a number at a time: slow, and rounded as the interpreter of programs rounds",
            .suffix = "c",
            .emit = scalar_c::emit}};

}  // namespace

std::span<const Backend> backends() {
    return kBackends;
}

const Backend& default_backend() {
    return kBackends.front();
}

std::string backend_names() {
    std::vector<std::string_view> names;
    for (const Backend& each : kBackends) names.push_back(each.name);
    return alternatives(names);
}

const Backend* find_backend(std::string_view name) {
    const auto found = std::ranges::find(kBackends, name, &Backend::name);
    return found == kBackends.end() ? nullptr : &*found;
}

std::string entry_name(const movement::Program& program) {
    return "tessera_step_" + program.specialisation;
}

}  // namespace tessera::backend
