// Elements chosen by indices, and elements put at indices.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"
#include "import/onnx/volume.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

std::string element_text(const std::string& name, const std::vector<std::string>& coordinates) {
    std::string text;
    for (const std::string& coordinate : coordinates) text += (text.empty() ? "" : ", ") + coordinate;
    return fmt::format("{}[{}]", name, text.empty() ? "0" : text);
}

/// Indices into an axis, or by the elements of their last axis into several, and the coordinates that they
/// name. Negative ones count from the end: known ones are checked and counted from the beginning, those that
/// follow from their own place are checked and need no table, and computed ones are the rest by the extent,
/// which leads nowhere else.
class Places {
public:
    Places(const Call& call, const Operand& stated, const std::vector<Dim>& extents) : indices(stated) {
        if (stated.places && follow_from_places(call, stated, extents)) return;
        std::vector<double> numbers;
        if (stated.known)
            for (const int64_t at : integers_of(stated)) numbers.push_back(static_cast<double>(at));
        for (size_t i = 0; i < extents.size(); ++i) {
            const LinearForm extent = linear_form(extents[i]);
            const int64_t least = range(extent, call.build.graph().symbols).low;
            call.expect(least > 0 || volume_of(stated.shape).factor == 0,
                        "chooses from an axis without elements");
            if (stated.known) {
                formats_.push_back(known_format(call, numbers, i, extents.size(), extent, least));
            } else if (extent.is_constant()) {
                formats_.push_back(fmt::format("{{}} mod {}", std::max<int64_t>(extent.constant, 1)));
            } else {
                call.refuse(fmt::format("computes places along the symbolic extent {}", print(extent)),
                            "give the symbol by --dim NAME=NUMBER");
            }
        }
        if (stated.known) indices = known_numbers(DataType::kInt32, call.extents(stated), numbers);
    }

    /// The coordinate along the axis of a number, by the place in the indices that names it.
    std::string at(const std::vector<std::string>& place, size_t number = 0) const {
        if (forms_.empty()) return fmt::format(fmt::runtime(formats_.at(number)), element_text("I", place));
        const LinearForm& form = forms_.at(number);
        std::string text = fmt::to_string(form.constant);
        for (const auto& [symbol, factor] : form.terms) {
            const std::optional<size_t> axis = axis_of(symbol);
            text += fmt::format(" + {} * {}", factor, axis ? place.at(*axis) : "$" + symbol);
        }
        return text;
    }
    /// Lets an operator read the indices as I.
    void add_to(OperatorText& text, const std::vector<std::string>& place) const {
        if (forms_.empty()) text.index(indices, "I", place);
    }

    Operand indices;

private:
    /// A form for each chosen axis, which lies on it for all values of the symbols. False if there are
    /// others.
    bool follow_from_places(const Call& call, const Operand& stated, const std::vector<Dim>& extents) {
        if (stated.places->size() != extents.size()) return false;
        // The last place, which has the largest value, and the first.
        const auto end = [&](const LinearForm& form, bool is_last) {
            LinearForm result{.constant = form.constant, .terms = {}};
            for (const auto& [symbol, factor] : form.terms) {
                const std::optional<size_t> axis = axis_of(symbol);
                const bool takes_last = axis && (factor > 0) == is_last;
                const LinearForm own =
                    !axis        ? LinearForm{.constant = 0, .terms = {{symbol, 1}}}
                    : takes_last ? sum(linear_form(stated.shape[*axis]), {.constant = 1, .terms = {}}, -1)
                                 : LinearForm{};
                result = sum(result, own, factor);
            }
            return result;
        };
        const auto low = [&](const LinearForm& form) { return range(form, call.build.graph().symbols).low; };
        for (size_t i = 0; i < extents.size(); ++i) {
            const LinearForm& form = stated.places->at(i);
            const LinearForm beyond = sum(linear_form(extents[i]), end(form, true), -1);
            if (low(end(form, false)) < 0 || low(beyond) < 1) return false;
        }
        forms_ = *stated.places;
        return true;
    }

    /// Counts the numbers of one axis from the beginning; along a symbolic extent its map does.
    static std::string known_format(const Call& call, std::vector<double>& numbers, size_t first, size_t step,
                                    const LinearForm& extent, int64_t least) {
        bool has_negative = false, has_other = false;
        for (size_t i = first; i < numbers.size(); i += step) {
            const auto at = static_cast<int64_t>(numbers[i]);
            call.expect(at >= -least && at < least,
                        fmt::format("has the index {}, expected -{} to {}", at, least, least - 1));
            (at < 0 ? has_negative : has_other) = true;
            if (at < 0 && extent.is_constant()) numbers[i] += static_cast<double>(least);
        }
        if (extent.is_constant() || !has_negative) return "{}";
        call.expect(!has_other, "counts from both ends of a symbolic extent");
        return fmt::format("{{}} + {}", form_text(extent));
    }

