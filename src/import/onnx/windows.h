#pragma once

#include <string>
#include <vector>

#include "import/onnx/call.h"

namespace tessera::import::onnx {

/// The windows of a convolution or pooling along one spatial axis: window `o` has the elements o * stride + k
/// * dilation
/// - begin, for k below `kernel`; those outside of the input are padding.
struct Windows {
    Dim input = 0;
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t begin = 0;  ///< padding in front
    int64_t end = 0;
    Dim count = 0;

    int64_t reach() const { return (kernel - 1) * dilation + 1; }
    /// True if no window leaves the input, or what is padded of it.
    bool stay_within(int64_t padded_before, int64_t padded_after) const;
};

/// An attribute of so many numbers of 0 or more, which all are `otherwise` where it is left out.
/// @throws Error for another number of them, and for a negative or too large one
std::vector<int64_t> numbers_of_axes(const Call& call, const std::string& name, size_t count,
                                     int64_t otherwise);

/// The windows along every spatial axis, by the attributes strides, dilations, pads, auto_pad and ceil_mode.
/// Along a symbolic extent there must be as many as a multiple of its symbol.
/// @throws Error for numbers that make no window
std::vector<Windows> windows_of(const Call& call, const std::vector<Dim>& spatial,
                                const std::vector<int64_t>& kernel);

/// "o0 * 2 + k0 * 3 - 1"
std::string element_of_window(const Windows& windows, const std::string& window, const std::string& element);

}  // namespace tessera::import::onnx
