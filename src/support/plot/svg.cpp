#include "support/plot/svg.h"

#include <cmath>

#include <fmt/core.h>

#include "support/printable.h"

namespace tessera::plot {
namespace {

/// To hundredths, without a fraction where there is none. A number that is none draws at 0.
std::string px(double length) {
    if (!std::isfinite(length)) return "0";
    const double hundredths = std::round(length * 100) / 100;
    return fmt::format("{}", hundredths == 0 ? 0 : hundredths);
}

std::string escaped(std::string_view words) {
    std::string text;
    for (const char c : valid_utf8(std::string(words))) {
        if (c == '&')
            text += "&amp;";
        else if (c == '<')
            text += "&lt;";
        else if (c == '>')
            text += "&gt;";
        else
            text += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
    return text;
}

std::string_view name(Anchor anchor) {
    return anchor == Anchor::kStart ? "start" : anchor == Anchor::kMiddle ? "middle" : "end";
}

}  // namespace

Svg::Svg(double width, double height) : width_(width), height_(height) {
    rectangle({0, 0}, width, height, "white");
}

void Svg::line(Place from, Place to, std::string_view colour, double width) {
    body_ +=
        fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
                    px(from.x), px(from.y), px(to.x), px(to.y), colour, px(width));
}

void Svg::path(const std::vector<Place>& points, std::string_view colour, double width) {
    std::string all;
    for (const Place& point : points)
        all += fmt::format("{}{},{}", all.empty() ? "" : " ", px(point.x), px(point.y));
    body_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n", all,
                         colour, px(width));
}

void Svg::rectangle(Place corner, double width, double height, std::string_view colour) {
    body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", px(corner.x),
                         px(corner.y), px(width), px(height), colour);
}

void Svg::circle(Place centre, double radius, std::string_view colour) {
    body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n", px(centre.x), px(centre.y),
                         px(radius), colour);
}

void Svg::text(Place at, std::string_view words, const Lettering& lettering) {
    const std::string turned = lettering.turned == 0 ? ""
                                                     : fmt::format(" transform=\"rotate({} {} {})\"",
                                                                   px(lettering.turned), px(at.x), px(at.y));
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\"{}{}>{}</text>\n",
                         px(at.x), px(at.y), px(lettering.size), name(lettering.anchor),
                         lettering.is_bold ? " font-weight=\"bold\"" : "", turned, escaped(words));
}

std::string Svg::finish() const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"sans-serif\">\n{2}</svg>\n",
        px(width_), px(height_), body_);
}

}  // namespace tessera::plot
