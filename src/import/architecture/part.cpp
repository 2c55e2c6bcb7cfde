#include "import/architecture/part.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "import/architecture/functions.h"
#include "import/rope_bases.h"
#include "support/error.h"

namespace tessera::import {
namespace {

/// The statements of a section that hold for these settings, by the values that they assign.
class ActiveSection {
public:
    ActiveSection(const ModelConfig& config, const Section& section, std::optional<int64_t> layer)
        : config_(config), section_(section), layer_(layer), scope_(config.scope(layer)) {
        for (const Assignment& each : section.assignments) {
            if (!holds(each.when, each.where)) continue;
            for (const std::string& name : each.names)
                if (!by_name_.emplace(name, &each).second)
                    throw Error(each.where, name, "is assigned twice for these settings");
        }
    }

    const Assignment* find(const std::string& name) const {
        const auto found = by_name_.find(name);
        return found == by_name_.end() ? nullptr : found->second;
    }
    /// The carried state of the recurrence of which the statement is a line: what it carries or reads. Null
    /// if it is of none.
    const Assignment* carried_in(const Assignment& own) const {
        const Assignment* found = own.is_carried ? &own : nullptr;
        walk(own.value, [&](const Term& each) {
            if (each.kind != Term::Kind::kName && each.kind != Term::Kind::kElement) return;
            const Assignment* read = find(each.name);
            if (!read || !read->is_carried || read == found) return;
            if (found) throw Error(own.where, own.names.front(), "reads the states of two recurrences");
            if (!own.has_indices || each.kind == Term::Kind::kName)
                throw Error(own.where, own.names.front(),
                            fmt::format("reads {}, a state, without indices", each.name));
            found = read;
        });
        return found;
    }
    const Section& section() const { return section_; }
    const Scope& scope() const { return scope_; }
    const ModelConfig& config() const { return config_; }

    /// The tables that stand for those of this name here.
    std::string rope(const std::string& name) const {
        const auto found = config_.ropes_of_layers.find(name);
        return layer_ && found != config_.ropes_of_layers.end()
                   ? found->second.at(static_cast<size_t>(*layer_))
                   : name;
    }

    bool holds(const TermPtr& when, const std::string& where) const {
        return !when || truth_of(evaluate(when, scope_, where), where);
    }

    /// The tensor of this name that exists for these settings. Null if there is none.
    const TensorText* tensor(const std::string& name) const {
        const TensorText* found = nullptr;
        for (const TensorText& each : section_.tensors) {
            if (each.name != name || !holds(each.when, each.where)) continue;
            if (found) throw Error(each.where, name, "is declared twice for these settings");
            found = &each;
        }
        return found;
    }

private:
    const ModelConfig& config_;
    const Section& section_;
    const std::optional<int64_t> layer_;
    Scope scope_;
    std::map<std::string, const Assignment*> by_name_;
};

/// Makes the steps of one result.
class PartMaker {
public:
    /// `inputs`: values that are there already.
    PartMaker(const ActiveSection& section, std::set<std::string> inputs)
        : section_(section), inputs_(std::move(inputs)) {}

    Part make(const std::string& result) {
        reach(result, result, 0);
        // In the order of the text: a reader of the graph finds it again.
        for (const Assignment& each : section_.section().assignments)
            if (reached_.contains(&each)) emit(each);
        return std::move(part_);
    }

private:
    static constexpr int kDeepest = 500;
    static constexpr size_t kMostSteps = 2000;

    /// Marks whatever the value is made of.
    void reach(const std::string& name, const std::string& reader, int depth) {
        if (inputs_.contains(name)) return;
        const Assignment* own = section_.find(name);
        if (!own) {
            if (section_.tensor(name)) return;
            throw Error(section_.config().name() + ".arch", name,
                        fmt::format("has no value for these settings, and {} reads it", reader));
        }
        if (depth == kDeepest) throw Error(own->where, name, "depends on too many other values");
        if (!reached_.insert(own).second) return;
        for (const std::string& other : read_by(*own)) reach(other, name, depth + 1);
    }

    TermPtr value_of(const Assignment& own) const {
        return with_functions(folded(own.value, section_.scope(), own.where));
    }

    /// A setting that names an activation function, where it is called, is that function. Norms take the
    /// epsilon of the model where they state none.
    TermPtr with_functions(const TermPtr& term) const {
        Term result = *term;
        for (TermPtr& argument : result.arguments) argument = with_functions(argument);
        for (auto& [name, value] : result.options) value = with_functions(value);
        if (result.kind == Term::Kind::kName) result.name = section_.rope(result.name);
        if (result.kind != Term::Kind::kCall) return std::make_shared<const Term>(std::move(result));
        const Setting* setting = section_.config().architecture->setting(result.name);
        if (setting && setting->type == SettingType::kActivation)
            result.name = text_of(section_.config().value(result.name), setting->where);
        const bool is_norm = result.name == "rms" || result.name == "layernorm";
        if (is_norm && !result.option("eps"))
            result.options.insert(result.options.begin(),
                                  {"eps", as_term(section_.config().value("epsilon"))});
        return std::make_shared<const Term>(std::move(result));
    }

