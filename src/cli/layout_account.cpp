#include "cli/layout_account.h"

#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;
using layouts::Account;
using layouts::UsedForm;

class Names {
public:
    explicit Names(const compiler::LayoutSearch& again) : again_(again) {}

    std::string specialisation(const layouts::Instance& at) const {
        return again_.initial.specialisations[at.specialisation].name;
    }
    const Block& block(const layouts::Instance& at) const { return again_.graph.blocks[at.block]; }

    /// "layer_gate in prefill"; a constant has no specialisation.
    std::string of(const UsedForm& form) const {
        if (!form.at) return form.tensor;
        return fmt::format("{} in {}", form.made_by.empty() ? form.tensor : form.made_by,
                           specialisation(*form.at));
    }

    /// "64 x decode_256 + 1 x prefill_256".
    std::string points() const {
        std::string text;
        for (const Point& point : again_.graph.points)
            text += fmt::format("{}{} x {}", text.empty() ? "" : " + ", point.weight, point.name);
        return text;
    }

private:
    const compiler::LayoutSearch& again_;
};

std::string exact_microseconds(double seconds) {
    return fmt::format("{:.3f} us", seconds * 1e6);
}

/// "466.706 us: matmul(row-major, row-major) -> row-major by op[...]"; a form of unknown cost has no time.
std::string cost_of(const UsedForm& form) {
    if (form.by.empty()) return "left alone by the search";
    return fmt::format("{}: {} by {}", exact_microseconds(form.seconds), form.form, form.by);
}

bool is_optimal(const extraction::Result& result) {
    return result.status == extraction::Status::kOptimal;
}

std::string of_change(const std::optional<UsedForm>& before, const std::optional<UsedForm>& after,
                      const Names& names) {
    const UsedForm& form = after ? *after : *before;
    if (!form.at) return fmt::format("    {} is stored {}\n", form.tensor, print(form.layout));
    if (before && after)
        return fmt::format("    {} takes {}\n        in place of {}\n", names.of(form), cost_of(*after),
                           cost_of(*before));
    return fmt::format("    {}a copy of {} in {}, {}\n", after ? "" : "without ", form.tensor,
                       names.specialisation(*form.at), cost_of(form));
}

std::string runner_up_in_words(const Account& account, const layouts::Search& search, const Names& names) {
    const extraction::Result& other = account.runner_up;
    if (other.choice.empty()) {
        if (other.status == extraction::Status::kOutOfBudget)
            return "  Whether it could lie otherwise was not found out within --search-effort.\n";
        return account.impossible.empty() ? "  There is no runner-up: no rule offers it in another layout.\n"
                                          : "  There is no runner-up: nothing computes what it would take.\n";
    }
    const double more = other.cost - search.result.cost;
    const std::string difference =
        std::abs(more) < 5e-10
            ? "as much"
            : fmt::format("{} ({:.3g} %) {}", exact_microseconds(std::abs(more)),
                          100 * std::abs(more) / search.result.cost, more > 0 ? "more" : "less");
    std::string text = fmt::format("  The runner-up is {}: with it all layouts would take {}, {}{}.\n",
                                   print(account.other_layout), exact_microseconds(other.cost), difference,
                                   is_optimal(other) ? ""
                                                     : fmt::format(", or less: no less than {} was proved",
                                                                   exact_microseconds(other.bound)));
    text += "  Then\n";
    for (const auto& [before, after] : account.changes) text += of_change(before, after, names);
    return text;
}

std::string in_words(const TensorAccount& each, const compiler::LayoutSearch& again) {
    const Account& account = each.account;
    const Names names(again);
    const std::string layout = print(account.layout);
    std::string text;
    if (each.value.at) {
        const Block& block = names.block(*each.value.at);
        text =
            fmt::format("\nIn {}, block {}{}, it is {}.\n", names.specialisation(*each.value.at), block.name,
                        block.repeat > 1 ? fmt::format(" ({} times)", block.repeat) : "", layout);
        if (!each.left_alone.empty()) text += "  The search leaves it alone: " + each.left_alone + ".\n";
    } else {
        text = fmt::format("\nIt is stored {}, in one form for all specialisations.\n", layout);
    }
    if (each.in_artefact && *each.in_artefact != account.layout)
        text += fmt::format(
            "  The artefact has it {}: it was compiled for another machine or number of workers, with "
            "another "
            "--search-effort or with --plan.\n",
            print(*each.in_artefact));
    if (each.value.at && each.left_alone.empty())
        text += fmt::format("  {} makes it, {}\n", account.maker.made_by, cost_of(account.maker));
    for (const UsedForm& copy : account.copies) text += fmt::format("  It is copied, {}\n", cost_of(copy));
    for (const UsedForm& reader : account.readers)
        text +=
            fmt::format("  {} reads it {}, {}\n", names.of(reader), print(reader.layout), cost_of(reader));
    if (account.readers.empty()) text += "  Nothing in the block reads it.\n";
    if (each.left_alone.empty()) text += runner_up_in_words(account, again.search, names);
    if (!account.impossible.empty()) text += "  Impossible are\n";
    for (const auto& [form, why] : account.impossible) text += fmt::format("    {}: {}\n", form, why);
    return text;
}

