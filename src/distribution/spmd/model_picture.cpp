#include "distribution/spmd/model_picture.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "support/error.h"

namespace tessera::spmd {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kRow = 18, kWidth = 1000, kForms = 430, kEntry = 74, kNumbers = 720, kBar = 170;

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (static_cast<unsigned char>(c) >= 0x20)
            out += c;
    }
    return out;
}

/// S, B or P.
std::string_view colour_of(std::string_view entry) {
    if (entry.starts_with('S')) return "#bfdbfe";
    if (entry.starts_with('P')) return "#fecaca";
    return "#e5e7eb";
}

double seconds_of(const Json& box) {
    if (!box.contains("exchange")) return box.at("microseconds").get<double>();
    const Json& exchange = box.at("exchange");
    return exchange.value("measured_microseconds", exchange.at("microseconds").get<double>());
}

class Picture {
public:
    explicit Picture(const Json& json) : json_(json) {
        for (const Json& group : json.at("groups"))
            for (const Json& tensor : group.at("tensors"))
                for (const Json& box : tensor.at("boxes")) longest_ = std::max(longest_, seconds_of(box));
    }

    std::string run() {
        text(8,
             json_.at("devices").get<std::string>() +
                 ": blue is split, grey is whole on every device, red "
                 "are partial results; bars are microseconds of one "
                 "decoded token",
             "");
        next();
        for (const Json& group : json_.at("groups")) {
            next();
            text(8,
                 fmt::format("{}, {} times", group.at("name").get<std::string>(),
                             group.at("repeat").get<int64_t>()),
                 " font-weight='bold'");
            next();
            for (const Json& tensor : group.at("tensors")) add(tensor);
        }
        return fmt::format(
            "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}' "
            "font-family='sans-serif' font-size='11'>\n<rect width='100%' height='100%' "
            "fill='white'/>\n{2}</svg>\n",
            kWidth, y_ + kRow, out_);
    }

private:
    void next() { y_ += kRow; }

    void text(int x, std::string_view content, std::string_view attributes) {
        out_ += fmt::format("<text x='{}' y='{}'{}>{}</text>\n", x, y_ + 13, attributes, escaped(content));
    }

    int form(int x, const Json& entries) {
        for (const Json& entry : entries) {
            const auto name = entry.get<std::string>();
            out_ += fmt::format("<rect x='{}' y='{}' width='{}' height='{}' rx='3' fill='{}'/>\n", x, y_ + 2,
                                kEntry - 6, kRow - 4, colour_of(name));
            text(x + 4, name, "");
            x += kEntry;
        }
        return x;
    }

    void add(const Json& tensor) {
        text(20, tensor.at("name").get<std::string>(), "");
        text(330, tensor.at("kind").get<std::string>(), " fill='#6b7280'");
        (void)form(kForms, tensor.at("form"));
        text(kNumbers, fmt::format("{:.0f} bytes", tensor.at("bytes").get<double>()), " fill='#6b7280'");
        next();
        for (const Json& box : tensor.at("boxes")) {
            const int x = form(40, box.at("from"));
            text(x, "\xe2\x86\x92", "");
            (void)form(x + 18, box.at("to"));
            text(kForms, box.at("collective").get<std::string>(), " fill='#6b7280'");
            const double microseconds = seconds_of(box);
            if (longest_ > 0 && microseconds > 0)
                out_ += fmt::format("<rect x='{}' y='{}' width='{:.1f}' height='{}' fill='#f59e0b'/>\n",
                                    kNumbers, y_ + 3, microseconds / longest_ * kBar, kRow - 6);
            text(kNumbers + kBar + 8, fmt::format("{:.3g} us", microseconds), "");
            next();
        }
    }

    const Json& json_;
    double longest_ = 0;
    int y_ = 0;
    std::string out_;
};

}  // namespace

std::string groups_svg(std::string_view json, const std::string& where) {
    try {
        const Json parsed = Json::parse(json);
        return Picture(parsed).run();
    } catch (const Json::exception& problem) {
        throw Error(where, "distribution", fmt::format("is damaged: {}", problem.what()),
                    "compile the model again");
    }
}

}  // namespace tessera::spmd