    /// Values and tensors that a statement reads.
    std::vector<std::string> read_by(const Assignment& own) const {
        std::vector<std::string> names;
        walk(value_of(own), [&](const Term& each) {
            const bool is_read = each.kind == Term::Kind::kName || each.kind == Term::Kind::kElement;
            if (is_read && is_value(each.name, own)) names.push_back(each.name);
        });
        return names;
    }

    bool is_value(const std::string& name, const Assignment& own) const {
        static const std::set<std::string> kWords = {"null", "true",  "false",    "stored",
                                                     "inf",  "token", "position", kDistance};
        if (kWords.contains(name)) return false;
        const std::vector<std::string> ropes = rope_names(section_.config());
        if (std::ranges::find(ropes, name) != ropes.end()) return false;
        const bool is_index =
            own.has_indices && name.size() == 1 && !section_.find(name) && !inputs_.contains(name);
        return !is_index;
    }

    /// The lines of one recurrence, in the order of the text, behind all that they read.
    void emit_recurrence(const Assignment& carried) {
        std::vector<const Assignment*> lines;
        for (const Assignment& each : section_.section().assignments)
            if (reached_.contains(&each) && section_.carried_in(each) == &carried) lines.push_back(&each);
        for (const Assignment* line : lines)
            if (emitted_.contains(line) || !open_.insert(line).second)
                throw Error(line->where, line->names.front(), "depends on itself");
        PartStep step{
            .names = {}, .indices = {}, .has_indices = true, .term = nullptr, .where = carried.where};
        std::vector<TermPtr> terms;
        for (const Assignment* line : lines) {
            for (const std::string& name : read_by(*line)) {
                const Assignment* other = section_.find(name);
                if (other && !inputs_.contains(name) && std::ranges::find(lines, other) == lines.end())
                    emit(*other);
            }
            step.lines.push_back(line_of(*line));
            terms.push_back(step.lines.back().term);
            note_tensors(terms.back());
        }
        for (const Assignment* line : lines) emitted_.insert(line);
        step.names = {carried.names.front()};
        for (const PartLine& line : step.lines)
            if (!line.is_carried) step.names.push_back(line.name);
        step.term = list_term(std::move(terms));
        add(std::move(step));
    }

    PartLine line_of(const Assignment& own) const {
        return {own.names.front(), own.indices, extents_of(own), value_of(own), own.is_carried};
    }

    void emit(const Assignment& own) {
        if (emitted_.contains(&own)) return;
        if (const Assignment* carried = section_.carried_in(own)) return emit_recurrence(*carried);
        if (!open_.insert(&own).second) throw Error(own.where, own.names.front(), "depends on itself");
        for (const std::string& name : read_by(own)) {
            const Assignment* other = section_.find(name);
            if (other && !inputs_.contains(name)) emit(*other);
        }
        emitted_.insert(&own);
        TermPtr term = value_of(own);
        if (!own.has_indices) term = flat(term, own, true);
        note_tensors(term);
        add({own.names, own.indices, own.has_indices, extents_of(own), term, own.where});
    }

    std::vector<int64_t> extents_of(const Assignment& own) const {
        std::vector<int64_t> extents;
        for (const TermPtr& extent : own.extents) {
            extents.push_back(extent ? integer_of(evaluate(extent, section_.scope(), own.where), own.where)
                                     : 0);
            if (extent && (extents.back() < 1 || extents.back() > limits::kElements))
                throw Error(own.where, own.names.front(), fmt::format("has an axis of {}", extents.back()));
        }
        return extents;
    }

    void add(PartStep step) {
        if (part_.steps.size() == kMostSteps)
            throw Error(step.where, step.name(), fmt::format("is more than the {}th value", kMostSteps));
        part_.steps.push_back(std::move(step));
    }

    void note_tensors(const TermPtr& term) {
        walk(term, [&](const Term& each) {
            const bool is_read = each.kind == Term::Kind::kName || each.kind == Term::Kind::kElement;
            if (!is_read || part_.tensors.contains(each.name) || section_.find(each.name)) return;
            const TensorText* text = section_.tensor(each.name);
            if (!text) return;
            PartTensor tensor{text, {}};
            int64_t elements = 1;
            for (const TermPtr& extent : text->shape) {
                const int64_t value =
                    integer_of(evaluate(extent, section_.scope(), text->where), text->where);
                if (value < 1 || elements > limits::kElements / value)
                    throw Error(text->where, text->name, fmt::format("has an axis of {}", value));
                elements *= value;
                tensor.shape.push_back(value);
            }
            part_.tensors.emplace(each.name, std::move(tensor));
        });
    }

    /// The name of a step for what stands within another.
    std::string inner_name(const Assignment& own, const std::string& function) {
        std::string name = fmt::format("{}_{}", own.names.front(), function);
        while (section_.find(name) || section_.tensor(name) || !inner_.insert(name).second) name += '_';
        return name;
    }

