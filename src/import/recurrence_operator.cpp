#include "import/recurrence_operator.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "support/error.h"

namespace tessera::import {
namespace {

constexpr const char* kSequence = "seq";
constexpr const char* kToken = "token";
constexpr const char* kRow = "first[seq] + token";
constexpr const char* kState = "S";
constexpr const char* kIsFirst = "start[seq] + token == 0";

class RecurrenceText {
public:
    RecurrenceText(const std::vector<PartLine>& lines, const std::vector<MapOperand>& operands,
                   const Dim& rows, const std::string& where)
        : lines_(lines), operands_(operands), rows_(rows), where_(where) {
        for (size_t n = 0; n < operands.size(); ++n) names_[operands[n].name] = fmt::format("X{}", n);
        for (size_t i = 0; i < lines.size(); ++i)
            names_[lines[i].name] = lines[i].is_carried ? kState : fmt::format("Y{}", i);
        if (std::ranges::count(lines, true, &PartLine::is_carried) != 1)
            throw Error(where, "", "is no recurrence with one state");
    }

    std::string text() {
        find_extents();
        expect_extents();
        std::string all = fmt::format("op recurrence({}: $B{}, {}>: $I)\n", kSequence, iterators(), kToken);
        all += "index first i32[seq], length i32[seq], start i32[seq], seat i32[seq]\n";
        for (const MapOperand& each : operands_) all += operand_text(each);
        const PartLine& carried = *std::ranges::find(lines_, true, &PartLine::is_carried);
        all += fmt::format("carry {} f32[seat[seq]{}] of [$N{}]\n", kState, listed(carried.indices),
                           extents_text(carried));
        bool is_renewed = false;
        for (const PartLine& line : lines_) {
            const std::string body = print(operator_body(with_places(line.term, is_renewed), names_, where_));
            all += line.is_carried
                       ? fmt::format("carry {} = {}\n", kState, body)
                       : fmt::format("out {} f32[{}{}] of [{}{}] = {}\n", names_.at(line.name), kRow,
                                     listed(line.indices), ops::text(rows_), extents_text(line), body);
            is_renewed |= line.is_carried;
        }
        return all + "where token < length[seq]\n";
    }

private:
    [[noreturn]] void fail(const std::string& entity, const std::string& problem) const {
        throw Error(where_, entity, problem);
    }

    static std::string listed(const std::vector<std::string>& indices) {
        std::string all;
        for (const std::string& index : indices) all += ", " + index;
        return all;
    }

    std::string extents_text(const PartLine& line) const {
        std::string all;
        for (const std::string& index : line.indices) all += fmt::format(", {}", extent(index));
        return all;
    }

    int64_t extent(const std::string& index) const {
        const auto found = extents_.find(index);
        if (found == extents_.end()) fail(index, "has no extent: no value is read by this index alone");
        return found->second;
    }

    /// An extent that a line states may be less than that of a tensor, which is then read in part.
    void set_extent(const std::string& index, int64_t extent, bool is_stated) {
        const auto [place, is_new] = extents_.emplace(index, extent);
        if (is_stated) stated_.insert(index);
        const bool is_part = !is_stated && stated_.contains(index) && place->second <= extent;
        if (!is_new && !is_part && place->second != extent)
            fail(index, fmt::format("has two extents, {} and {}", place->second, extent));
        if (is_new) order_.push_back(index);
    }

    const MapOperand* operand(const std::string& name) const {
        const auto found = std::ranges::find(operands_, name, &MapOperand::name);
        return found == operands_.end() ? nullptr : &*found;
    }

    void find_extents() {
        for (const PartLine& line : lines_)
            for (size_t i = 0; i < line.extents.size(); ++i)
                if (line.extents[i] > 0) set_extent(line.indices[i], line.extents[i], true);
        for (const PartLine& line : lines_)
            walk(line.term, [&](const Term& each) {
                const MapOperand* own = operand(each.name);
                if (each.kind != Term::Kind::kElement || !own) return;
                const size_t skipped = own->is_of_tokens ? 1 : 0;
                expect_indices(each, own->type.shape.size() - skipped);
                for (size_t i = 0; i < each.arguments.size(); ++i)
                    if (is_index(each.arguments[i]))
                        set_extent(each.arguments[i]->name, own->type.shape[i + skipped].factor, false);
            });
    }

    /// Indices by which lines alone are read.
    void expect_extents() const {
        for (const PartLine& line : lines_)
            walk(line.term, [&](const Term& each) {
                if (each.kind != Term::Kind::kElement || operand(each.name)) return;
                for (const TermPtr& index : each.arguments)
                    if (is_index(index)) (void)extent(index->name);
            });
    }

    bool is_index(const TermPtr& term) const {
        return term->kind == Term::Kind::kName && !names_.contains(term->name);
    }

