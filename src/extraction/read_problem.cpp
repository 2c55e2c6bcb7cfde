#include "extraction/read_problem.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "support/error.h"
#include "support/json_bounds.h"

namespace tessera::extraction {
namespace {

using nlohmann::json;

// The largest public e-graphs have a hundred thousand nodes in 20 MB.
constexpr JsonBounds kBounds{.bytes = size_t{128} << 20, .values = 8'000'000, .depth = 32, .word = 1 << 16};
constexpr size_t kMostNodes = 1'000'000;

struct FileNode {
    std::string name;
    std::vector<std::string> children;
    std::optional<std::string> e_class;
    double cost = 1;
    bool is_subsumed = false;
};

/// Takes nodes and roots from the events of the parser: a document of the whole file would take ten times its
/// size, and would keep the last of two equal keys.
class Reader final : public nlohmann::json_sax<json> {
public:
    explicit Reader(const std::string& where) : where_(where) {}

    std::vector<FileNode> nodes;
    std::vector<std::string> roots;
    bool has_nodes = false, has_roots = false;

    bool null() override { return scalar("null"); }
    bool boolean(bool value) override {
        if (at_field("subsumed")) {
            nodes.back().is_subsumed = value;
            return true;
        }
        return scalar("a boolean");
    }
    bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
    bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
    bool number_float(number_float_t value, const string_t&) override { return number(value); }
    bool string(string_t& text) override {
        if (at_field("eclass"))
            nodes.back().e_class = text;
        else if (at_element_of("children"))
            nodes.back().children.push_back(text);
        else if (is_in_roots())
            roots.push_back(text);
        else
            return scalar("a text");
        return true;
    }
    bool binary(binary_t&) override { return false; }  // JSON has none
    bool start_object(std::size_t) override { return open(true); }
    bool start_array(std::size_t) override { return open(false); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& text) override {
        keys_[depth_ - 1] = text;
        if (depth_ == 1 && text == "nodes") once(has_nodes, "nodes");
        if (depth_ == 1 && text == "root_eclasses") once(has_roots, "root_eclasses");
        if (depth_ == 2 && keys_[0] == "nodes") {
            if (nodes.size() == kMostNodes) fail("", fmt::format("has more than {} nodes", kMostNodes));
            nodes.push_back({.name = text});
            fields_.clear();
        }
        if (depth_ == 3 && keys_[0] == "nodes") {
            if (std::find(fields_.begin(), fields_.end(), text) != fields_.end())
                fail(nodes.back().name, fmt::format("has `{}` twice", text));
            fields_.push_back(text);
        }
        return true;
    }
    bool parse_error(std::size_t at, const std::string&, const json::exception& error) override {
        throw Error(fmt::format("{}@{}", where_, at), "", fmt::format("is not JSON: {}", error.what()));
    }

    [[noreturn]] void fail(const std::string& entity, const std::string& problem) const {
        throw Error(where_, entity, problem);
    }

private:
    void once(bool& seen, std::string_view key) {
        if (std::exchange(seen, true)) fail(std::string(key), "is there twice");
    }
    bool is_in_node() const { return depth_ >= 3 && keys_[0] == "nodes"; }
    bool at_field(std::string_view field) const { return depth_ == 3 && is_in_node() && keys_[2] == field; }
    bool at_element_of(std::string_view field) const {
        return depth_ == 4 && is_in_node() && keys_[2] == field;
    }
    bool is_in_roots() const { return depth_ == 2 && keys_[0] == "root_eclasses"; }

