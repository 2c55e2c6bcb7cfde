#include "distribution/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace tessera::distribution {
namespace {

using Json = nlohmann::ordered_json;

Json entries(const Form& form) {
    Json list = Json::array();
    for (const Sbp& entry : form) list.push_back(facts::text(entry));
    return list;
}

std::string text_of(const Operator& op, const Choice& choice) {
    std::string levels;
    for (const LevelChoice& level : choice.levels)
        levels += (levels.empty() ? "" : ", ") + text(level, op.bound.definition);
    return levels;
}

// Whole bytes as an integer.
Json bytes_json(const Problem& problem, int64_t units) {
    if (units % problem.units_per_byte() == 0) return units / problem.units_per_byte();
    return problem.bytes(units);
}

std::string bytes_text(const Problem& problem, int64_t units) {
    return fmt::format("{:.10g} bytes", problem.bytes(units));
}

class Report {
public:
    Report(const Problem& problem, const Distribution& found) : problem_(problem), found_(found) {
        for (const Operator& op : problem.operators) width_ = std::max(width_, op.name().size());
        for (const Value& value : problem.values) width_ = std::max(width_, value.name.size());
        for (size_t o = 0; o < problem.operators.size(); ++o)
            how_ = std::max(how_, text_of(problem.operators[o], found.plan.operators[o]).size());
        for (const ValuePlan& value : found.plan.values) {
            how_ = std::max(how_, text(value.made).size());
            for (const Box& each : value.boxes)
                how_ = std::max(how_, text(each.from).size() + 4 + text(each.to).size());
        }
    }

    std::string run() {
        line("status", name(found_.status));
        if (found_.has_plan()) line("cost", fmt::format("{:.6g} s", found_.plan.seconds));
        if (found_.status != Status::kInfeasible) line("bound", fmt::format("{:.6g} s", found_.bound));
        if (found_.has_plan()) line("gap", fmt::format("{:.3g} %", 100 * found_.gap()));
        line(found_.has_plan() ? "memory" : "least memory",
             fmt::format("{} of {}", bytes_text(problem_, found_.plan.units),
                         problem_.memory ? fmt::format("{}", *problem_.memory) : "unlimited"));
        line("nodes", fmt::format("{}", found_.nodes));
        found_.has_plan() ? plan() : refusal();
        return std::move(text_);
    }

private:
    void line(std::string_view key, std::string_view content) {
        text_ += fmt::format("{:<{}}  {}\n", key, width_ + 2, content);
    }

    void row(std::string_view name, const std::string& how, const std::string& bytes, double seconds,
             const std::string& remark = "") {
        std::string row = fmt::format("  {:<{}}  {:<{}}  {:>14}", name, width_, how, how_, bytes);
        if (seconds >= 0) row += fmt::format("  {:>12.6g} s", seconds);
        if (!remark.empty()) row += "  " + remark;
        text_ += row + "\n";
    }

    void plan() {
        text_ += "\noperators\n";
        for (size_t o = 0; o < problem_.operators.size(); ++o)
            row(problem_.operators[o].name(), text_of(problem_.operators[o], found_.plan.operators[o]), "",
                found_.plan.operators[o].seconds);
        text_ += "\nvalues\n";
        for (size_t v = 0; v < problem_.values.size(); ++v) {
            const Value& value = problem_.values[v];
            const auto bytes = [&](const Form& form) {
                return bytes_text(problem_, problem_.units(value, form));
            };
            const Form& made = found_.plan.values[v].made;
            row(value.name, text(made), bytes(made), -1);
            for (const Box& each : found_.plan.values[v].boxes)
                row("", fmt::format("{} -> {}", text(each.from), text(each.to)), bytes(each.to), each.seconds,
                    fmt::format("{}, level {}", distribution::name(each.collective), each.level));
        }
    }

    // Which values hold how much in the plan of the least memory, the largest first.
    void refusal() {
        std::vector<std::pair<int64_t, size_t>> held;
        for (size_t v = 0; v < problem_.values.size(); ++v)
            held.emplace_back(units_of(problem_, problem_.values[v], found_.plan.values[v]), v);
        std::ranges::stable_sort(held, [](const auto& a, const auto& b) { return a.first > b.first; });
        text_ += "\nwhat a device holds in the plan of the least memory, the largest first\n";
        for (const auto& [units, v] : held) {
            std::string forms = text(found_.plan.values[v].made);
            for (const Box& each : found_.plan.values[v].boxes) forms += ", " + text(each.to);
            const bool is_too_large = problem_.bytes(units) > static_cast<double>(*problem_.memory);
            text_ += fmt::format("  {:<{}}  {:>14}  {}{}\n", problem_.values[v].name, width_,
                                 bytes_text(problem_, units), forms,
                                 is_too_large ? ": more than the memory by itself" : "");
        }
    }

    const Problem& problem_;
    const Distribution& found_;
    size_t width_ = 12;  // of "least memory"
    size_t how_ = 12;    // of choices and forms
    std::string text_;
};

}  // namespace

std::string json_text(const Problem& problem, const Distribution& found) {
    Json json = {{"status", name(found.status)}};
    if (found.has_plan()) {
        json["cost"] = found.plan.seconds;
        json["bound"] = found.bound;
        json["gap"] = found.gap();
    }
    json["memory"] = bytes_json(problem, found.plan.units);
    json["nodes"] = found.nodes;
    if (found.has_plan()) {
        json["operators"] = Json::object();
        for (size_t o = 0; o < problem.operators.size(); ++o) {
            const Operator& op = problem.operators[o];
            Json& levels = json["operators"][op.name()] = Json::array();
            for (const LevelChoice& level : found.plan.operators[o].levels)
                levels.push_back(text(level, op.bound.definition));
        }
        json["values"] = Json::object();
        for (size_t v = 0; v < problem.values.size(); ++v) {
            Json boxes = Json::array();
            for (const Box& box : found.plan.values[v].boxes)
                boxes.push_back({{"from", entries(box.from)},
                                 {"to", entries(box.to)},
                                 {"seconds", box.seconds},
                                 {"collective", name(box.collective)}});
            json["values"][problem.values[v].name] = {{"made", entries(found.plan.values[v].made)},
                                                      {"boxes", boxes}};
        }
    }
    return json.dump(1) + "\n";
}

std::string report(const Problem& problem, const Distribution& found) {
    return Report(problem, found).run();
}

}  // namespace tessera::distribution
