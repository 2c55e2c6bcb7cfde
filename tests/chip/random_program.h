#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace tessera::chip {

/// Chips of both topologies and programs for them, as JSON: every list, zeros, ties, several steps, any order
/// of preloads that does not deadlock.
class RandomProgram {
public:
    explicit RandomProgram(unsigned seed) : random_(seed) {
        make_chip();
        for (size_t i = 0, count = 1 + below(5); i < count; ++i) operators_.push_back(make_operator(i));
        make_order();
    }

    nlohmann::json chip() const { return chip_; }
    nlohmann::json program() const {
        return {{"name", "random"}, {"operators", operators_}, {"program", order_}};
    }

private:
    using Json = nlohmann::json;

    size_t below(size_t count) { return static_cast<size_t>(random_() % count); }
    int core() { return static_cast<int>(below(static_cast<size_t>(cores_))); }
    double rate(size_t most) {
        return below(2) == 0 ? 1.0 + static_cast<double>(below(most))
                             : 0.5 + static_cast<double>(below(100 * most)) / 100;
    }
    int64_t size() { return static_cast<int64_t>(below(4) == 0 ? below(4) : below(4000)); }

    void make_chip() {
        const bool is_mesh = below(2) == 0;
        const int rows = 1 + static_cast<int>(below(4)), columns = 1 + static_cast<int>(below(4));
        cores_ = is_mesh ? rows * columns : 1 + static_cast<int>(below(12));
        Json topology = {{"kind", "all-to-all"}, {"link_bytes_per_cycle", rate(16)}, {"latency", below(4)}};
        if (is_mesh) topology.update({{"kind", "mesh"}, {"rows", rows}, {"columns", columns}});
        Json hbm = Json::array();
        for (size_t h = 0, count = 1 + below(3); h < count; ++h) {
            hbm.push_back(
                {{"bytes_per_cycle", rate(32)}, {"port_bytes_per_cycle", rate(16)}, {"latency", below(40)}});
            if (!is_mesh) continue;
            std::vector<int> at = some_cores(-1);
            at.resize(std::min<size_t>(at.size(), 3));
            hbm.back()["at"] = at;
        }
        chip_ = {{"name", "random"},
                 {"cores", cores_},
                 {"sram_bytes", 1'000'000},
                 {"clock_hz", 1'000'000'000},
                 {"topology", topology},
                 {"hbm", hbm},
                 {"compute", {{"matrix", rate(64)}, {"vector", rate(8)}}}};
    }

    std::vector<int> some_cores(int without) {
        std::vector<int> all;
        for (int c = 0; c < cores_; ++c)
            if (c != without) all.push_back(c);
        for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[below(i)]);
        if (!all.empty()) all.resize(1 + below(std::min<size_t>(all.size(), 5)));
        return all;
    }

    Json make_operator(size_t number) {
        Json made = {{"name", fmt::format("op{}", number)}};
        for (size_t i = below(6); i > 0; --i)
            made["preload"].push_back({{"to", some_cores(-1)}, {"bytes", size()}});
        for (const char* kind : {"distribute", "shift", "reduce"})
            for (size_t i = below(10); i > 0; --i) {
                const int from = core();
                const std::vector<int> to = some_cores(from);
                if (to.empty()) continue;
                made[kind].push_back({{"from", from}, {"to", to}, {"bytes", size()}});
                if (kind != std::string("distribute")) made[kind].back()["step"] = 3 * below(3);
            }
        for (size_t i = below(16); i > 0; --i)
            made["compute"].push_back({{"step", 3 * below(3)},
                                       {"core", core()},
                                       {"unit", below(2) == 0 ? "matrix" : "vector"},
                                       {"flops", size()}});
        for (size_t i = below(4); i > 0; --i)
            made["store"].push_back({{"from", core()},
                                     {"to", {fmt::format("h{}", below(chip_["hbm"].size()))}},
                                     {"bytes", size()}});
        for (int c = 0; c < cores_; ++c) {
            made["preload_bytes"].push_back(below(4) * 100);
            made["execute_bytes"].push_back(below(4) * 200);
        }
        return made;
    }

    void make_order() {
        std::vector<size_t> preloads;
        for (size_t i = 0; i < operators_.size(); ++i) preloads.push_back(i);
        for (size_t i = preloads.size(); i > 1; --i) std::swap(preloads[i - 1], preloads[below(i)]);
        std::vector<bool> is_issued(operators_.size(), false);
        size_t next = 0;
        for (size_t executed = 0; executed < operators_.size();) {
            if (next < preloads.size() && (!is_issued[executed] || below(2) == 0)) {
                is_issued[preloads[next]] = true;
                order_.push_back({"preload", preloads[next++]});
            } else {
                order_.push_back({"execute", executed++});
            }
        }
    }

    std::mt19937 random_;
    int cores_ = 0;
    Json chip_, operators_ = Json::array(), order_ = Json::array();
};

}  // namespace tessera::chip