    std::vector<std::string> formats_;
    Forms forms_;  ///< where the places alone decide
};

Results gather(const Call& call) {
    const Operand& x = call.in(0);
    const size_t axis = call.axis(call.integer("axis", 0), x.rank());
    const Places places(call, call.in(1), {x.shape[axis]});
    const Operand& indices = places.indices;
    OperatorText text = operator_text(call);
    std::vector<Dim> shape;
    std::vector<std::string> axes, read, of_index;
    const auto add = [&](const Dim& dim) {
        axes.push_back(axis_name(axes.size()));
        shape.push_back(dim);
        text.over(axes.back(), dim);
        return axes.back();
    };
    for (size_t a = 0; a < x.rank(); ++a) {
        if (a != axis) {
            read.push_back(add(x.shape[a]));
            continue;
        }
        for (const Dim& dim : indices.shape) of_index.push_back(add(dim));
        read.push_back(places.at(of_index));
    }
    places.add_to(text, of_index);
    text.read(x, "X", read);
    return {call.build.add(text.write(x.type, shape, axes, "X"))};
}

Results gather_elements(const Call& call) {
    const Operand& x = call.in(0);
    const size_t axis = call.axis(call.integer("axis", 0), x.rank());
    const Places places(call, call.in(1), {x.shape[axis]});
    const Operand& indices = places.indices;
    call.expect(indices.rank() == x.rank(), "has indices of another rank");
    OperatorText text = operator_text(call);
    const std::vector<std::string> axes = axis_names(x.rank());
    for (size_t a = 0; a < x.rank(); ++a) text.over(axes[a], indices.shape[a]);
    std::vector<std::string> read = axes;
    read[axis] = places.at(axes);
    places.add_to(text, axes);
    text.read(x, "X", read);
    return {call.build.add(text.write(x.type, indices.shape, axes, "X"))};
}

Results gather_nd(const Call& call) {
    const Operand &x = call.in(0), &stated = call.in(1);
    const int64_t batch = call.integer("batch_dims", 0);
    call.expect(batch >= 0 && batch < static_cast<int64_t>(stated.rank()),
                fmt::format("has {} batch axes", batch));
    const int64_t chosen = call.extent(stated, stated.rank() - 1);
    call.expect(chosen > 0 && batch + chosen <= static_cast<int64_t>(x.rank()),
                fmt::format("chooses {} axes after {} of {}", chosen, batch, x.rank()));
    const auto first = x.shape.begin() + batch;
    const Places places(call, stated, {first, first + chosen});
    const Operand& indices = places.indices;
    OperatorText text = operator_text(call);
    std::vector<Dim> shape;
    std::vector<std::string> axes, read;
    for (size_t a = 0; a + 1 < indices.rank(); ++a) {
        axes.push_back(axis_name(a));
        shape.push_back(indices.shape[a]);
    }
    for (int64_t a = 0; a < batch; ++a) read.push_back(axes[static_cast<size_t>(a)]);
    std::vector<std::string> own = axes;
    own.push_back("0");
    for (int64_t c = 0; c < chosen; ++c) {
        own.back() = fmt::to_string(c);
        read.push_back(places.at(own, static_cast<size_t>(c)));
    }
    for (size_t a = static_cast<size_t>(batch + chosen); a < x.rank(); ++a) {
        axes.push_back(axis_name(axes.size()));
        shape.push_back(x.shape[a]);
        read.push_back(axes.back());
    }
    for (size_t a = 0; a < axes.size(); ++a) text.over(axes[a], shape[a]);
    places.add_to(text, own);
    text.read(x, "X", read);
    return {call.build.add(text.write(x.type, shape, axes, "X"))};
}

/// How an update and what is there become one.
struct Meeting {
    const char* monoid;
    const char* join;
    const char* identity;
};

std::optional<Meeting> meeting_of(const Call& call) {
    const std::string kind = call.text("reduction", "none");
    if (kind == "none") return std::nullopt;
    if (kind == "add") return Meeting{"sum", "A + B", "0"};
    if (kind == "mul") return Meeting{"prod", "A * B", "1"};
    if (kind == "max") return Meeting{"max", "max(A, B)", "-inf"};
    if (kind == "min") return Meeting{"min", "min(A, B)", "inf"};
    call.refuse(fmt::format("joins by \"{}\", expected none, add, mul, max or min", kind));
}

