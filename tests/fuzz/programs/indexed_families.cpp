// Nodes that choose elements by index operands, and updates of states.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fuzz/programs/contents.h"
#include "fuzz/programs/draft.h"
#include "ir/interpreter.h"
#include "ir/random_definition.h"
#include "ir/result_type.h"

namespace tessera::fuzz {
namespace {

struct Table {
    ValueId value;
    Shape shape;
    int64_t rows;
};

/// A value of rows with a constant number of them.
std::optional<Table> any_table(Draft& draft) {
    const auto value =
        draft.any([](const Value& v) { return v.type.shape.size() == 2 && v.type.shape[0].is_constant(); });
    if (!value) {
        const Shape shape = {draft.choices.between(2, 9), draft.extent()};
        return Table{draft.operand(draft.any_type(), shape), shape, shape[0].factor};
    }
    return Table{*value, draft[*value].type.shape, draft[*value].type.shape[0].factor};
}

ValueId indices(Draft& draft, const Dim& count, int64_t low, int64_t high, bool is_distinct = false,
                ElementType type = ElementType::kI32) {
    return draft.given(type, {count},
                       draw_indices(draft.choices, {draft.extent_of(count)}, low, high, is_distinct));
}

/// Rows by their numbers: as they are, taken modulo, divided, counted from the end; some left out.
bool gather(Draft& draft) {
    const auto table = any_table(draft);
    if (!table) return false;
    const Dim count = draft.extent();
    const int64_t n = table->rows;
    std::string at = "id", where, index_type = "i32";
    int64_t low = 0, high = n - 1;
    switch (draft.choices.below(8)) {
        case 1:
            at = fmt::format("id mod {}", n);
            low = -3 * n;
            high = 3 * n;
            break;
        case 2:
            at = "id div 2 + 1";
            low = -2;
            high = 2 * n - 3;
            break;
        case 3:
            at = fmt::format("{} - id", n - 1);
            break;
        case 4:
            where = "where id >= 0\n";
            low = -2;
            break;
        case 5:
            index_type = "u8";
            break;
        case 6:
            at = fmt::format("(id + i0) mod {}", n);
            low = -n;
            break;
        case 7:
            where = fmt::format("where id >= 0 and id < {}\n", n);
            low = -n;
            high = 2 * n;
            break;
        default:
            break;
    }
    if (high < low) return false;
    const ValueId id =
        indices(draft, count, low, high, false, index_type == "u8" ? ElementType::kU8 : ElementType::kI32);
    const std::string type = draft.type_name(table->value);
    return draft.add(
        fmt::format("op gather({})\nindex id {}[i0]\nin X {}[{}, i1] of {}\nout Y {}[i0, i1] = X\n{}",
                    iterators({count, table->shape[1]}), index_type, type, at, shape_text(table->shape), type,
                    where),
        {id, table->value});
}

/// Single elements: X[i0, id[i0]].
bool pick_elements(Draft& draft) {
    const auto value =
        draft.any([](const Value& v) { return v.type.shape.size() == 2 && v.type.shape[1].is_constant(); });
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    const ValueId id = indices(draft, shape[0], 0, shape[1].factor - 1);
    const std::string type = draft.type_name(*value);
    return draft.add(fmt::format("op pick({})\nindex id i32[i0]\nin X {}[i0, id] of {}\nout Y {}[i0] = X\n",
                                 iterators({shape[0]}), type, shape_text(shape), type),
                     {id, *value});
}

/// Rows to distinct places; the others stay 0.
bool scatter(Draft& draft) {
    const auto value = draft.any_of_rank(2, 2);
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    const int64_t places = draft.extent_of(shape[0]) + draft.choices.below(5);
    const bool is_shifted = draft.choices.chance(30);
    const ValueId id = indices(draft, shape[0], is_shifted ? -places : 0, is_shifted ? -1 : places - 1, true);
    const std::string type = draft.type_name(*value);
    return draft.add(
        fmt::format("op scatter({})\nindex id i32[i0]\nin X {}[i0, i1]\nout Y {}[{}, i1] of [{}, {}] = X\n",
                    iterators(shape), type, type, is_shifted ? fmt::format("id mod {}", places) : "id",
                    places, shape_text({shape[1]}).substr(1, shape_text({shape[1]}).size() - 2)),
        {id, *value});
}

/// Rows that meet are folded.
bool scatter_fold(Draft& draft) {
    const auto value = draft.any_of_rank(2, 2);
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    const int64_t places = draft.choices.between(1, 6);
    const bool is_masked = draft.choices.chance(30);
    const ValueId id = indices(draft, shape[0], is_masked ? -1 : 0, places - 1);
    const std::string extent = shape_text({shape[1]});
    return draft.add(
        fmt::format(
            "op segments({})\nindex id i32[i0]\nin X {}[i0, i1]\nout Y f32[id, i1] of [{}, {} = {}(X)\n{}",
            iterators(shape, {0}), draft.type_name(*value), places, extent.substr(1),
            draft.choices.pick<std::string>({"sum", "max", "min"}), is_masked ? "where id >= 0\n" : ""),
        {id, *value});
}

/// A state whose rows at distinct places are replaced, or all of whose elements change.
bool update(Draft& draft) {
    const auto value = draft.any_of_rank(2, 2);
    if (!value) return false;
    const TensorType type = draft[*value].type;
    if (bits(type.element) < 8) return false;  // no array holds the state
    const std::string of_type(name(type.element));
    const bool is_chosen = draft.choices.chance(60);
    Shape shape = type.shape;
    if (is_chosen) shape[0] = draft.extent_of(shape[0]) + draft.choices.below(5);
    std::optional<ValueId> over;
    if (draft.choices.chance(25))
        over = draft.any([&](const Value& v) {
            return v.kind == ValueKind::kIntermediate && v.type.element == type.element &&
                   v.type.shape == shape;
        });
    if (!over) over = draft.state(type.element, shape);
    if (!over) return false;
    if (!is_chosen) {
        const std::string where =
            draft.choices.pick<std::string>({"", "where i1 mod 2 == 0\n", "where i1 <= i0\n"});
        return draft.add(fmt::format("op drawn_store({})\nin X {}[i0, i1]\nupdate Y {}[i0, i1] = X\n{}",
                                     iterators(shape), of_type, of_type, where),
                         {*value}, over);
    }
    const bool is_masked = draft.choices.chance(25);
    const ValueId id = indices(draft, type.shape[0], is_masked ? -1 : 0, shape[0].factor - 1, true);
    return draft.add(
        fmt::format(
            "op drawn_store({})\nindex id i32[i0]\nin X {}[i0, i1]\nupdate Y {}[id, i1] of {} = X\n{}",
            iterators(type.shape), of_type, of_type, shape_text(shape), is_masked ? "where id >= 0\n" : ""),
        {id, *value}, over);
}

/// A state to which rows are added.
bool accumulate(Draft& draft) {
    const auto value = draft.any_of_rank(2, 2);
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    const auto over = draft.state(ElementType::kF32, {shape[1]});
    if (!over) return false;
    return draft.add(
        fmt::format("op accumulate({})\nin X {}[i0, i1]\nupdate Y f32[i1] = {}(X)\n", iterators(shape, {0}),
                    draft.type_name(*value), draft.choices.pick<std::string>({"sum", "max"})),
        {*value}, over);
}

/// Any definition of the notation, as tests/ir draws them, with its dims at their bound values.
bool definition(Draft& draft) {
    const DefinitionFile file =
        random_definition(static_cast<uint64_t>(draft.choices.below(4000)), {.largest_box = 4000});
    Definition d = file.definition;
    std::string text = print(d);
    for (const DimSymbol& dim : d.dims) {
        // A dim is a number here: the symbols of the program are its own.
        const std::string value = std::to_string(file.test.bind.at(dim.name));
        for (size_t at = text.find(dim.name); at != std::string::npos; at = text.find(dim.name, at + 1)) {
            const auto is_part = [&](size_t i) {
                return i < text.size() &&
                       (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
            };
            if (is_part(at + dim.name.size()) || (at > 0 && is_part(at - 1))) continue;
            text.replace(at, dim.name.size(), value);
        }
    }
    if (const size_t at = text.find("\ndim "); at != std::string::npos)
        text.erase(at, text.find('\n', at + 1) - at);
    const BoundExtents extents = bound_extents(file, "a drawn definition");
    std::vector<ValueId> operands;
    std::optional<ValueId> over;
    for (size_t i = 0; i < d.tensors.size(); ++i) {
        const Shape shape(extents.shapes[i].begin(), extents.shapes[i].end());
        const ElementType type = d.tensors[i].type;
        const bool is_result = d.tensors[i].role == Role::kOut || d.tensors[i].role == Role::kUpdate;
        if (!is_result && bits(type) < 8) return false;  // no array holds it
        if (d.tensors[i].role == Role::kUpdate && bits(type) < 8) return false;
        if (d.tensors[i].role == Role::kIn) operands.push_back(draft.operand(type, shape));
        if (d.tensors[i].role == Role::kIndex)
            operands.push_back(
                draft.given(type, shape, test_contents_of(file, extents, static_cast<int>(i), "drawn")));
        if (d.tensors[i].role != Role::kUpdate) continue;
        over = draft.state(type, shape);
        if (!over) return false;
    }
    return draft.add(text, operands, over);
}

}  // namespace

const std::vector<NamedFamily>& indexed_families() {
    static const std::vector<NamedFamily> kAll = {{"gather", gather, 6},        {"pick", pick_elements, 2},
                                                  {"scatter", scatter, 3},      {"segments", scatter_fold, 3},
                                                  {"update", update, 4},        {"accumulate", accumulate, 2},
                                                  {"definition", definition, 3}};
    return kAll;
}

}  // namespace tessera::fuzz
