#include "cli/price_nests.h"

#include <cstdio>
#include <type_traits>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/nest_report.h"
#include "ir/facts/facts.h"
#include "nest/nests/published_price.h"
#include "nest/nests/space_nest.h"
#include "support/error.h"
#include "support/mapped_file.h"

namespace tessera::cli {
namespace {

using nests::Illegal;
using Json = nlohmann::ordered_json;

/// The output for one nest.
struct ShownNest {
    Json json;
    std::string text;  ///< empty if it is illegal
    std::optional<Illegal> illegal;
};

/// The operators of a file, with the machine for which nests of them are priced.
class NestPricer {
public:
    NestPricer(const NestQuestion& question, const nests::KernelFile& file)
        : file_(file), cost_(question.cost), kernel_(nests::make_kernel(file)) {
        if (question.is_space) in_space_.emplace(space_.emplace(nests::make_space(file)));
        if (cost_ && !file.levels && !file.machine)
            throw Error(file.where, "machine", "is missing, and --cost needs its rates",
                        "add a line `machine bandwidth 1e10 peak 1e11 units 2`");
        if (cost_ == machine::PublishedModel::kRoofline) least_ = nests::least_work(kernel_, visible());
    }

    ShownNest show(const std::string& nest) {
        if (in_space_) return shown((*in_space_)(nest));
        return file_.levels ? shown(nests::derive_level_facts(kernel_, *file_.levels, nest))
                            : shown(nests::derive_facts(kernel_, nest, visible(), file_.machine));
    }

private:
    std::vector<std::string> visible() const { return file_.visible.value_or(std::vector<std::string>{}); }

    static Json json_of(const nests::Verdict& verdict, const nests::KernelFile&) {
        return nests::to_json(verdict);
    }
    static Json json_of(const nests::LevelVerdict& verdict, const nests::KernelFile& file) {
        return nests::to_json(verdict, *file.levels);
    }
    std::string text_of(const nests::NestFacts& facts) const { return nests::to_text(facts); }
    std::string text_of(const nests::LevelFacts& facts) const { return nests::to_text(facts, *file_.levels); }
    machine::PublishedPrice price_of(const nests::NestFacts& facts) const {
        return nests::price_published(*cost_, facts, least_, *file_.machine);
    }
    machine::PublishedPrice price_of(const nests::LevelFacts& facts) const {
        return nests::price_published(*cost_, facts, least_, *file_.levels);
    }

    template <typename Facts>
    ShownNest shown(const std::variant<Facts, Illegal>& verdict) const {
        ShownNest nest{.json = json_of(verdict, file_), .text = {}, .illegal = {}};
        if (const auto* illegal = std::get_if<Illegal>(&verdict)) {
            nest.illegal = *illegal;
            return nest;
        }
        const Facts& facts = std::get<Facts>(verdict);
        nest.text = text_of(facts);
        if constexpr (std::is_same_v<Facts, nests::NestFacts>)
            if (space_) nest.json["feasible"] = facts.footprint <= space_->capacity;
        if (!cost_) return nest;
        const machine::PublishedPrice price = price_of(facts);
        nest.json["cost"] = machine::to_json(price);
        nest.text += machine::to_text(price) + "\n";
        return nest;
    }

    const nests::KernelFile& file_;
    const std::optional<machine::PublishedModel> cost_;
    const nests::Kernel kernel_;
    nests::LeastWork least_;
    std::optional<nests::Space> space_;
    std::optional<nests::SpaceFactsOf> in_space_;
};

/// Prices the nest of the file, and prints it as the other verbs do.
int price_own_nest(const NestQuestion& question, const nests::KernelFile& file) {
    if (file.levels)
        nests::check_one_nest_of_levels(file);
    else
        nests::check_one_nest(file);
    const ShownNest nest = NestPricer(question, file).show(*file.nest);
    return report_nest("price", question.file, question.as_json ? facts::facts_text(nest.json) : nest.text,
                       nest.illegal ? &*nest.illegal : nullptr);
}

int price_stated_nests(const NestQuestion& question, const nests::KernelFile& file) {
    NestPricer pricer(question, file);
    Json json = {{"nests", Json::array()}};
    std::string text;
    size_t illegal = 0;
    for (const plan::StatedText& stated : question.stated) {
        if (!stated.specialisation.empty())
            throw Error(stated.where, "specialisation", "is of graphs", "leave it out");
        const ShownNest nest = pricer.show(stated.nest);
        text += fmt::format("{}: {}\n", stated.where, stated.nest);
        text += nest.illegal
                    ? fmt::format("illegal ({}): {}\n", name(nest.illegal->kind), nest.illegal->reason)
                    : nest.text;
        text += "\n";
        Json each = {{"where", stated.where}, {"stated", stated.nest}};
        each.update(nest.json);
        json["nests"].push_back(std::move(each));
        illegal += nest.illegal.has_value();
    }
    if (question.as_json) text = json.dump(1) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
    return report_illegal(question.file, illegal, question.stated.size());
}

}  // namespace

int price_nests(const NestQuestion& question) {
    const nests::KernelFile file =
        nests::read_kernel_file(MappedFile::open(question.file).text(), question.file);
    if (question.has_levels && !file.levels) nests::check_one_nest_of_levels(file);  // says what is missing
    if (!question.has_levels && file.levels)
        throw Error(question.file, "", "has memory levels", "name it `.tier`, or remove the levels");
    return question.stated.empty() ? price_own_nest(question, file) : price_stated_nests(question, file);
}

}  // namespace tessera::cli
