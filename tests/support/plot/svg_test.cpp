#include "support/plot/svg.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::plot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Svg, WritesShapesInTheirOrder) {
    Svg svg(100, 50.5);
    svg.line({1, 2}, {3.14159, 4}, "red");
    svg.path({{0, 0}, {5, 6}}, "#123456", 2);
    svg.circle({7, 8}, 2.5, "black");
    EXPECT_EQ(
        svg.finish(),
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50.5\" viewBox=\"0 0 100 50.5\" "
        "font-family=\"sans-serif\">\n"
        "<rect x=\"0\" y=\"0\" width=\"100\" height=\"50.5\" fill=\"white\"/>\n"
        "<line x1=\"1\" y1=\"2\" x2=\"3.14\" y2=\"4\" stroke=\"red\" stroke-width=\"1\"/>\n"
        "<polyline points=\"0,0 5,6\" fill=\"none\" stroke=\"#123456\" stroke-width=\"2\"/>\n"
        "<circle cx=\"7\" cy=\"8\" r=\"2.5\" fill=\"black\"/>\n"
        "</svg>\n");
}

TEST(Svg, EscapesTexts) {
    Svg svg(10, 10);
    svg.text({1, 1}, "a < b & \"c\" > d\n\xff", {.anchor = Anchor::kEnd, .turned = -90, .is_bold = true});
    const std::string text = svg.finish();
    EXPECT_THAT(text, HasSubstr("a &lt; b &amp; \"c\" &gt; d?"));
    EXPECT_THAT(text, HasSubstr("text-anchor=\"end\" font-weight=\"bold\" transform=\"rotate(-90 1 1)\""));
    EXPECT_THAT(text, Not(HasSubstr("\xff")));
}

TEST(Svg, DrawsNumbersThatAreNoneAtTheOrigin) {
    Svg svg(10, 10);
    svg.circle({NAN, INFINITY}, 1, "red");
    EXPECT_THAT(svg.finish(), HasSubstr("cx=\"0\" cy=\"0\""));
}

}  // namespace
}  // namespace tessera::plot
