#include "import/place_tensors.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "import/architecture/read_settings.h"
#include "import/model_spec.h"
#include "support/checked.h"
#include "support/error.h"

namespace tessera::import {
namespace {

constexpr std::string_view kNumber = "{}";

std::string with_number(std::string name, const std::string& number) {
    if (const size_t at = name.find(kNumber); at != std::string::npos)
        name.replace(at, kNumber.size(), number);
    return name;
}

class Placing {
public:
    Placing(const ModelConfig& config, const WeightSource* checkpoint)
        : config_(config), checkpoint_(checkpoint) {
        find_base();
    }

    PlacedTensors run(const ModelParts& parts) {
        const Architecture& architecture = *config_.architecture;
        result_.embed = place(parts.embed, architecture.model, "", std::nullopt);
        result_.head = place(parts.head, architecture.model, "", std::nullopt);
        const auto& names = config_.is_gguf ? architecture.gguf_layers : architecture.hf_layers;
        const std::string layers = names.empty() ? "" : names.front();
        result_.before_number = whole(layers.substr(0, layers.find(kNumber)), "");
        for (int64_t layer = 0; layer < config_.layers; ++layer)
            result_.layers.push_back(place(parts.layers[static_cast<size_t>(layer)], architecture.layer,
                                           beginning_of(names, layer), layer));
        place_shared_embedding(parts);
        return std::move(result_);
    }

private:
    /// The beginning of the names of a layer's tensors.
    std::string beginning_of(const std::vector<std::string>& names, int64_t layer) const {
        if (names.empty()) return "";
        const TermPtr& term = config_.architecture->layer_number;
        const int64_t number =
            term ? integer_of(evaluate(term, config_.scope(layer), config_.name()), config_.name()) : layer;
        return with_number(names[place_of_layer(layer)], std::to_string(number));
    }

    /// The one of several beginnings of names that a layer has.
    size_t place_of_layer(int64_t layer) const {
        const Architecture& architecture = *config_.architecture;
        const size_t count = (config_.is_gguf ? architecture.gguf_layers : architecture.hf_layers).size();
        if (!architecture.layer_place) return 0;
        const int64_t place = integer_of(
            evaluate(architecture.layer_place, config_.scope(layer), config_.name()), config_.name());
        if (place < 0 || place >= static_cast<int64_t>(count))
            throw Error(config_.name() + ".arch", "layers",
                        fmt::format("has no beginning of names {}", place));
        return static_cast<size_t>(place);
    }

    bool is_stored(const std::string& name) const {
        return !checkpoint_ || checkpoint_->find(name) != nullptr;
    }

    /// The names of a tensor, with the values that they name.
    template <typename Text>
    std::vector<std::string> names_of(const Text& text) const {
        std::vector<std::string> names = config_.is_gguf ? text.gguf : text.hf;
        for (std::string& name : names) name = filled(name, scope_);
        return names;
    }

    /// A name with a list, `{q,k}_conv`, is several, whose rows are those of the tensor one behind the other.
    static std::vector<std::string> listed(const std::string& name) {
        const size_t begin = name.find('{'), end = name.find('}', std::min(begin, name.size()));
        if (end == std::string::npos || end == begin + 1) return {name};
        std::vector<std::string> names;
        for (size_t at = begin + 1; at <= end;) {
            const size_t next = std::min(name.find(',', at), end);
            names.push_back(name.substr(0, begin) + name.substr(at, next - at) + name.substr(end + 1));
            at = next + 1;
        }
        return names;
    }

    /// The first word of the names of a folder, if it was left out.
    void find_base() {
        const std::string& layers = config_.architecture->hf_layers.front();
        const size_t dot = layers.find('.');
        if (config_.is_gguf || !checkpoint_ || dot == std::string::npos) return;
        const std::string base = layers.substr(0, dot + 1);
        bool has_base = false, has_none = false;
        for (const TensorText& text : config_.architecture->model.tensors)
            for (const std::string& name : text.hf) {
                if (!name.starts_with(base)) continue;
                has_base = has_base || is_stored(name + ".weight");
                has_none = has_none || is_stored(name.substr(base.size()) + ".weight");
            }
        if (!has_base && has_none) base_ = base;
    }

    std::string whole(const std::string& prefix, const std::string& name) const {
        // A name that begins with a stroke is that of a tensor outside of the layers.
        const std::string all = name.starts_with('/') ? name.substr(1) : prefix + name;
        return !base_.empty() && all.starts_with(base_) ? all.substr(base_.size()) : all;
    }

