#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Charts as SVG files, without a library.
namespace tessera::plot {

struct Place {
    double x = 0;
    double y = 0;  ///< downwards
};

enum class Anchor : uint8_t { kStart, kMiddle, kEnd };

struct Lettering {
    double size = 11;
    Anchor anchor = Anchor::kStart;
    double turned = 0;  ///< degrees, clockwise
    bool is_bold = false;
};

/// A picture that is written from back to front. Lengths are pixels, rounded to hundredths. Colours are as in
/// SVG, "#0072b2".
class Svg {
public:
    Svg(double width, double height);

    void line(Place from, Place to, std::string_view colour, double width = 1);
    void path(const std::vector<Place>& points, std::string_view colour, double width = 1.5);
    void rectangle(Place corner, double width, double height, std::string_view colour);
    void circle(Place centre, double radius, std::string_view colour);
    /// Any text: what XML reserves is escaped, and what is no character of it becomes '?'.
    void text(Place at, std::string_view words, const Lettering& lettering = {});

    /// The file. @post it is well-formed XML
    std::string finish() const;

private:
    double width_, height_;
    std::string body_;
};

}  // namespace tessera::plot