/// Element by element: every place looks at all updates that may meet it. `is_it` tells whether update `j`
/// does, in terms of I; the last one counts, or all are joined.
Operand scattered(const Call& call, const Operand& x, const Operand& indices, const Operand& updates,
                  const std::vector<std::string>& of_indices, const std::vector<std::string>& of_updates,
                  const Dim& count, const std::string& is_it) {
    const std::vector<std::string> axes = axis_names(x.rank());
    const auto over_all = [&] {
        OperatorText text = operator_text(call);
        for (size_t a = 0; a < axes.size(); ++a) text.over(axes[a], x.shape[a]);
        return text.folding("j", count);
    };
    call.expect(over_all().iterations() < int64_t{1} << 34, "has too many updates for as many elements");
    if (const std::optional<Meeting> meeting = meeting_of(call)) {
        OperatorText text = over_all();
        text.read(indices, "I", of_indices).read(updates, "U", of_updates);
        const Operand folded = call.build.add(
            text.write(sum_type(x.type), x.shape, axes,
                       fmt::format("{}(select({}, U, {}))", meeting->monoid, is_it, meeting->identity)));
        return elementwise(call, {x, folded}, wrapped(meeting->join, x.type));
    }
    OperatorText last = over_all();
    const Operand found = call.build.add(
        last.read(indices, "I", of_indices)
            .write(DataType::kInt64, x.shape, axes, fmt::format("max(select({}, j, -1))", is_it)));
    OperatorText text = over_all();
    text.read(found, "L", axes).read(updates, "U", of_updates);
    const Operand value =
        call.build.add(text.write(sum_type(x.type), x.shape, axes, "sum(select(j == L, U, 0))"));
    return elementwise(call, {found, value, x}, "select(A >= 0, B, C)", x.type);
}

Results scatter_elements(const Call& call) {
    const Operand &x = call.in(0), &indices = call.in(1), &updates = call.in(2);
    const size_t axis = call.axis(call.integer("axis", 0), x.rank());
    call.expect(indices.rank() == x.rank() && indices.shape == updates.shape,
                "has updates of another shape than its indices");
    const std::vector<int64_t> extents = call.extents(x), of_indices = call.extents(indices);
    std::vector<std::string> at = axis_names(x.rank());
    std::string is_it = fmt::format("I mod {} == {}", extents[axis], at[axis]);
    for (size_t a = 0; a < x.rank(); ++a)
        if (a != axis && of_indices[a] < extents[a])
            is_it += fmt::format(" and {} < {}", at[a], of_indices[a]);
    at[axis] = "j";
    return {scattered(call, x, indices, updates, at, at, indices.shape[axis], is_it)};
}

Results scatter_nd(const Call& call) {
    const Operand& x = call.in(0);
    const std::vector<int64_t> extents = call.extents(x), of_indices = call.extents(call.in(1));
    call.expect(!of_indices.empty() && of_indices.back() <= static_cast<int64_t>(x.rank()),
                "chooses more axes than there are");
    const int64_t chosen = of_indices.back();
    int64_t count = 1;
    for (size_t a = 0; a + 1 < of_indices.size(); ++a) count *= of_indices[a];
    std::vector<int64_t> update_shape = {count};
    const std::vector<std::string> axes = axis_names(x.rank());
    std::vector<std::string> of_updates = {"j"};
    for (size_t a = static_cast<size_t>(chosen); a < x.rank(); ++a) {
        update_shape.push_back(extents[a]);
        of_updates.push_back(axes[a]);
    }
    const Operand indices = call.build.with_shape(call.in(1), dims_of({count, chosen}));
    const Operand updates = call.build.with_shape(call.in(2), dims_of(update_shape));
    std::string is_it;
    for (int64_t c = 0; c < chosen; ++c)
        is_it += fmt::format("{}I[j, {}] mod {} == {}", c == 0 ? "" : " and ", c,
                             extents[static_cast<size_t>(c)], axes[static_cast<size_t>(c)]);
    return {scattered(call, x, indices, updates, {"j", "0"}, of_updates, Dim(count), is_it)};
}

/// New keys or values in a cache of fixed length, from a place of each sequence on.
Results tensor_scatter(const Call& call) {
    const Operand &cache = call.in(0), &update = call.in(1);
    const size_t axis = call.axis(call.integer("axis", -2), cache.rank());
    call.expect(update.rank() == cache.rank(), "has an update of another rank than its cache");
    const bool goes_round = call.text("mode", "linear") == "circular";
    const int64_t extent = call.extent(cache, axis);
    std::vector<std::string> at = axis_names(cache.rank());
    const Operand begins =
        call.has(2) ? call.in(2) : expand(call, known_scalar(DataType::kInt64, 0), {cache.shape[0]});
    const std::string place_of = goes_round ? fmt::format("(j + I) mod {}", extent) : "j + I";
    const std::string is_it = fmt::format("{} == {}", place_of, at[axis]);
    std::vector<std::string> of_updates = at;
    of_updates[axis] = "j";
    return {scattered(call, cache, begins, update, {at[0]}, of_updates, update.shape[axis], is_it)};
}

}  // namespace

std::span<const Operator> gathers() {
    static constexpr std::array kOperators = {
        Operator{"Gather", gather},
        Operator{"GatherElements", gather_elements},
        Operator{"GatherND", gather_nd},
        Operator{"Scatter", scatter_elements},
        Operator{"ScatterElements", scatter_elements},
        Operator{"ScatterND", scatter_nd},
        Operator{"TensorScatter", tensor_scatter},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