    PlacedPart place(const Part& part, const Section& section, const std::string& prefix,
                     std::optional<int64_t> layer) {
        PlacedPart placed;
        section_ = &section;
        prefix_ = prefix;
        scope_ = config_.scope(layer);
        for (const auto& [name, tensor] : part.tensors) {
            place_tensor(name, tensor, false, placed);
            if (has_bias(name, tensor)) place_tensor(name, tensor, true, placed);
        }
        for (const TensorText& text : section.tensors)
            for (const std::string& names : names_of(text))
                for (const std::string& name : listed(names))
                    for (const char* end : {".weight", ".bias", ""})
                        if (text.is_bare == (*end == '\0'))
                            placed.parts_of_text.push_back(whole(prefix, name + end));
        for (const std::string& name : section.unused) placed.unused.push_back(whole(prefix, name));
        return placed;
    }

    std::string end_of(bool is_bare, bool is_bias) const {
        return is_bare ? "" : is_bias ? ".bias" : ".weight";
    }

    bool has_bias(const std::string& name, const PartTensor& tensor) {
        const TensorText& text = *tensor.text;
        if (!text.bias) return false;
        const Scalar value = evaluate(text.bias, scope_, text.where);
        if (!std::holds_alternative<AsStored>(value.data)) return truth_of(value, text.where);
        if (!checkpoint_) return false;
        for (const FusedText* fused : fused_of(name))
            for (const std::string& other : names_of(*fused))
                if (is_stored(whole(prefix_, other + end_of(fused->is_bare, true)))) return true;
        return std::ranges::any_of(names_of(text), [&](const std::string& other) {
            return is_stored(whole(prefix_, listed(other).front() + end_of(text.is_bare, true)));
        });
    }

    std::vector<const FusedText*> fused_of(const std::string& name) const {
        std::vector<const FusedText*> all;
        for (const FusedText& fused : section_->fused) {
            const bool holds =
                !fused.when || truth_of(evaluate(fused.when, scope_, fused.where), fused.where);
            if (holds && std::ranges::find(fused.parts, name, &FusedText::Part::tensor) != fused.parts.end())
                all.push_back(&fused);
        }
        return all;
    }

    void place_tensor(const std::string& name, const PartTensor& tensor, bool is_bias, PlacedPart& placed) {
        const std::string own = is_bias ? bias_of(name) : name;
        const std::vector<const FusedText*> fused = fused_of(name);
        const auto stored_in = [&](const FusedText& each) -> std::string {
            for (const std::string& other : names_of(each)) {
                std::string whole_name = whole(prefix_, other + end_of(each.is_bare, is_bias));
                if (checkpoint_ && is_stored(whole_name)) return whole_name;
            }
            return {};
        };
        for (const FusedText* each : fused)
            if (const std::string stored = stored_in(*each); !stored.empty()) {
                placed.sources[own] = view_of(*each, stored, name, tensor, is_bias);
                return;
            }
        for (const std::string& other : names_of(*tensor.text)) {
            const std::string found = own_source(other, tensor, is_bias);
            if (found.empty()) continue;
            placed.sources[own] = found;
            return;
        }
        placed.sources[own] = first_name(fused, name, tensor, is_bias);
    }

    /// Nothing is stored: the name by which the tensor is found missing.
    std::string first_name(const std::vector<const FusedText*>& fused, const std::string& name,
                           const PartTensor& tensor, bool is_bias) {
        const auto names = names_of(*tensor.text);
        if (!names.empty())
            return whole(prefix_, with_number(listed(names.front()).front(), "*") +
                                      end_of(tensor.text->is_bare, is_bias));
        for (const FusedText* each : fused) {
            const auto stored = names_of(*each);
            if (stored.empty()) continue;
            return view_of(*each, whole(prefix_, stored.front() + end_of(each->is_bare, is_bias)), name,
                           tensor, is_bias);
        }
        throw Error(tensor.text->where, name,
                    fmt::format("has no name in {}", config_.is_gguf ? "GGUF files" : "folders"));
    }

