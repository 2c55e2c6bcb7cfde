// Both shapes are cut into the same groups of axes, as short as possible:
//
//     from [n, | 12, | 16 * T]        x1 of the first two stays, the last one is
//     to   [n, | 3, 4, | 16 * T]      x1 * 4 + x2 in the middle
//
// Within a group the position counts; an extent that is split must be a number, unless it is the outermost.
#include "import/onnx/reshape_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/onnx/volume.h"
#include "support/error.h"

namespace tessera::import::onnx {
namespace {

/// Axes [begin, end) of a shape.
struct Run {
    size_t begin, end;
};

/// The end of the run that is to grow until both hold as many elements.
bool first_is_smaller(const Volume& a, const Volume& b) {
    const bool has_less = a.symbols.size() < b.symbols.size();
    return has_less || (a.symbols.size() == b.symbols.size() && a.factor < b.factor);
}

/// For each axis of a run its stride in elements. @throws Error where a symbol is in one
std::vector<int64_t> strides_of(const std::vector<Dim>& shape, Run run) {
    std::vector<int64_t> strides(run.end - run.begin);
    int64_t stride = 1;
    for (size_t axis = run.end; axis > run.begin; --axis) {
        strides[axis - 1 - run.begin] = stride;
        if (axis - 1 == run.begin) break;
        if (!shape[axis - 1].is_constant())
            throw Error("", "",
                        fmt::format("joins or splits the extent {} inside of others",
                                    print(linear_form(shape[axis - 1]))),
                        fmt::format("give it by --dim {}=NUMBER", *shape[axis - 1].symbol));
        stride *= shape[axis - 1].factor;
    }
    return strides;
}

/// Axes without a choice vanish: what is left decides whether a coordinate goes on as it is.
Run without_ones(const std::vector<Dim>& shape, Run run) {
    while (run.begin < run.end && shape[run.begin] == Dim(1)) ++run.begin;
    while (run.begin < run.end && shape[run.end - 1] == Dim(1)) --run.end;
    return run;
}

void read_group(const std::vector<Dim>& from, Run source, const std::vector<Dim>& to, Run target,
                std::vector<std::string>& read) {
    source = without_ones(from, source);
    target = without_ones(to, target);
    if (source.begin == source.end) return;
    if (source.end - source.begin == 1 && target.end - target.begin == 1) {
        read[source.begin] = fmt::format("x{}", target.begin);
        return;
    }
    const std::vector<int64_t> written = strides_of(to, target), strides = strides_of(from, source);
    std::vector<std::string> terms;
    for (size_t axis = target.begin; axis < target.end; ++axis) {
        const int64_t stride = written[axis - target.begin];
        terms.push_back(stride == 1 ? fmt::format("x{}", axis) : fmt::format("x{} * {}", axis, stride));
    }
    const std::string position = fmt::format("({})", fmt::join(terms, " + "));
    for (size_t axis = source.begin; axis < source.end; ++axis) {
        if (from[axis] == Dim(1)) continue;
        const int64_t stride = strides[axis - source.begin];
        std::string coordinate = stride == 1 ? position : fmt::format("({} div {})", position, stride);
        if (axis != source.begin) coordinate = fmt::format("{} mod {}", coordinate, from[axis].factor);
        read[axis] = coordinate;
    }
}

}  // namespace

OperatorText reshape_text(const Operand& x, const std::vector<Dim>& shape) {
    const std::vector<Dim>& from = x.shape;
    TESSERA_CHECK(volume_of(from) == volume_of(shape), "{} and {} axes", from.size(), shape.size());
    std::vector<std::string> read(from.size(), "0");
    for (size_t i = 0, j = 0; i < from.size() || j < shape.size();) {
        Run source{i, i}, target{j, j};
        Volume a, b;
        do {
            const bool grows_first = j == shape.size() || (i < from.size() && !first_is_smaller(b, a));
            if (grows_first)
                a *= from[i++];
            else
                b *= shape[j++];
        } while (a != b);
        source.end = i;
        target.end = j;
        read_group(from, source, shape, target, read);
    }
    OperatorText text("Reshape");
    std::vector<std::string> written;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        written.push_back(fmt::format("x{}", axis));
        text.over(written.back(), shape[axis]);
    }
    text.read(x, "X", read).write(x.type, shape, written, "X");
    return text;
}

}  // namespace tessera::import::onnx
