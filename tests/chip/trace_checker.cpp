#include "chip/trace_checker.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <tuple>

#include <fmt/core.h>

#include "chip/trace_totals.h"

namespace tessera::chip {
namespace {

using Json = nlohmann::json;
constexpr double kSlack = 1e-6;

struct Moment {
    double time;
    bool is_begin;
    double change;
    bool operator<(const Moment& other) const {
        return std::tie(time, is_begin, change) < std::tie(other.time, other.is_begin, other.change);
    }
};

class TraceChecker {
public:
    TraceChecker(const Json& chip, const Json& program) : chip_(chip), program_(program) {
        const Json& topology = chip["topology"];
        is_mesh_ = topology["kind"] == "mesh";
        latency_ = topology["latency"];
        cores_ = chip["cores"];
        columns_ = is_mesh_ ? topology["columns"].get<int>() : 0;
        const auto link = [&](const std::string& a, const std::string& b, double rate) {
            rate_[a + ">" + b] = rate;
        };
        const double rate = topology["link_bytes_per_cycle"];
        for (int c = 0; c < cores_; ++c)
            for (const std::string& other : neighbours(c)) {
                link(std::to_string(c), other, rate);
                link(other, std::to_string(c), rate);
            }
        for (size_t h = 0; h < chip["hbm"].size(); ++h)
            for (const std::string& door : doors(h)) {
                link(fmt::format("h{}", h), door, chip["hbm"][h]["port_bytes_per_cycle"]);
                link(door, fmt::format("h{}", h), chip["hbm"][h]["port_bytes_per_cycle"]);
            }
    }

    std::vector<TraceFault> run(const std::string& text) {
        std::istringstream stream(text);
        std::vector<Json> all;
        for (std::string line; std::getline(stream, line);) all.push_back(Json::parse(line));
        if (all.size() < 2 || all.front()["chip"] != chip_)
            return {{"format", "the chip of the header is another one"}};
        trailer_ = all.back();
        double last = 0;
        for (size_t i = 1; i + 1 < all.size(); ++i) {
            const bool is_space = !all[i].contains("kind");
            const double begin = all[i][is_space ? "at" : "start"];
            if (begin < last - kSlack) fault("sorted", all[i]);
            last = std::max(last, begin);
            (is_space ? spaces_ : all[i]["kind"] == "compute" ? tiles_ : packets_).push_back(all[i]);
        }
        check_packets();
        check_busy();
        check_data();
        check_spaces();
        check_controllers();
        check_rules();
        for (TraceFault& found : check_work(program_, packets_, tiles_)) faults_.push_back(std::move(found));
        for (TraceFault& found : check_trailer(trailer_, chip_, rate_, packets_, tiles_, peaks_))
            faults_.push_back(std::move(found));
        return faults_;
    }

private:
    void fault(const std::string& rule, const Json& where) {
        faults_.push_back({rule, where.dump().substr(0, 200)});
    }

    std::vector<std::string> neighbours(int core) const {
        if (!is_mesh_) return {"x"};
        std::vector<std::string> result;
        if (core % columns_ + 1 < columns_) result.push_back(std::to_string(core + 1));
        if (core + columns_ < cores_) result.push_back(std::to_string(core + columns_));
        return result;
    }

    std::vector<std::string> doors(size_t h) const {
        std::vector<std::string> result;
        if (!is_mesh_) return {"x"};
        for (const Json& core : chip_["hbm"][h]["at"]) result.push_back(std::to_string(core.get<int>()));
        return result;
    }

    std::set<std::string> path(int a, int b) const {
        if (!is_mesh_) return {fmt::format("{}>x", a), fmt::format("x>{}", b)};
        std::set<std::string> links;
        const auto go = [&](int& at, int by) {
            links.insert(fmt::format("{}>{}", at, at + by));
            at += by;
        };
        int at = a;
        while (at % columns_ != b % columns_) go(at, b % columns_ > at % columns_ ? 1 : -1);
        while (at != b) go(at, b > at ? columns_ : -columns_);
        return links;
    }

    std::vector<std::set<std::string>> routes(const Json& packet) const {
        std::vector<std::set<std::string>> result;
        if (packet["kind"] == "preload" || packet["kind"] == "store") {
            const bool is_preload = packet["kind"] == "preload";
            const std::string h = is_preload ? packet["from"] : packet["to"][0];
            for (const std::string& door : doors(std::stoul(h.substr(1)))) {
                std::set<std::string> links = {is_preload ? h + ">" + door : door + ">" + h};
                std::vector<int> ends;
                if (!is_preload) ends.push_back(packet["from"]);
                if (is_preload)
                    for (const Json& core : packet["to"]) ends.push_back(core);
                for (const int end : ends) {
                    if (!is_mesh_)
                        links.insert(is_preload ? fmt::format("x>{}", end) : fmt::format("{}>x", end));
                    if (is_mesh_)
                        links.merge(is_preload ? path(std::stoi(door), end) : path(end, std::stoi(door)));
                }
                result.push_back(links);
            }
            return result;
        }
        result.emplace_back();
        for (const Json& core : packet["to"]) result.back().merge(path(packet["from"], core));
        return result;
    }

