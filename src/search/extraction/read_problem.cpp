#include "search/extraction/read_problem.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "support/error.h"
#include "support/json.h"

namespace tessera::extraction {
namespace {

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
class ProblemReader final : public JsonEvents {
public:
    explicit ProblemReader(const std::string& where) : where_(where) {}

    std::vector<FileNode> nodes;
    std::vector<std::string> roots;
    bool has_nodes = false, has_roots = false;

    void null() override { expect("null"); }
    void boolean(bool value) override {
        if (at_field("subsumed"))
            nodes.back().is_subsumed = value;
        else
            expect("a boolean");
    }
    void negative(int64_t value) override { real(static_cast<double>(value)); }
    void natural(uint64_t value) override { real(static_cast<double>(value)); }
    void real(double value) override {
        if (!at_field("cost")) return expect("a number");
        if (!std::isfinite(value)) fail(nodes.back().name, "has a cost that is no finite number");
        nodes.back().cost = value;
    }
    void text(std::string& text) override {
        if (at_field("eclass"))
            nodes.back().e_class = text;
        else if (at_element_of("children"))
            nodes.back().children.push_back(text);
        else if (is_in_roots())
            roots.push_back(text);
        else
            expect("a text");
    }
    void begin_object() override { open(true); }
    void begin_array() override { open(false); }
    void end_object() override { --depth_; }
    void end_array() override { --depth_; }
    void key(std::string& text) override {
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

    /// A value where nothing is expected, or where something else is.
    void expect(std::string_view found) {
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
    }
    void open(bool is_object) {
        const bool is_expected =
            (depth_ == 0 && is_object) || (depth_ == 1 && keys_[0] == "nodes" && is_object) ||
            (depth_ == 1 && keys_[0] == "root_eclasses" && !is_object) ||
            (depth_ == 2 && keys_[0] == "nodes" && is_object) || (at_field("children") && !is_object);
        if (!is_expected) expect(is_object ? "an object" : "a list");
        ++depth_;
        if (keys_.size() < depth_) keys_.emplace_back();
        keys_[depth_ - 1].clear();
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
    ProblemReader file(where);
    parse_json_events(text, where, kBounds, file);
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
