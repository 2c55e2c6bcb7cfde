#include "import/onnx/windows.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/checked_arithmetic.h"

namespace tessera::import::onnx {
namespace {

constexpr int64_t kLargest = int64_t{1} << 30;

}  // namespace

std::vector<int64_t> numbers_of_axes(const Call& call, const std::string& name, size_t count,
                                     int64_t otherwise) {
    std::vector<int64_t> numbers = call.integers(name, std::vector<int64_t>(count, otherwise));
    call.expect(numbers.size() == count, fmt::format("has {} {}, expected {}", numbers.size(), name, count));
    for (const int64_t number : numbers)
        call.expect(number >= 0 && number < kLargest, fmt::format("has {} in its {}", number, name));
    return numbers;
}

bool Windows::stay_within(int64_t padded_before, int64_t padded_after) const {
    if (begin > padded_before) return false;
    // The last one ends so far behind the input, of which the symbol's part is that of the windows.
    const int64_t whole = count.symbol ? 0 : count.factor * stride - input.factor;
    return whole - stride + reach() - begin <= padded_after;
}

std::vector<Windows> windows_of(const Call& call, const std::vector<Dim>& spatial,
                                const std::vector<int64_t>& kernel) {
    const size_t axes = spatial.size();
    call.expect(kernel.size() == axes,
                fmt::format("has a kernel of {} axes, expected {}", kernel.size(), axes));
    const std::vector<int64_t> strides = numbers_of_axes(call, "strides", axes, 1),
                               dilations = numbers_of_axes(call, "dilations", axes, 1);
    const std::string auto_pad = call.text("auto_pad", "NOTSET");
    const bool is_same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
    call.expect(is_same || auto_pad == "NOTSET" || auto_pad == "VALID" || auto_pad.empty(),
                fmt::format("has auto_pad \"{}\"", auto_pad));
    const std::vector<int64_t> pads = numbers_of_axes(call, "pads", 2 * axes, 0);
    const bool rounds_up = call.integer("ceil_mode", 0) != 0;
    std::vector<Windows> all;
    for (size_t a = 0; a < axes; ++a) {
        call.expect(kernel[a] > 0 && kernel[a] < kLargest && strides[a] > 0 && dilations[a] > 0,
                    "has an empty kernel, or a stride or dilation of 0");
        Windows w{.input = spatial[a], .kernel = kernel[a], .stride = strides[a], .dilation = dilations[a]};
        // The symbol's part of an extent has whole strides, and the rest is as of a number.
        const Dim& extent = spatial[a];
        if (extent.symbol && extent.factor % w.stride != 0)
            call.refuse(
                fmt::format("has windows {} apart along its extent {}", w.stride, print(linear_form(extent))),
                fmt::format("give a number or multiples alone: --dim {0}=NUMBER or "
                            "{0}=LOW..HIGH:STEP",
                            *extent.symbol));
        const int64_t rest = extent.symbol ? 0 : extent.factor;
        const auto counted = [&](int64_t windows) {
            if (!extent.symbol) return Dim(windows);
            return call.dim({.constant = windows, .terms = {{*extent.symbol, extent.factor / w.stride}}});
        };
        if (is_same) {
            const int64_t count = (rest + w.stride - 1) / w.stride;
            w.count = counted(count);
            const int64_t total = std::max<int64_t>(0, (count - 1) * w.stride + w.reach() - rest);
            w.begin = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
            w.end = total - w.begin;
            all.push_back(w);
            continue;
        }
        if (auto_pad != "VALID") {
            w.begin = pads[a];
            w.end = pads[a + axes];
        }
        const int64_t least = range(linear_form(extent), call.build.graph().symbols).low,
                      room = rest + w.begin + w.end - w.reach();
        const bool is_one = least - rest + room >= 0;
        call.expect(is_one || (rounds_up && !extent.symbol),
                    fmt::format("has a window of {} elements over {}", w.reach(), least + w.begin + w.end));
        int64_t count = is_one ? checked_floor_div(room, w.stride, "") + 1 : 0;
        // A window that would begin in the padding behind the input does not exist.
        if (rounds_up && is_one && checked_floor_mod(room, w.stride, "") != 0 &&
            count * w.stride < rest + w.begin)
            ++count;
        w.count = counted(count);
        all.push_back(w);
    }
    return all;
}

std::string element_of_window(const Windows& windows, const std::string& window, const std::string& element) {
    std::string text = window;
    if (windows.stride != 1) text += fmt::format(" * {}", windows.stride);
    if (windows.kernel > 1) text += fmt::format(" + {}", element);
    if (windows.kernel > 1 && windows.dilation != 1) text += fmt::format(" * {}", windows.dilation);
    if (windows.begin != 0) text += fmt::format(" - {}", windows.begin);
    return text;
}

}  // namespace tessera::import::onnx