    bool number(double value) {
        if (!at_field("cost")) return scalar("a number");
        if (!std::isfinite(value)) fail(nodes.back().name, "has a cost that is no finite number");
        nodes.back().cost = value;
        return true;
    }
    /// A value where nothing is expected, or where something else is.
    bool scalar(std::string_view found) { return expect(found); }
    bool expect(std::string_view found) {
        if (depth_ == 0) fail("", fmt::format("is {}, expected an object", found));
        if (depth_ == 1 && (keys_[0] == "nodes" || keys_[0] == "root_eclasses"))
            fail(keys_[0],
                 fmt::format("is {}, expected {}", found, keys_[0] == "nodes" ? "an object" : "a list"));
        if (is_in_roots()) fail("root_eclasses", fmt::format("holds {}, expected a text", found));
        if (depth_ == 2 && keys_[0] == "nodes")
            fail(nodes.back().name, fmt::format("is {}, expected an object", found));
        if (depth_ == 3 && is_in_node())
            for (const auto& [field, expected] : kFields)
                if (keys_[2] == field)
                    fail(nodes.back().name,
                         fmt::format("has {} as `{}`, expected {}", found, field, expected));
        if (at_element_of("children"))
            fail(nodes.back().name, fmt::format("has {} among its children, expected a text", found));
        return true;
    }
    bool open(bool is_object) {
        const bool is_expected =
            (depth_ == 0 && is_object) || (depth_ == 1 && keys_[0] == "nodes" && is_object) ||
            (depth_ == 1 && keys_[0] == "root_eclasses" && !is_object) ||
            (depth_ == 2 && keys_[0] == "nodes" && is_object) || (at_field("children") && !is_object);
        if (!is_expected) expect(is_object ? "an object" : "a list");
        ++depth_;
        if (keys_.size() < depth_) keys_.emplace_back();
        keys_[depth_ - 1].clear();
        return true;
    }
    bool close() {
        --depth_;
        return true;
    }

    static constexpr std::pair<std::string_view, std::string_view> kFields[] = {
        {"children", "a list"}, {"eclass", "a text"}, {"cost", "a number"}, {"subsumed", "a boolean"}};

    const std::string& where_;
    size_t depth_ = 0;               ///< open objects and arrays
    std::vector<std::string> keys_;  ///< of each open object the present key
    std::vector<std::string> fields_;
};

/// Numbers of names in their order.
std::unordered_map<std::string_view, int> numbered(const std::vector<std::string>& sorted) {
    std::unordered_map<std::string_view, int> result;
    for (size_t i = 0; i < sorted.size(); ++i) result.emplace(sorted[i], static_cast<int>(i));
    return result;
}

}  // namespace

NamedProblem read_problem(std::string_view text, const std::string& where) {
    check_json_bounds(text, kBounds, where);
    Reader file(where);
    try {
        json::sax_parse(text.begin(), text.end(), &file);
    } catch (const json::exception& error) {
        file.fail("", fmt::format("is not JSON: {}", error.what()));
    }
    if (!file.has_nodes) file.fail("nodes", "is missing");
    if (!file.has_roots) file.fail("root_eclasses", "is missing");
    if (file.roots.empty()) file.fail("root_eclasses", "is empty");

    NamedProblem result;
    std::sort(file.nodes.begin(), file.nodes.end(),
              [](const FileNode& a, const FileNode& b) { return a.name < b.name; });
    for (const FileNode& node : file.nodes) {
        if (!result.node_names.empty() && result.node_names.back() == node.name)
            file.fail(node.name, "is there twice");
        if (!node.e_class) file.fail(node.name, "has no `eclass`");
        result.node_names.push_back(node.name);
        result.class_names.push_back(*node.e_class);
    }
    std::sort(result.class_names.begin(), result.class_names.end());
    result.class_names.erase(std::unique(result.class_names.begin(), result.class_names.end()),
                             result.class_names.end());
    const auto nodes = numbered(result.node_names);
    const auto classes = numbered(result.class_names);

    Problem& problem = result.problem;
    problem.classes = static_cast<int>(result.class_names.size());
    std::vector<std::string> choosable;
    for (FileNode& node : file.nodes) {
        Node made{.e_class = classes.at(*node.e_class), .cost = node.cost};
        for (const std::string& child : node.children) {
            const auto found = nodes.find(child);
            if (found == nodes.end())
                file.fail(node.name, fmt::format("has the child `{}`, which is no node", child));
            made.children.push_back(classes.at(*file.nodes[static_cast<size_t>(found->second)].e_class));
        }
        if (node.is_subsumed) continue;
        problem.nodes.push_back(std::move(made));
        choosable.push_back(node.name);
    }
    for (const std::string& root : file.roots) {
        const auto found = classes.find(root);
        if (found == classes.end()) file.fail(root, "is a root and the class of no node");
        problem.roots.push_back(found->second);
    }
    result.node_names = std::move(choosable);
    return result;
}

}  // namespace tessera::extraction
