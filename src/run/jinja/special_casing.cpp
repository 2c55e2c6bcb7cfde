#include "run/jinja/special_casing.h"

#include <algorithm>
#include <array>

namespace tessera::jinja {
namespace {

struct Special {
    int code_point;
    std::string_view upper;
    std::string_view title;
};

// Source: the unconditional entries of SpecialCasing.txt of Unicode, by ascending code point.
constexpr std::array<Special, 102> kSpecials = {{
    {0x00df, "SS", "Ss"},
    {0x0149, "\u02bcN", "\u02bcN"},
    {0x01f0, "J\u030c", "J\u030c"},
    {0x0390, "\u0399\u0308\u0301", "\u0399\u0308\u0301"},
    {0x03b0, "\u03a5\u0308\u0301", "\u03a5\u0308\u0301"},
    {0x0587, "\u0535\u0552", "\u0535\u0582"},
    {0x1e96, "H\u0331", "H\u0331"},
    {0x1e97, "T\u0308", "T\u0308"},
    {0x1e98, "W\u030a", "W\u030a"},
    {0x1e99, "Y\u030a", "Y\u030a"},
    {0x1e9a, "A\u02be", "A\u02be"},
    {0x1f50, "\u03a5\u0313", "\u03a5\u0313"},
    {0x1f52, "\u03a5\u0313\u0300", "\u03a5\u0313\u0300"},
    {0x1f54, "\u03a5\u0313\u0301", "\u03a5\u0313\u0301"},
    {0x1f56, "\u03a5\u0313\u0342", "\u03a5\u0313\u0342"},
    {0x1f80, "\u1f08\u0399", "\u1f88"},
    {0x1f81, "\u1f09\u0399", "\u1f89"},
    {0x1f82, "\u1f0a\u0399", "\u1f8a"},
    {0x1f83, "\u1f0b\u0399", "\u1f8b"},
    {0x1f84, "\u1f0c\u0399", "\u1f8c"},
    {0x1f85, "\u1f0d\u0399", "\u1f8d"},
    {0x1f86, "\u1f0e\u0399", "\u1f8e"},
    {0x1f87, "\u1f0f\u0399", "\u1f8f"},
    {0x1f88, "\u1f08\u0399", "\u1f88"},
    {0x1f89, "\u1f09\u0399", "\u1f89"},
    {0x1f8a, "\u1f0a\u0399", "\u1f8a"},
    {0x1f8b, "\u1f0b\u0399", "\u1f8b"},
    {0x1f8c, "\u1f0c\u0399", "\u1f8c"},
    {0x1f8d, "\u1f0d\u0399", "\u1f8d"},
    {0x1f8e, "\u1f0e\u0399", "\u1f8e"},
    {0x1f8f, "\u1f0f\u0399", "\u1f8f"},
    {0x1f90, "\u1f28\u0399", "\u1f98"},
    {0x1f91, "\u1f29\u0399", "\u1f99"},
    {0x1f92, "\u1f2a\u0399", "\u1f9a"},
    {0x1f93, "\u1f2b\u0399", "\u1f9b"},
    {0x1f94, "\u1f2c\u0399", "\u1f9c"},
    {0x1f95, "\u1f2d\u0399", "\u1f9d"},
    {0x1f96, "\u1f2e\u0399", "\u1f9e"},
    {0x1f97, "\u1f2f\u0399", "\u1f9f"},
    {0x1f98, "\u1f28\u0399", "\u1f98"},
    {0x1f99, "\u1f29\u0399", "\u1f99"},
    {0x1f9a, "\u1f2a\u0399", "\u1f9a"},
    {0x1f9b, "\u1f2b\u0399", "\u1f9b"},
    {0x1f9c, "\u1f2c\u0399", "\u1f9c"},
    {0x1f9d, "\u1f2d\u0399", "\u1f9d"},
    {0x1f9e, "\u1f2e\u0399", "\u1f9e"},
    {0x1f9f, "\u1f2f\u0399", "\u1f9f"},
    {0x1fa0, "\u1f68\u0399", "\u1fa8"},
    {0x1fa1, "\u1f69\u0399", "\u1fa9"},
    {0x1fa2, "\u1f6a\u0399", "\u1faa"},
    {0x1fa3, "\u1f6b\u0399", "\u1fab"},
    {0x1fa4, "\u1f6c\u0399", "\u1fac"},
    {0x1fa5, "\u1f6d\u0399", "\u1fad"},
    {0x1fa6, "\u1f6e\u0399", "\u1fae"},
    {0x1fa7, "\u1f6f\u0399", "\u1faf"},
    {0x1fa8, "\u1f68\u0399", "\u1fa8"},
    {0x1fa9, "\u1f69\u0399", "\u1fa9"},
    {0x1faa, "\u1f6a\u0399", "\u1faa"},
    {0x1fab, "\u1f6b\u0399", "\u1fab"},
    {0x1fac, "\u1f6c\u0399", "\u1fac"},
    {0x1fad, "\u1f6d\u0399", "\u1fad"},
    {0x1fae, "\u1f6e\u0399", "\u1fae"},
    {0x1faf, "\u1f6f\u0399", "\u1faf"},
    {0x1fb2, "\u1fba\u0399", "\u1fba\u0345"},
    {0x1fb3, "\u0391\u0399", "\u1fbc"},
    {0x1fb4, "\u0386\u0399", "\u0386\u0345"},
    {0x1fb6, "\u0391\u0342", "\u0391\u0342"},
    {0x1fb7, "\u0391\u0342\u0399", "\u0391\u0342\u0345"},
    {0x1fbc, "\u0391\u0399", "\u1fbc"},
    {0x1fc2, "\u1fca\u0399", "\u1fca\u0345"},
    {0x1fc3, "\u0397\u0399", "\u1fcc"},
    {0x1fc4, "\u0389\u0399", "\u0389\u0345"},
    {0x1fc6, "\u0397\u0342", "\u0397\u0342"},
    {0x1fc7, "\u0397\u0342\u0399", "\u0397\u0342\u0345"},
    {0x1fcc, "\u0397\u0399", "\u1fcc"},
    {0x1fd2, "\u0399\u0308\u0300", "\u0399\u0308\u0300"},
    {0x1fd3, "\u0399\u0308\u0301", "\u0399\u0308\u0301"},
    {0x1fd6, "\u0399\u0342", "\u0399\u0342"},
    {0x1fd7, "\u0399\u0308\u0342", "\u0399\u0308\u0342"},
    {0x1fe2, "\u03a5\u0308\u0300", "\u03a5\u0308\u0300"},
    {0x1fe3, "\u03a5\u0308\u0301", "\u03a5\u0308\u0301"},
    {0x1fe4, "\u03a1\u0313", "\u03a1\u0313"},
    {0x1fe6, "\u03a5\u0342", "\u03a5\u0342"},
    {0x1fe7, "\u03a5\u0308\u0342", "\u03a5\u0308\u0342"},
    {0x1ff2, "\u1ffa\u0399", "\u1ffa\u0345"},
    {0x1ff3, "\u03a9\u0399", "\u1ffc"},
    {0x1ff4, "\u038f\u0399", "\u038f\u0345"},
    {0x1ff6, "\u03a9\u0342", "\u03a9\u0342"},
    {0x1ff7, "\u03a9\u0342\u0399", "\u03a9\u0342\u0345"},
    {0x1ffc, "\u03a9\u0399", "\u1ffc"},
    {0xfb00, "FF", "Ff"},
    {0xfb01, "FI", "Fi"},
    {0xfb02, "FL", "Fl"},
    {0xfb03, "FFI", "Ffi"},
    {0xfb04, "FFL", "Ffl"},
    {0xfb05, "ST", "St"},
    {0xfb06, "ST", "St"},
    {0xfb13, "\u0544\u0546", "\u0544\u0576"},
    {0xfb14, "\u0544\u0535", "\u0544\u0565"},
    {0xfb15, "\u0544\u053b", "\u0544\u056b"},
    {0xfb16, "\u054e\u0546", "\u054e\u0576"},
    {0xfb17, "\u0544\u053d", "\u0544\u056d"},
}};

}  // namespace

std::string_view special_case(int code_point, bool title) {
    const auto found =
        std::lower_bound(kSpecials.begin(), kSpecials.end(), code_point,
                         [](const Special& each, int wanted) { return each.code_point < wanted; });
    if (found == kSpecials.end() || found->code_point != code_point) return {};
    return title ? found->title : found->upper;
}

}  // namespace tessera::jinja