    void check_packets() {
        for (const Json& packet : packets_) {
            std::map<std::string, std::pair<double, double>> into;
            std::set<std::string> names;
            for (const Json& held : packet["links"]) {
                names.insert(held[0]);
                const std::string name = held[0];
                into[name.substr(name.find('>') + 1)] = {held[1], held[2]};
            }
            const auto allowed = routes(packet);
            if (std::find(allowed.begin(), allowed.end(), names) == allowed.end()) {
                fault("route", packet);
                continue;
            }
            const std::string source = packet["from"].is_string() ? packet["from"].get<std::string>()
                                                                  : std::to_string(packet["from"].get<int>());
            double arrival = 0;
            for (const Json& held : packet["links"]) {
                const std::string name = held[0], from = name.substr(0, name.find('>'));
                const double begin = held[1], until = held[2];
                if (until - begin < packet["bytes"].get<double>() / rate_.at(name) - kSlack)
                    fault("rate", packet);
                if (from == source) {
                    const double wait =
                        packet["kind"] == "preload"
                            ? chip_["hbm"][std::stoul(source.substr(1))]["latency"].get<double>()
                            : 0;
                    if (begin < packet["start"].get<double>() + wait - kSlack) fault("latency", packet);
                } else if (begin < into[from].first + latency_ - kSlack ||
                           until < into[from].second + latency_ - kSlack) {
                    fault("latency", packet);
                }
                arrival = std::max(arrival, until + latency_);
            }
            if (packet["kind"] == "store")
                arrival += chip_["hbm"][std::stoul(packet["to"][0].get<std::string>().substr(1))]["latency"]
                               .get<double>();
            if (std::abs(arrival - packet["end"].get<double>()) > kSlack) fault("latency", packet);
        }
    }

    void check_busy() {
        std::map<std::string, std::vector<std::pair<double, double>>> links;
        std::map<int, std::vector<std::pair<double, double>>> cores;
        for (const Json& packet : packets_)
            for (const Json& held : packet["links"]) links[held[0]].emplace_back(held[1], held[2]);
        for (const Json& tile : tiles_) {
            cores[tile["core"]].emplace_back(tile["start"], tile["end"]);
            const double rate = chip_["compute"][tile["unit"].get<std::string>()];
            if (tile["end"].get<double>() - tile["start"].get<double>() <
                tile["flops"].get<double>() / rate - kSlack)
                fault("rate", tile);
        }
        const auto check = [&](auto& all, const char* rule) {
            for (auto& [key, spans] : all) {
                std::sort(spans.begin(), spans.end());
                for (size_t i = 1; i < spans.size(); ++i)
                    if (spans[i].first < spans[i - 1].second - kSlack) fault(rule, Json(key));
            }
        };
        check(links, "link");
        check(cores, "tile");
    }

    /// Step at which something arrives or is needed: the preload -2, distribution -1.
    static double step_of(const Json& event) {
        if (event["kind"] == "preload") return -2;
        if (event["kind"] == "distribute") return -1;
        if (event["kind"] == "store") return INFINITY;
        return event["step"];
    }

    void check_data() {
        std::map<std::pair<size_t, int>, std::vector<std::pair<double, double>>> arrived,
            computed;  // steps and ends
        for (const Json& packet : packets_)
            if (packet["kind"] != "store")
                for (const Json& core : packet["to"])
                    arrived[{packet["op"], core}].emplace_back(step_of(packet), packet["end"]);
        for (const Json& tile : tiles_)
            computed[{tile["op"], tile["core"]}].emplace_back(tile["step"], tile["end"]);
        const auto check = [&](const Json& event, int core) {
            const double step = step_of(event), start = event["start"];
            const std::pair<size_t, int> key{event["op"], core};
            for (const auto& [s, end] : arrived[key])
                if (s < step && start < end - kSlack) fault("data", event);
            for (const auto& [s, end] : computed[key]) {
                const bool is_tile = event["kind"] == "compute";
                const bool follows = event["kind"] == "reduce" || event["kind"] == "store";
                if (((is_tile && s < step) || (follows && s <= step)) && start < end - kSlack)
                    fault("data", event);
            }
        };
        for (const Json& packet : packets_)
            if (packet["kind"] != "preload") check(packet, packet["from"]);
        for (const Json& tile : tiles_) check(tile, tile["core"]);
    }

