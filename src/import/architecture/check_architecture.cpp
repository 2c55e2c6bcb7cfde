#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "import/architecture/evaluate.h"
#include "import/architecture/functions.h"
#include "import/architecture/parse_architecture.h"
#include "import/architecture/part.h"
#include "import/model_spec.h"
#include "support/error.h"
#include "support/near_names.h"

namespace tessera::import {
namespace {

using Names = std::set<std::string>;

bool is_option(const ValueFunction& function, std::string_view option) {
    std::string_view rest = function.options;
    while (!rest.empty()) {
        const size_t end = std::min(rest.find(' '), rest.size());
        if (rest.substr(0, end) == option) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

/// Checks terms of one place of a text, where these names mean something.
class TermCheck {
public:
    TermCheck(const Architecture& architecture, Names names)
        : architecture_(architecture), names_(std::move(names)) {
        for (const char* name : {"null", "true", "false", "stored", "inf", "is_gguf", "embedding_rows"})
            names_.insert(name);
    }

    void add(const std::string& name) { names_.insert(name); }
    /// A setting may be what the file stores.
    void allow_stored() { may_be_stored_ = true; }

    void operator()(const TermPtr& term, const std::string& where, bool has_values = false) const {
        walk(term, [&](const Term& each) {
            if (each.kind == Term::Kind::kName || each.kind == Term::Kind::kElement)
                expect_known(each.name, where);
            if (each.kind == Term::Kind::kCall) check_call(each, where, has_values);
        });
    }

    void expect_known(const std::string& name, const std::string& where) const {
        if (names_.contains(name)) return;
        const std::vector<std::string> known(names_.begin(), names_.end());
        const std::vector<std::string> near = near_names(name, known);
        throw Error(where, name, "is declared nowhere",
                    near.empty() ? "expected a setting, a tensor or a value" : "perhaps " + near.front());
    }

private:
    void check_call(const Term& call, const std::string& where, bool has_values) const {
        const size_t count = call.arguments.size();
        if (call.name == "stored" && !may_be_stored_)
            throw Error(where, call.name, "can be asked for in the value of a setting alone");
        const ValueFunction* function = has_values ? find_value_function(call.name) : nullptr;
        const Setting* setting = architecture_.setting(call.name);
        const bool is_activation = has_values && (find_activation(call.name).has_value() ||
                                                  (setting && setting->type == SettingType::kActivation));
        const bool is_reduction = has_values && (call.name == "sum" || call.name == "max");
        const int arity = scalar_arity(call.name);
        if (!function && !is_activation && !is_reduction && arity == 0)
            throw Error(where, call.name, "is no function", functions_text(has_values));
        for (const auto& [option, value] : call.options)
            if (!function || !is_option(*function, option))
                throw Error(where, option, fmt::format("is no option of {}", call.name));
        const size_t fewest = function                        ? function->fewest
                              : is_activation || is_reduction ? 1
                                                              : static_cast<size_t>(arity);
        const size_t most = function ? function->most : std::max(fewest, static_cast<size_t>(arity));
        if (count < fewest || count > most)
            throw Error(
                where, call.name,
                fmt::format("has {} arguments, expected {}", count,
                            fewest == most ? fmt::to_string(fewest) : fmt::format("{} to {}", fewest, most)));
    }

    static std::string functions_text(bool has_values) {
        std::string text = "known are select, given, min, max and others of operators";
        if (has_values)
            for (const ValueFunction& each : value_functions()) text += fmt::format(", {}", each.name);
        return text;
    }

    const Architecture& architecture_;
    Names names_;
    bool may_be_stored_ = false;
};

class Checker {
public:
    explicit Checker(const Architecture& architecture) : architecture_(architecture) {}

    void run() const {
        Names common;
        for (const Setting& each : architecture_.settings) common.insert(each.name);
        for (const Let& each : architecture_.lets) common.insert(each.name);
        common.insert("layer");
        const TermCheck terms(architecture_, common);
        check_settings(terms);
        check_rest(terms);
        check_section(architecture_.model, common, {"token", "position", kDistance});
        check_section(architecture_.layer, common, {"x", "position", kDistance});
        if (!architecture_.classes.empty() || !architecture_.gguf_name.empty()) check_complete();
    }

private:
    void check_format(const TermCheck& terms, const FormatNames& format, const std::string& where) const {
        terms(format.absent, where);
        terms(format.null, where);
    }

    void check_settings(TermCheck terms) const {
        terms.allow_stored();
        for (const Setting& each : architecture_.settings) {
            check_format(terms, each.hf, each.where);
            check_format(terms, each.gguf, each.where);
            terms(each.low, each.where);
            terms(each.high, each.where);
            if (!each.choices.empty() && each.type != SettingType::kText)
                throw Error(each.where, each.name, "has choices, which a text alone has");
            if (each.hf.names.empty() && !each.hf.absent)
                throw Error(each.where, each.name, "has neither a name nor a value in folders",
                            "write hf \"name\" or hf = VALUE");
            if (!architecture_.gguf_name.empty() && each.gguf.names.empty() && !each.gguf.absent)
                throw Error(each.where, each.name, "has neither a name nor a value in GGUF files",
                            "write gguf \"name\" or gguf = VALUE");
        }
    }

    void check_rest(const TermCheck& terms) const {
        for (const Let& each : architecture_.lets) terms(each.value, each.where);
        for (const Verdict& each : architecture_.verdicts) {
            if (!architecture_.setting(each.setting))
                throw Error(each.where, each.setting, "is no setting, which a verdict is about");
            terms(each.condition, each.where);
        }
        for (const auto* all : {&architecture_.ignored_hf, &architecture_.ignored_gguf})
            for (const IgnoredSetting& each : *all) terms(each.value, each.where);
        for (const RopeText& each : architecture_.ropes) {
            terms(each.width, each.where);
            terms(each.part, each.where);
            terms(each.rotated, each.where);
            terms(each.original_context, each.where);
            terms(each.base, each.where);
            terms(each.first, each.where);
            terms(each.gguf_level, each.where);
            if (each.is_fixed && !each.base)
                throw Error(each.where, each.name, "has no base, which no file says", "write base VALUE");
            check_format(terms, each.hf, each.where);
            check_format(terms, each.gguf, each.where);
        }
        if (const auto& features = architecture_.features)
            for (const TermPtr& term :
                 {features->width, features->taps, features->every, features->first, features->count})
                terms(term, features->where);
        for (const TermPtr& term :
             {architecture_.layer_count, architecture_.layer_number, architecture_.layer_place})
            terms(term, architecture_.name + ".arch");
    }

    void check_section(const Section& section, const Names& common,
                       std::initializer_list<const char*> given) const {
        TermCheck terms(architecture_, common);
        for (const TensorText& each : section.tensors) {
            for (const TermPtr& extent : each.shape) terms(extent, each.where);
            for (const TermPtr& term : {each.bias, each.tied_when, each.when}) terms(term, each.where);
        }
        for (const FusedText& each : section.fused) {
            terms(each.repeat, each.where);
            terms(each.when, each.where);
            for (const auto& part : each.parts) {
                terms(part.rows, each.where);
                if (std::ranges::find(section.tensors, part.tensor, &TensorText::name) ==
                    section.tensors.end())
                    throw Error(each.where, part.tensor, "is no tensor of this section");
            }
        }
        for (const TensorText& each : section.tensors)
            for (const TensorText& other : section.tensors)
                if (each.name == bias_of(other.name))
                    throw Error(each.where, each.name,
                                fmt::format("is the name of the bias that {} may have", other.name),
                                "call it otherwise");
        for (const char* name : given) terms.add(name);
        if (architecture_.features && &section == &architecture_.model) terms.add(kFeatures);
        for (const TensorText& each : section.tensors) terms.add(each.name);
        for (const RopeText& each : architecture_.ropes) terms.add(each.name);
        for (const Assignment& each : section.assignments)
            for (const std::string& name : each.names) {
                if (common.contains(name))
                    throw Error(each.where, name, "is a setting, and no value of a token can be called so");
                terms.add(name);
            }
        for (const Assignment& each : section.assignments) {
            TermCheck own = terms;
            for (const std::string& index : each.indices) own.add(index);
            if (each.has_indices) add_reduced(each.value, own);
            own(each.value, each.where, true);
            terms(each.when, each.where);
            for (const TermPtr& extent : each.extents) terms(extent, each.where);
        }
        for (const TensorText& each : section.tensors)
            if (!each.tied.empty()) terms.expect_known(each.tied, each.where);
    }

    /// An index of a read that is a name alone, and nothing else, is one that is summed over.
    void add_reduced(const TermPtr& value, TermCheck& terms) const {
        walk(value, [&](const Term& each) {
            if (each.kind != Term::Kind::kElement) return;
            for (const TermPtr& index : each.arguments)
                if (index->kind == Term::Kind::kName && index->name.size() == 1) terms.add(index->name);
        });
    }

    void check_complete() const {
        const std::string file = architecture_.name + ".arch";
        for (const char* name : {kVocabularySetting, kPositionsSetting})
            if (!architecture_.setting(name)) throw Error(file, name, "is no setting, which every model has");
        if (!architecture_.layer_count)
            throw Error(file, "layers", "is missing: names of layers and their count");
        if (!has_value(architecture_.model, "vectors")) expect_value(architecture_.model, "logits", file);
        expect_value(architecture_.layer, "give", file);
    }

    static bool has_value(const Section& section, const char* name) {
        return std::ranges::any_of(section.assignments, [&](const Assignment& each) {
            return std::ranges::find(each.names, name) != each.names.end();
        });
    }

    static void expect_value(const Section& section, const char* name, const std::string& file) {
        if (!has_value(section, name)) throw Error(file, name, "is assigned nowhere");
    }

    const Architecture& architecture_;
};

}  // namespace

void check(const Architecture& architecture) {
    Checker(architecture).run();
}

}  // namespace tessera::import
