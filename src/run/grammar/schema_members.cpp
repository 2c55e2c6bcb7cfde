#include <algorithm>
#include <map>

#include "run/grammar/schema_reader.h"

// Members come in order, with a comma between every two. With the members a, b? and c?
//
//     { a more-b }       more-b ::= ("," b)? more-c       more-c ::= ("," c)? others
//
// and if optional ones come first, a way for each member that may be the first:
//
//     { b more-c | c others | }
//
// If members are counted, there is such a rule for each number of preceding ones.

namespace tessera::grammar {
namespace {

/// The continuation after a member, by the number of members so far.
class MemberChain {
public:
    MemberChain(JsonRules& rules, std::optional<NodeId> other, int64_t least, std::optional<int64_t> most)
        : rules_(rules), other_(other), least_(least), most_(most) {}

    /// Larger counts make no difference.
    int64_t counted() const { return most_.value_or(least_); }
    int64_t one_more(int64_t count) const { return std::min(count + 1, counted()); }
    bool has_room(int64_t count) const { return !most_ || count < *most_; }
    NodeId after_comma(NodeId member) {
        return rules_.sequence({rules_.literal(","), rules_.blanks(), member});
    }

    /// After the last given member. Only one other member counts: their names may be equal.
    NodeId rest(int64_t count) {
        const int64_t missing = least_ - count;
        if (missing > (other_ ? 1 : 0)) return rules_.nothing();
        if (!other_) return rules_.literal("");
        const auto room = most_ ? std::optional(*most_ - count) : std::nullopt;
        if (room && *room < std::max<int64_t>(missing, 0)) return rules_.nothing();
        return rules_.repeated(after_comma(*other_), std::max<int64_t>(missing, 0), room);
    }

private:
    JsonRules& rules_;
    std::optional<NodeId> other_;
    int64_t least_;
    std::optional<int64_t> most_;
};

}  // namespace

NodeId SchemaReader::between_braces(const std::vector<Member>& members, std::optional<NodeId> other,
                                    MemberCounts counts, const std::string& place) {
    MemberChain chain(rules_, other, counts.least, counts.most);
    const std::string name = place.empty() ? "members" : place;
    const int64_t last = static_cast<int64_t>(members.size());
    const int64_t most_before = std::min(chain.counted(), last + 1);
    // From the end: the continuation, by the number of members before.
    std::map<int64_t, NodeId> more;
    for (int64_t count = 0; count <= most_before; ++count) more[count] = chain.rest(count);
    std::vector<NodeId> ways;
    bool may_be_empty = counts.least == 0;
    const int64_t first = std::min<int64_t>(chain.counted(), 1);
    if (other && chain.has_room(0) && counts.least <= 1)
        ways.push_back(rules_.sequence({*other, chain.rest(first)}));
    for (size_t i = members.size(); i-- > 0;) {
        const Member& member = members[i];
        std::map<int64_t, RuleId> rest;
        for (const auto& [count, node] : more) {
            rest[count] = rules_.declare(name, where_);
            rules_.define(rest[count], node);
        }
        if (member.is_required) ways.clear();
        may_be_empty = may_be_empty && !member.is_required;
        if (chain.has_room(0)) ways.push_back(rules_.sequence({member.text, rules_.call(rest[first])}));
        for (auto& [count, node] : more) {
            std::vector<NodeId> next;
            const int64_t after = std::min(chain.one_more(count), most_before);
            if (chain.has_room(count))
                next.push_back(rules_.sequence({chain.after_comma(member.text), rules_.call(rest[after])}));
            if (!member.is_required) next.push_back(rules_.call(rest[count]));
            node = next.empty() ? rules_.nothing() : rules_.choice(std::move(next));
        }
    }
    std::vector<NodeId> parts = {rules_.literal("{"), rules_.blanks()};
    if (!ways.empty()) {
        const NodeId filled = rules_.sequence({rules_.choice(std::move(ways)), rules_.blanks()});
        parts.push_back(may_be_empty ? rules_.optional(filled) : filled);
    } else if (!may_be_empty) {
        return rules_.nothing();
    }
    parts.push_back(rules_.literal("}"));
    return rules_.sequence(std::move(parts));
}

}  // namespace tessera::grammar