    /// The name of a tensor that is stored alone, or as a matrix for each of several; empty if it is not
    /// stored.
    std::string own_source(const std::string& name, const PartTensor& tensor, bool is_bias) {
        const std::string end = end_of(tensor.text->is_bare, is_bias);
        const std::vector<std::string> parts = listed(name);
        std::string stored = whole(prefix_, with_number(parts.front(), "0") + end);
        if (!is_stored(stored)) return {};
        if (parts.size() > 1) {
            ExpertStack stack{.name = whole(prefix_, name + end), .parts = {}, .are_rows = true};
            for (const std::string& part : parts) stack.parts.push_back(whole(prefix_, part + end));
            if (checkpoint_) result_.stacks.push_back(stack);
            return stack.name;
        }
        if (name.find(kNumber) != std::string::npos) {
            ExpertStack stack{.name = whole(prefix_, with_number(name, "*") + end), .parts = {}};
            for (int64_t i = 0; i < tensor.shape[0]; ++i)
                stack.parts.push_back(whole(prefix_, with_number(name, std::to_string(i)) + end));
            if (checkpoint_) result_.stacks.push_back(stack);
            return stack.name;
        }
        const bool is_transposed = tensor.text->is_transposed && !config_.is_gguf && !is_bias;
        // Numbers along one axis may be stored along several, or as a scalar.
        const StoredTensor* found = checkpoint_ ? checkpoint_->find(stored) : nullptr;
        const bool is_flat = found && tensor.shape.size() == 1 && found->shape.size() != 1 &&
                             checked_product<int64_t>(found->shape) == tensor.shape[0];
        if (is_flat)
            return add_view(
                {.stored = stored, .rows = tensor.shape[0], .total = tensor.shape[0], .is_flat = true});
        if (!is_transposed && tensor.shape.size() != 3) return stored;
        const int64_t rows = tensor.stacked_shape()[0] / tensor.matrices();
        return add_view({.stored = stored,
                         .rows = rows,
                         .total = rows,
                         .groups = tensor.matrices(),
                         .is_transposed = is_transposed});
    }

    std::string view_of(const FusedText& fused, const std::string& stored, const std::string& name,
                        const PartTensor& tensor, bool is_bias) {
        const auto integer = [&](const TermPtr& term) {
            return integer_of(evaluate(term, scope_, fused.where), fused.where);
        };
        const int64_t groups = tensor.matrices() * (fused.repeat ? integer(fused.repeat) : 1);
        int64_t total = 0, first = 0, rows = 0;
        bool is_turned = false;
        for (const auto& part : fused.parts) {
            const int64_t all = rows_of(part);
            const int64_t own = part.rows ? integer(part.rows) : all / std::max(groups, int64_t{1});
            if (groups < 1 || own < 1 || own * groups != all)
                throw Error(fused.where, part.tensor,
                            fmt::format("has {} rows, which are no {} times {}", all, groups, own));
            if (part.tensor == name) first = total, rows = own, is_turned = part.is_turned;
            total += own;
        }
        return add_view(
            {.stored = stored,
             .first = first,
             .rows = rows,
             .total = total,
             .groups = groups,
             .is_transposed = fused.is_transposed && (!config_.is_gguf || fused.hf.empty()) && !is_bias,
             .is_turned = is_turned});
    }

    /// The stored rows of a tensor of this section, whether the part reads it or not.
    int64_t rows_of(const FusedText::Part& part) const {
        for (const TensorText& text : section_->tensors) {
            if (text.name != part.tensor) continue;
            if (text.when && !truth_of(evaluate(text.when, scope_, text.where), text.where)) continue;
            const auto extent = [&](const TermPtr& term) {
                return integer_of(evaluate(term, scope_, text.where), text.where);
            };
            const int64_t rows = extent(text.shape[0]);
            if (text.shape.size() != 3) return rows;
            return rows * extent(text.shape[part.is_turned ? 2 : 1]);
        }
        return 0;
    }

    /// Names the view, and adds it.
    std::string add_view(TensorView view) {
        const std::string range =
            view.rows == view.total
                ? ""
                : fmt::format("[{}{}:{}]", view.groups > 1 ? ":, " : "", view.first, view.first + view.rows);
        view.name = fmt::format("{}{}{}{}", view.stored, view.is_transposed ? "^T" : "", range,
                                view.is_turned ? "^T" : "");
        if (checkpoint_) result_.views.push_back(view);
        return view.name;
    }

    /// The head alone may be stored where the embedding is the same.
    void place_shared_embedding(const ModelParts& parts) {
        if (config_.is_tied != true || !checkpoint_) return;
        for (const auto& [name, tensor] : parts.head.tensors) {
            const auto embedding = result_.embed.sources.find(tensor.text->tied);
            if (embedding == result_.embed.sources.end() || is_stored(embedding->second)) continue;
            if (is_stored(result_.head.sources.at(name))) embedding->second = result_.head.sources.at(name);
        }
    }

    const ModelConfig& config_;
    const WeightSource* checkpoint_;
    std::string base_;
    PlacedTensors result_;
    const Section* section_ = nullptr;
    std::string prefix_;
    Scope scope_;
};

}  // namespace

PlacedTensors place_tensors(const ModelConfig& config, const ModelParts& parts,
                            const WeightSource* checkpoint) {
    return Placing(config, checkpoint).run(parts);
}

}  // namespace tessera::import