    TermPtr as_step(const TermPtr& term, const Assignment& own) {
        const std::string name = inner_name(
            own, term->kind == Term::Kind::kCall && find_value_function(term->name) ? term->name : "value");
        const TermPtr inner = flat(term, own, true);
        note_tensors(inner);
        add({{name}, {}, false, {}, inner, own.where});
        return name_term(name);
    }

    static bool is_number(const TermPtr& term) { return term->kind == Term::Kind::kNumber; }

    /// Calls within a term become steps of their own, but for those that operators compute together with what
    /// is around them: a scaled embedding, and a learned position that is added.
    TermPtr flat(const TermPtr& term, const Assignment& own, bool is_whole) {
        if (term->kind != Term::Kind::kCall) return term;
        if (find_value_function(term->name)) return is_whole ? flat_call(*term, own) : as_step(term, own);
        if (is_whole && term->name == "*" && term->arguments[0]->is_call("lookup") &&
            is_number(term->arguments[1]))
            return call_term("lookup", term->arguments[0]->arguments, {{"scale", term->arguments[1]}});
        const bool adds_row = term->name == "+" && term->arguments[1]->is_call("lookup") &&
                              !term->arguments[1]->arguments[1]->is_name("token");
        if (is_whole && adds_row && term->arguments[0]->kind == Term::Kind::kName)
            return call_term("add_lookup", {term->arguments[0], term->arguments[1]->arguments[0],
                                            term->arguments[1]->arguments[1]});
        Term result = *term;
        const bool is_activation = find_activation(term->name).has_value();
        for (TermPtr& argument : result.arguments) {
            const bool is_inner_map = is_activation && argument->kind == Term::Kind::kCall;
            argument = is_inner_map ? as_step(argument, own) : flat(argument, own, false);
        }
        return std::make_shared<const Term>(std::move(result));
    }

    TermPtr flat_call(const Term& call, const Assignment& own) {
        Term result = call;
        for (size_t i = 0; i < result.arguments.size(); ++i) {
            const bool is_place = (call.name == "lookup" || call.name == "spread") && i == 1;
            if (result.arguments[i]->kind == Term::Kind::kCall && !is_place)
                result.arguments[i] = as_step(result.arguments[i], own);
        }
        return std::make_shared<const Term>(std::move(result));
    }

    const ActiveSection& section_;
    const std::set<std::string> inputs_;
    std::set<const Assignment*> reached_, emitted_, open_;
    std::set<std::string> inner_;
    Part part_;
};

}  // namespace

std::vector<int64_t> PartTensor::stacked_shape() const {
    if (shape.size() != 3) return shape;
    return {shape[0] * shape[1], shape[2]};
}

std::optional<SourceFeatures> features_of(const ModelConfig& config) {
    const std::optional<FeaturesText>& text = config.architecture->features;
    if (!text) return std::nullopt;
    const auto integer = [&](const TermPtr& term, const char* what, int64_t low, int64_t high) {
        const int64_t value = integer_of(evaluate(term, config.scope(), text->where), text->where);
        if (value < low || value > high)
            throw Error(text->where, what, fmt::format("is {}, expected {} to {}", value, low, high));
        return value;
    };
    return SourceFeatures{.width = integer(text->width, "width", 1, limits::kHeadWidth),
                          .taps = integer(text->taps, "taps", 1, 64),
                          .every = integer(text->every, "every", 1, 64),
                          .first = integer(text->first, "from", -64, 64),
                          .count = integer(text->count, "count", 1, limits::kPositions)};
}

ModelParts parts_of(const ModelConfig& config) {
    const Architecture& architecture = *config.architecture;
    const ActiveSection model(config, architecture.model, std::nullopt);
    const Assignment* layers = nullptr;
    for (const Assignment& each : architecture.model.assignments) {
        if (!each.value->is_call("layers") || !model.holds(each.when, each.where)) continue;
        if (layers) throw Error(each.where, each.names.front(), "runs the layers a second time");
        layers = &each;
    }
    if (!layers) throw Error(architecture.name + ".arch", "layers", "run nowhere, expected y = layers(x)");
    if (layers->value->arguments[0]->kind != Term::Kind::kName)
        throw Error(layers->where, "layers", "reads an expression, expected the name of a value");
    ModelParts parts{.embedded = layers->value->arguments[0]->name, .result = layers->names.front()};
    parts.features = features_of(config);
    parts.embed =
        PartMaker(model, parts.features ? std::set<std::string>{kFeatures} : std::set<std::string>{})
            .make(parts.embedded);
    parts.is_encoder = model.find(kVectors) != nullptr;
    parts.head = PartMaker(model, {parts.result}).make(parts.is_encoder ? kVectors : kLogits);
    for (int64_t layer = 0; layer < config.layers; ++layer) {
        const ActiveSection section(config, architecture.layer, layer);
        parts.layers.push_back(PartMaker(section, {kLayerInput}).make(kLayerResult));
        for (const PartStep& step : parts.layers.back().steps)
            parts.has_source = parts.has_source || (step.is_call("attend") && step.term->option("part"));
    }
    if (parts.features && !parts.has_source)
        throw Error(architecture.features->where, kFeatures, "stand for a source, to which no layer attends",
                    "write part: \"source\"");
    return parts;
}

}  // namespace tessera::import
