// The plan as TOML. Tensors and kernels are one line each, so that two plans can be compared by diff:
//
//   "h_2" = "in place of h"        kernels = [ { block = "layer", nest = "t:1 { rms_reduce[..]; rms_apply[..]
//   }" }, .. ]
#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include <toml++/toml.h>

#include "lowering/plan/layout_text.h"
#include "lowering/plan/plan.h"
#include "support/error.h"
#include "support/limits.h"

namespace tessera::plan {
namespace {

constexpr int64_t kVersion = 1;

/// On one line: the library would spread text with a line break over several.
std::string quoted(const std::string& text) {
    const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
    if (std::ranges::any_of(text, is_control)) {
        std::string basic;
        for (const char c : text) {
            if (is_control(static_cast<unsigned char>(c)))
                basic += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
            else
                basic += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
        }
        return '"' + basic + '"';
    }
    std::ostringstream out;
    out << toml::value<std::string>(text);
    return out.str();
}

std::string place_text(const TensorPlan& tensor) {
    std::string text;
    switch (tensor.place) {
        case Place::kGiven:
            text = "given";
            break;
        case Place::kArena:
            text = tensor.each_worker ? "arena of each worker" : "arena";
            break;
        case Place::kTile:
            text = "tile";
            break;
        case Place::kView:
            text = "view of " + tensor.of;
            break;
        case Place::kInPlace:
            text = "in place of " + tensor.of;
            break;
    }
    if (tensor.offset) text += fmt::format(" at {} for {}", *tensor.offset, tensor.bytes);
    if (!(tensor.layout == Layout{})) text += ", " + print(tensor.layout);
    return text;
}

std::string copy_text(const CopyPlan& copy) {
    std::string text = copy.of;
    for (const CopyReader& reader : copy.readers)
        text += fmt::format("{}{}.{}", &reader == &copy.readers.front() ? " for " : ", ", reader.node,
                            reader.tensor);
    return (copy.is_made ? "made as " : "") + text;
}

std::string comment(const std::vector<std::string>& lines, std::string_view indent) {
    std::string text;
    for (std::string line : lines) {
        std::replace_if(
            line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
        text += fmt::format("{}# {}\n", indent, line);
    }
    return text;
}

std::string at(const toml::node& node, const std::string& where) {
    return fmt::format("{}:{}", where, node.source().begin.line);
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (text.substr(0, prefix.size()) != prefix) return false;
    text.remove_prefix(prefix.size());
    return true;
}

TensorPlan parse_place(std::string_view text, const std::string& where, const std::string& name) {
    TensorPlan tensor;
    if (const size_t comma = text.find(", "); comma != std::string_view::npos) {
        tensor.layout = parse_layout(text.substr(comma + 2), where);
        text = text.substr(0, comma);
    }
    if (take_prefix(text, "view of ")) {
        tensor.place = Place::kView;
        tensor.of = text;
        return tensor;
    }
    if (take_prefix(text, "in place of ")) {
        tensor.place = Place::kInPlace;
        tensor.of = text;
        return tensor;
    }
    if (take_prefix(text, "arena")) {
        tensor.place = Place::kArena;
        tensor.each_worker = take_prefix(text, " of each worker");
    } else if (take_prefix(text, "tile")) {
        tensor.place = Place::kTile;
    } else {
        throw Error(where, name,
                    fmt::format("is `{}`, expected arena, tile, view of NAME or in place of NAME", text));
    }
    if (text.empty()) return tensor;
    const auto number = [&](std::string_view word) {
        int64_t value = 0;
        const bool has_word = take_prefix(text, word);
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (!has_word || error != std::errc() || value < 0) {
            throw Error(where, name, fmt::format("ends in `{}`, expected ` at OFFSET for BYTES`", text));
        }
        text.remove_prefix(static_cast<size_t>(end - text.data()));
        return value;
    };
    tensor.offset = number(" at ");
    tensor.bytes = number(" for ");
    if (!text.empty()) throw Error(where, name, fmt::format("has `{}` behind its place", text));
    return tensor;
}

CopyPlan parse_copy(std::string_view text, const std::string& where, const std::string& name) {
    CopyPlan copy;
    copy.is_made = take_prefix(text, "made as ");
    const size_t of = text.find(" for ");
    copy.of = text.substr(0, of);
    if (of == std::string_view::npos) {
        if (!copy.is_made)
            throw Error(
                where, name,
                fmt::format("is `{}`, expected VALUE for OPERATOR.OPERAND, ..; or made as VALUE", text));
        return copy;
    }
    for (text.remove_prefix(of + 5); !text.empty();) {
        const size_t end = std::min(text.find(", "), text.size());
        const std::string_view reader = text.substr(0, end);
        const size_t dot = reader.rfind('.');
        if (dot == std::string_view::npos)
            throw Error(where, name, fmt::format("is for `{}`, expected OPERATOR.OPERAND", reader));
        copy.readers.push_back({std::string(reader.substr(0, dot)), std::string(reader.substr(dot + 1))});
        text.remove_prefix(std::min(end + 2, text.size()));
    }
    return copy;
}

/// A table whose keys are read one by one, so that unknown keys can be named.
class Fields {
public:
    Fields(const toml::table& table, const std::string& where) : table_(table), where_(where) {}

    const toml::node& need(const std::string& key) {
        known_.insert(key);
        const toml::node* node = table_.get(key);
        if (!node) throw Error(at(table_, where_), key, "is missing");
        return *node;
    }
    std::string text(const std::string& key) { return text_of(need(key), key); }
    std::string text_of(const toml::node& node, const std::string& key) {
        if (!node.is_string()) throw Error(at(node, where_), key, "is not a string");
        return node.as_string()->get();
    }
    int64_t number_of(const toml::node& node, const std::string& key) {
        if (!node.is_integer()) throw Error(at(node, where_), key, "is not an integer");
        return node.as_integer()->get();
    }
    int64_t number(const std::string& key) { return number_of(need(key), key); }
    int64_t bytes(const std::string& key) {
        const int64_t value = number(key);
        if (value < 0 || value > kMostBytes)
            throw Error(at(need(key), where_), key,
                        fmt::format("is {}, expected 0 to {} bytes", value, kMostBytes));
        return value;
    }
    int64_t number_or(const std::string& key, int64_t otherwise) {
        return table_.contains(key) ? number(key) : otherwise;
    }
    bool flag(const std::string& key) {
        if (!table_.contains(key)) return false;
        const toml::node& node = need(key);
        if (!node.is_boolean()) throw Error(at(node, where_), key, "is neither true nor false");
        return node.as_boolean()->get();
    }
    const toml::table& table(const std::string& key) {
        const toml::node& node = need(key);
        if (!node.is_table()) throw Error(at(node, where_), key, "is not a table");
        return *node.as_table();
    }
    const toml::array& array(const std::string& key) {
        const toml::node& node = need(key);
        if (!node.is_array()) throw Error(at(node, where_), key, "is not an array");
        return *node.as_array();
    }
    void finish() const {
        for (const auto& [key, value] : table_) {
            if (!known_.contains(std::string(key.str())))
                throw Error(at(value, where_), std::string(key.str()), "is not known here");
        }
    }

private:
    const toml::table& table_;
    const std::string& where_;
    std::set<std::string> known_;
};

SpecialisationPlan parse_specialisation(const toml::table& table, const std::string& where,
                                        MicroKernels kernels) {
    Fields fields(table, where);
    SpecialisationPlan plan;
    plan.name = fields.text("name");
    plan.arena_bytes = fields.bytes("arena_bytes");
    plan.max_live_bytes = fields.bytes("max_live_bytes");
    for (const auto& [symbol, node] : fields.table("bounds")) {
        const toml::array* pair = node.as_array();
        if (!pair || pair->size() != 2 || !pair->is_homogeneous(toml::node_type::integer)) {
            throw Error(at(node, where), std::string(symbol.str()), "is not [low, high]");
        }
        plan.bounds[std::string(symbol.str())] = {pair->get(0)->as_integer()->get(),
                                                  pair->get(1)->as_integer()->get()};
    }
    for (const auto& [name, node] : fields.table("tensors")) {
        const std::string key(name.str());
        plan.tensors[key] = parse_place(fields.text_of(node, key), at(node, where), key);
    }
    for (const toml::node& node : fields.array("kernels")) {
        if (!node.is_table()) throw Error(at(node, where), "kernels", "holds something that is no table");
        Fields kernel(*node.as_table(), where);
        plan.kernels.push_back({kernel.text("block"),
                                parse_nest(kernel.text("nest"), at(node, where), kernels),
                                kernel.flag("barrier"), kernel.flag("alone")});
        kernel.finish();
    }
    fields.finish();
    return plan;
}

}  // namespace

std::string print(const Plan& plan, const PlanComments& comments) {
    std::string out = comment(comments.plan, "");
    out += fmt::format(
        "version = {}\ngraph = {}\nmachine = {}\nworkers = {}\n\n# One stored form of every constant and "
        "state, for all "
        "specialisations; the others are row-major.\n[stored]\n",
        kVersion, quoted(plan.graph), quoted(plan.machine), plan.workers);
    for (const auto& [name, layout] : plan.stored)
        out += fmt::format("{} = {}\n", quoted(name), quoted(print(layout)));
    if (!plan.copies.empty()) out += "\n# Values that are there twice, in another layout.\n[copies]\n";
    for (const auto& [name, copy] : plan.copies)
        out += fmt::format("{} = {}\n", quoted(name), quoted(copy_text(copy)));
    for (size_t i = 0; i < plan.specialisations.size(); ++i) {
        const SpecialisationPlan& s = plan.specialisations[i];
        const PlanComments::OfSpecialisation of = i < comments.specialisations.size()
                                                      ? comments.specialisations[i]
                                                      : PlanComments::OfSpecialisation();
        out += '\n' + comment(of.step, "");
        out +=
            fmt::format("[[specialisation]]\nname = {}\narena_bytes = {}\nmax_live_bytes = {}\nbounds = {{ ",
                        quoted(s.name), s.arena_bytes, s.max_live_bytes);
        bool is_first = true;
        for (const auto& [symbol, bounds] : s.bounds) {
            out += fmt::format("{}{} = [{}, {}]", is_first ? "" : ", ", symbol, bounds.low, bounds.high);
            is_first = false;
        }
        out += " }\nkernels = [\n";
        for (size_t k = 0; k < s.kernels.size(); ++k) {
            const KernelPlan& kernel = s.kernels[k];
            if (k < of.kernels.size()) out += comment(of.kernels[k], "    ");
            out += fmt::format("    {{ block = {}, {}{}nest = {} }},\n", quoted(kernel.block),
                               kernel.barrier ? "barrier = true, " : "", kernel.alone ? "alone = true, " : "",
                               quoted(print(kernel.nest)));
        }
        out += "]\n\n[specialisation.tensors]\n";
        for (const auto& [name, tensor] : s.tensors)
            out += fmt::format("{} = {}\n", quoted(name), quoted(place_text(tensor)));
    }
    return out;
}

Plan parse_plan(std::string_view text, const std::string& where, MicroKernels kernels) {
    // A parsed document takes thirty times the memory of its text.
    if (constexpr size_t kLongest = 1 << 20; text.size() > kLongest)
        throw Error(where, "",
                    fmt::format("is {} bytes long, more than the {} that are read", text.size(), kLongest));
    toml::table document;
    try {
        document = toml::parse(text, where);
    } catch (const toml::parse_error& error) {
        throw Error(fmt::format("{}:{}", where, error.source().begin.line), {},
                    std::string(error.description()));
    }
    Fields fields(document, where);
    if (const int64_t version = fields.number("version"); version != kVersion) {
        throw Error(where, "version", fmt::format("is {}, this tool reads {}", version, kVersion));
    }
    Plan plan;
    plan.graph = fields.text("graph");
    plan.machine = fields.text("machine");
    plan.workers = fields.number_or("workers", 1);
    if (plan.workers < 1 || plan.workers > kMostWorkers)
        throw Error(where, "workers", fmt::format("is {}, expected 1 to {}", plan.workers, kMostWorkers));
    for (const auto& [name, node] : fields.table("stored")) {
        const std::string key(name.str());
        plan.stored[key] = parse_layout(fields.text_of(node, key), at(node, where));
    }
    if (document.contains("copies")) {
        for (const auto& [name, node] : fields.table("copies")) {
            const std::string key(name.str());
            plan.copies[key] = parse_copy(fields.text_of(node, key), at(node, where), key);
        }
    }
    for (const toml::node& node : fields.array("specialisation")) {
        if (!node.is_table()) throw Error(at(node, where), "specialisation", "is not a table");
        plan.specialisations.push_back(parse_specialisation(*node.as_table(), where, kernels));
    }
    fields.finish();
    return plan;
}

}  // namespace tessera::plan
