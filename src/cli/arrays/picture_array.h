#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/arrays/png_picture.h"
#include "ir/element_type.h"
#include "ir/tensor_type.h"

namespace tessera::arrays {

/// The numbers for the darkest and the brightest value of a channel: one pair for all channels, or one for
/// each.
using PixelRanges = std::vector<std::pair<double, double>>;

struct PictureArray {
    std::vector<int64_t> shape;
    std::vector<std::byte> elements;  ///< of the type, row-major
};

/// A picture as an input of this type and shape takes it: [height, width], [channels, height, width] or
/// [height, width, channels], with a batch of one before the latter two. Grey becomes three equal channels;
/// nothing else is changed, neither size nor colours.
/// @param ranges empty: values as they are, 0 to 255 @throws Error naming `where` for a picture that the
/// input does not take, or that it could take in two ways
PictureArray picture_array(const Picture& picture, const PixelRanges& ranges, ElementType element,
                           const std::vector<Dim>& shape, const std::string& input, const std::string& where);

}  // namespace tessera::arrays