    void check_spaces() {
        std::map<std::tuple<size_t, int, std::string>, Json> held;
        std::map<int, std::vector<Moment>> changes;
        for (const Json& space : spaces_) {
            const std::string state = space["state"];
            const int core = space["core"];
            if (!held.emplace(std::tuple(space["op"].get<size_t>(), core, state), space).second)
                fault("space", space);
            if (space["bytes"] !=
                program_["operators"][space["op"].get<size_t>()][state + "_bytes"][static_cast<size_t>(core)])
                fault("space", space);
            changes[core].push_back({space["at"], true, space["bytes"]});
            changes[core].push_back({space["free"], false, -space["bytes"].get<double>()});
        }
        peaks_.assign(static_cast<size_t>(cores_), 0);
        for (auto& [core, list] : changes) {
            std::sort(list.begin(), list.end());
            double now = 0, since = -1;
            for (const Moment& moment : list) {
                now += moment.change;
                peaks_[static_cast<size_t>(core)] = std::max(peaks_[static_cast<size_t>(core)], now);
                const bool is_above = now > chip_["sram_bytes"].get<double>();
                if (!is_above && since >= 0 && moment.time - since > kSlack) fault("sram", Json(core));
                if (is_above && since < 0) since = moment.time;
                if (!is_above) since = -1;
            }
        }
        const auto check = [&](const Json& event, int core) {
            const std::string state = event["kind"] == "preload" ? "preload" : "execute";
            const size_t op = event["op"];
            if (program_["operators"][op][state + "_bytes"][static_cast<size_t>(core)] == 0) return;
            const auto found = held.find({op, core, state});
            if (found == held.end() ||
                event["start"].get<double>() < found->second["at"].get<double>() - kSlack ||
                event["end"].get<double>() > found->second["free"].get<double>() + kSlack)
                fault("space", event);
        };
        for (const Json& packet : packets_) {
            if (packet["from"].is_number()) check(packet, packet["from"]);
            for (const Json& target : packet["to"])
                if (target.is_number()) check(packet, target);
        }
        for (const Json& tile : tiles_) check(tile, tile["core"]);
        for (const auto& [key, space] : held) {
            if (std::get<2>(key) != "preload" || space["bytes"] == 0) continue;
            const auto after = held.find({std::get<0>(key), std::get<1>(key), "execute"});
            if (after != held.end() &&
                space["free"].get<double>() < after->second["at"].get<double>() - kSlack)
                fault("space", space);
        }
    }

    void check_controllers() {
        for (size_t h = 0; h < chip_["hbm"].size(); ++h) {
            std::vector<Moment> changes;
            const std::string node = fmt::format("h{}", h);
            for (const Json& packet : packets_)
                for (const Json& held : packet["links"]) {
                    const std::string name = held[0];
                    const bool is_port =
                        name.substr(0, name.find('>')) == node || name.substr(name.find('>') + 1) == node;
                    if (!is_port || held[2] <= held[1]) continue;
                    const double rate =
                        packet["bytes"].get<double>() / (held[2].get<double>() - held[1].get<double>());
                    changes.push_back({held[1].get<double>() + kSlack, true, rate});
                    changes.push_back({held[2].get<double>() - kSlack, false, -rate});
                }
            std::sort(changes.begin(), changes.end());
            double now = 0, most = 0;
            for (const Moment& moment : changes) most = std::max(most, now += moment.change);
            if (most > chip_["hbm"][h]["bytes_per_cycle"].get<double>() * (1 + 1e-6))
                fault("hbm", Json(node));
        }
    }

    void check_rules() {
        std::map<std::pair<bool, size_t>, std::pair<double, double>>
            spans;  // execute?, operator: begin and end
        const auto add = [&](const Json& event) {
            const auto [found, is_new] =
                spans.try_emplace({event["kind"] != "preload", event["op"]}, event["start"], event["end"]);
            found->second.first = std::min(found->second.first, event["start"].get<double>());
            found->second.second = std::max(found->second.second, event["end"].get<double>());
        };
        for (const Json& packet : packets_) add(packet);
        for (const Json& tile : tiles_) add(tile);
        double executed = 0, preloaded = 0;
        for (const Json& entry : program_["program"]) {
            const bool is_execute = entry[0] == "execute";
            const auto found = spans.find({is_execute, entry[1]});
            if (found == spans.end()) continue;
            const auto [begin, end] = found->second;
            if (begin < executed - kSlack) fault("rule 1", entry);
            if (!is_execute && begin < preloaded - kSlack) fault("rule 2", entry);
            const auto own = spans.find({false, entry[1]});
            if (is_execute && own != spans.end() && begin < own->second.second - kSlack)
                fault("rule 3", entry);
            (is_execute ? executed : preloaded) = std::max(is_execute ? executed : preloaded, end);
        }
    }

    const Json& chip_;
    const Json& program_;
    bool is_mesh_ = false;
    double latency_ = 0;
    int cores_ = 0, columns_ = 0;
    std::map<std::string, double> rate_;
    Json trailer_;
    std::vector<Json> packets_, tiles_, spaces_;
    std::vector<double> peaks_;
    std::vector<TraceFault> faults_;
};

}  // namespace

std::vector<TraceFault> check_trace(const std::string& lines, const Json& chip, const Json& program) {
    return TraceChecker(chip, program).run(lines);
}

}  // namespace tessera::chip