Json as_json(const UsedForm& form, const Names& names) {
    return {{"tensor", form.tensor},
            {"operator", form.made_by.empty() ? Json() : Json(form.made_by)},
            {"specialisation", form.at ? Json(names.specialisation(*form.at)) : Json()},
            {"layout", print(form.layout)},
            {"form", form.form},
            {"seconds", form.seconds},
            {"by", form.by}};
}

Json as_json(const std::vector<UsedForm>& forms, const Names& names) {
    Json list = Json::array();
    for (const UsedForm& form : forms) list.push_back(as_json(form, names));
    return list;
}

Json runner_up_as_json(const Account& account, const Names& names) {
    const extraction::Result& other = account.runner_up;
    Json json = {{"status", name(other.status)}};
    if (other.choice.empty()) return json;
    json["layout"] = print(account.other_layout);
    json["seconds"] = other.cost;
    json["bound"] = other.bound;
    json["changes"] = Json::array();
    for (const auto& [before, after] : account.changes)
        json["changes"].push_back({{"before", before ? as_json(*before, names) : Json()},
                                   {"after", after ? as_json(*after, names) : Json()}});
    return json;
}

Json as_json(const TensorAccount& each, const compiler::LayoutSearch& again) {
    const Account& account = each.account;
    const Names names(again);
    Json json = {{"specialisation", each.value.at ? Json(names.specialisation(*each.value.at)) : Json()},
                 {"block", each.value.at ? Json(names.block(*each.value.at).name) : Json()},
                 {"layout", print(account.layout)},
                 {"layout_in_artefact", each.in_artefact ? Json(print(*each.in_artefact)) : Json()},
                 {"left_alone", each.left_alone.empty() ? Json() : Json(each.left_alone)},
                 {"made_by", as_json(account.maker, names)},
                 {"readers", as_json(account.readers, names)},
                 {"copies", as_json(account.copies, names)},
                 {"runner_up", runner_up_as_json(account, names)},
                 {"impossible", Json::array()}};
    for (const auto& [form, why] : account.impossible)
        json["impossible"].push_back({{"form", form}, {"why", why}});
    return json;
}

}  // namespace

std::string in_words(const TensorAccounts& accounts, const compiler::LayoutSearch& again) {
    const extraction::Result& result = again.search.result;
    const std::string points = Names(again).points();
    std::string text = fmt::format("{}: {}\n", accounts.tensor, accounts.description);
    if (accounts.accounts.empty()) return text + "\nNo result needs it.\n";
    for (const TensorAccount& each : accounts.accounts) text += in_words(each, again);
    text += "\nTimes are of all points by their weights and of all repetitions of a block.\n";
    if (!again.is_measured)
        text += "They are roofs that such a machine typically has: it was not measured.\n";
    text += fmt::format("All layouts as they are take {}{}, and ", exact_microseconds(result.cost),
                        points.empty() ? "" : " at " + points);
    return text + (is_optimal(result) ? "none take less.\n"
                                      : fmt::format("none were found that take less (at least {}).\n",
                                                    exact_microseconds(result.bound)));
}

Json as_json(const TensorAccounts& accounts, const compiler::LayoutSearch& again) {
    const extraction::Result& result = again.search.result;
    Json json = {{"tensor", accounts.tensor},     {"description", accounts.description},
                 {"status", name(result.status)}, {"measured", again.is_measured},
                 {"seconds", result.cost},        {"bound", result.bound},
                 {"points", Json::object()},      {"accounts", Json::array()}};
    for (const Point& point : again.graph.points) json["points"][point.name] = point.weight;
    for (const TensorAccount& each : accounts.accounts) json["accounts"].push_back(as_json(each, again));
    return json;
}

}  // namespace tessera::cli
