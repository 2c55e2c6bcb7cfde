#include "cli/arrays/picture_array.h"

#include <optional>

#include <fmt/format.h>

#include "compiler/programs/bind_symbols.h"
#include "ir/stored_number.h"
#include "support/error.h"

namespace tessera::arrays {
namespace {

constexpr uint8_t kBrightest = 255;

/// Which axes of an input are those of a picture.
struct Order {
    size_t first;  ///< behind the batch
    std::optional<size_t> channels;
    size_t height, width;
};

std::string channels_text(int64_t channels) {
    return fmt::format("{} channel{}", channels, channels == 1 ? "" : "s");
}

int64_t channels_of(const Picture& picture, const Order& order, const std::vector<Dim>& shape) {
    if (!order.channels) return 1;
    const Dim& dim = shape[*order.channels];
    return dim.is_constant() ? dim.factor : picture.channels;
}

bool takes(const Dim& dim, int64_t extent) {
    return dim.is_constant() ? dim.factor == extent : dim.factor > 0 && extent % dim.factor == 0;
}

/// The picture's values by pixel, with another number of channels.
class Channels {
public:
    explicit Channels(const Picture& picture) : picture_(picture) {}

    /// Why the picture cannot be seen with so many channels; empty if it can.
    std::string obstacle(int64_t channels) const {
        const bool is_clear = picture_.channels % 2 == 0 && channels < 4 && has(&Channels::is_clear);
        if (is_clear) return "is transparent in parts";
        if (channels == 1 && picture_.channels > 2 && has(&Channels::is_coloured)) return "has colours";
        return "";
    }

    uint8_t at(size_t pixel, int64_t channel) const {
        const bool is_grey = picture_.channels < 3;
        if (channel == 3) return picture_.channels % 2 == 0 ? alpha(pixel) : kBrightest;
        return value(pixel, is_grey ? 0 : channel);
    }

private:
    uint8_t value(size_t pixel, int64_t channel) const {
        return picture_.pixels[pixel * static_cast<size_t>(picture_.channels) + static_cast<size_t>(channel)];
    }
    uint8_t alpha(size_t pixel) const { return value(pixel, picture_.channels - 1); }
    bool is_clear(size_t pixel) const { return alpha(pixel) != kBrightest; }
    bool is_coloured(size_t pixel) const {
        return value(pixel, 0) != value(pixel, 1) || value(pixel, 0) != value(pixel, 2);
    }
    bool has(bool (Channels::*is)(size_t) const) const {
        const auto pixels = static_cast<size_t>(picture_.width * picture_.height);
        for (size_t i = 0; i < pixels; ++i)
            if ((this->*is)(i)) return true;
        return false;
    }

    const Picture& picture_;
};

/// Checks that type and ranges let an input hold the values. @throws Error if not
void check_values(const PixelRanges& ranges, ElementType element, int64_t channels, const std::string& input,
                  const std::string& where) {
    if (ranges.size() > 1 && std::ssize(ranges) != channels)
        throw Error(where, input,
                    fmt::format("has {} channels, and --pixels gives {} ranges", channels, ranges.size()),
                    "give one for all, or one for each");
    if (!is_integer(element)) return;
    if (!ranges.empty())
        throw Error(where, input, fmt::format("is of {}, and --pixels makes fractions", name(element)),
                    "leave it out: whole numbers are given as they are");
    if (bits(element) < 8 || element == ElementType::kI8 || element == ElementType::kBool)
        throw Error(where, input, fmt::format("is of {}, which does not hold {}", name(element), kBrightest),
                    "give a NumPy file");
}

/// How the input has the picture's axes. @throws Error where no way is possible, or two are
Order order_of(const Picture& picture, const std::vector<Dim>& shape, const std::string& input,
               const std::string& where) {
    const std::string found =
        fmt::format("has {} x {} pixels of {}, expected an array of {}", picture.width, picture.height,
                    channels_text(picture.channels), programs::shape_text(shape));
    std::vector<Order> orders, fitting;
    if (shape.size() == 2) orders = {{.first = 0, .channels = {}, .height = 0, .width = 1}};
    if (shape.size() == 3 || (shape.size() == 4 && takes(shape.front(), 1))) {
        const size_t first = shape.size() - 3;
        orders = {{.first = first, .channels = first, .height = first + 1, .width = first + 2},
                  {.first = first, .channels = first + 2, .height = first, .width = first + 1}};
    }
    bool has_channels = false;
    for (const Order& order : orders) {
        const int64_t channels = channels_of(picture, order, shape);
        if (channels != 1 && channels != 3 && channels != 4) continue;
        has_channels = true;
        if (takes(shape[order.height], picture.height) && takes(shape[order.width], picture.width))
            fitting.push_back(order);
    }
    if (fitting.empty())
        throw Error(where, input, found,
                    has_channels ? "scale or cut the image to that size before" : "give a NumPy file");
    if (fitting.size() > 1)
        throw Error(where, input, found + ", which takes it with channels first, and with channels last",
                    "give a NumPy file");
    return fitting.front();
}

}  // namespace

PictureArray picture_array(const Picture& picture, const PixelRanges& ranges, ElementType element,
                           const std::vector<Dim>& shape, const std::string& input,
                           const std::string& where) {
    const Order order = order_of(picture, shape, input, where);
    const int64_t channels = channels_of(picture, order, shape);
    const Channels values(picture);
    if (const std::string obstacle = values.obstacle(channels); !obstacle.empty())
        throw Error(where, input, fmt::format("{}, expected {}", obstacle, channels_text(channels)),
                    "convert the image before");
    check_values(ranges, element, channels, input, where);

    PictureArray array{.shape = std::vector<int64_t>(shape.size(), 1), .elements = {}};
    array.shape[order.height] = picture.height;
    array.shape[order.width] = picture.width;
    if (order.channels) array.shape[*order.channels] = channels;
    const auto pixels = static_cast<size_t>(picture.width * picture.height);
    const auto each = static_cast<size_t>(channels);
    const bool is_by_channel = order.channels == order.first;
    array.elements.resize(pixels * each * static_cast<size_t>(bits(element)) / 8);
    for (size_t pixel = 0; pixel < pixels; ++pixel)
        for (size_t channel = 0; channel < each; ++channel) {
            double value = values.at(pixel, static_cast<int64_t>(channel));
            if (!ranges.empty()) {
                const auto [dark, bright] = ranges[ranges.size() == 1 ? 0 : channel];
                value = dark + (bright - dark) * value / kBrightest;
            }
            const size_t at = is_by_channel ? channel * pixels + pixel : pixel * each + channel;
            set_stored_number(array.elements, element, at, value);
        }
    return array;
}

}  // namespace tessera::arrays