    void expect_indices(const Term& read, size_t axes) const {
        if (read.arguments.size() != axes)
            fail(read.name, fmt::format("is read with {} indices, expected {}", read.arguments.size(), axes));
    }

    /// In the order of what is carried, which then lies as the loops run; lines that lack one fold it.
    std::string iterators() {
        std::vector<std::string> order = std::ranges::find(lines_, true, &PartLine::is_carried)->indices;
        for (const std::string& index : order_)
            if (std::ranges::find(order, index) == order.end()) order.push_back(index);
        std::string all;
        for (const std::string& index : order) {
            const bool is_in_all = std::ranges::all_of(lines_, [&](const PartLine& line) {
                return std::ranges::find(line.indices, index) != line.indices.end();
            });
            all += fmt::format(", {}{}: {}", index, is_in_all ? "" : "*", extent(index));
        }
        return all;
    }

    /// Reads carry their coordinates: the declared ones only say the shapes.
    std::string operand_text(const MapOperand& own) const {
        std::string map, shape;
        for (size_t i = 0; i < own.type.shape.size(); ++i) {
            const bool is_tokens = i == 0 && own.is_of_tokens;
            map += (i == 0 ? "" : ", ") + std::string(is_tokens ? kRow : "0");
            shape += (i == 0 ? "" : ", ") + ops::text(own.type.shape[i]);
        }
        return fmt::format("in {} {}[{}] of [{}]\n", names_.at(own.name), name(own.type.element), map, shape);
    }

    /// Reads by the coordinates that the tensors have. The state of the token before is 0 at the first one.
    TermPtr with_places(const TermPtr& term, bool is_renewed) const {
        Term result = *term;
        for (TermPtr& argument : result.arguments) argument = with_places(argument, is_renewed);
        const auto line = std::ranges::find(lines_, term->name, &PartLine::name);
        const MapOperand* own = operand(term->name);
        const bool is_name = term->kind == Term::Kind::kName;
        if (term->is_name("position")) return name_term("(start[seq] + token)");
        if ((term->kind != Term::Kind::kElement && !is_name) || (!own && line == lines_.end()))
            return std::make_shared<const Term>(std::move(result));
        result.kind = Term::Kind::kElement;
        if (own) {
            expect_indices(*term, own->type.shape.size() - (own->is_of_tokens ? 1 : 0));
            if (own->is_of_tokens) result.arguments.insert(result.arguments.begin(), name_term(kRow));
            return std::make_shared<const Term>(std::move(result));
        }
        expect_indices(*term, line->indices.size());
        result.arguments.insert(result.arguments.begin(), name_term(line->is_carried ? "seat[seq]" : kRow));
        TermPtr read = std::make_shared<const Term>(std::move(result));
        if (!line->is_carried || is_renewed) return read;
        return call_term("select", {name_term(kIsFirst), number_term(0, false), read});
    }

    const std::vector<PartLine>& lines_;
    const std::vector<MapOperand>& operands_;
    const Dim& rows_;
    const std::string& where_;
    std::map<std::string, std::string> names_;  ///< of the definition, by those of the text
    std::map<std::string, int64_t> extents_;
    std::set<std::string> stated_;    ///< those that a line states
    std::vector<std::string> order_;  ///< of indices, as they are found
};

}  // namespace

DefinitionPtr recurrence(ops::Symbols symbols, const std::vector<PartLine>& lines,
                         const std::vector<MapOperand>& operands, const Dim& rows, bool may_regroup,
                         const std::string& where) {
    const std::string text = RecurrenceText(lines, operands, rows, where).text();
    return ops::define(symbols, may_regroup ? text + "regrouped\n" : text);
}

std::vector<PartLine> convolution_lines(const ConvolutionNames& names, int64_t taps) {
    const TermPtr c = name_term("c"), k = name_term("k");
    const auto last = [&](int64_t number) { return number_term(static_cast<double>(number), true); };
    const TermPtr now = element_term(names.input, {c});
    TermPtr sum = call_term("*", {now, element_term(names.weight, {c, last(taps - 1)})});
    if (!names.bias.empty()) sum = call_term("+", {sum, element_term(names.bias, {c})});
    if (taps == 1) return {{names.result, {"c"}, {}, sum, false}};
    const TermPtr before = call_term(
        "sum", {call_term("*", {element_term(names.past, {k, c}), element_term(names.weight, {c, k})})});
    const TermPtr moved = call_term("select", {call_term("==", {k, last(taps - 2)}), now,
                                               element_term(names.past, {call_term("+", {k, last(1)}), c})});
    return {{names.result, {"c"}, {}, call_term("+", {before, sum}), false},
            {names.past, {"k", "c"}, {taps - 1, 0}, moved, true}};
}

}  // namespace tessera::import
