#include <charconv>

#include "machine/machine_text.h"
#include "support/error.h"

namespace tessera::machine {
namespace {

constexpr int64_t kMaxFactor = 4096;

std::optional<LaneAxis> parse_lane_axis(std::string_view text) {
    if (text.empty() || text.front() < 'a' || text.front() > 'z') return std::nullopt;
    LaneAxis lane{.axis = text.front(), .factor = 0};
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + 1, end, lane.factor);
    if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
    if (lane.factor < 1 || lane.factor > kMaxFactor) return std::nullopt;
    return lane;
}

}  // namespace

std::string print_lanes(const std::vector<LaneAxis>& lanes) {
    std::string text;
    for (const LaneAxis& lane : lanes)
        text += fmt::format("{}{}{}", text.empty() ? "" : ",", lane.axis, lane.factor);
    return text;
}

std::optional<std::vector<LaneAxis>> parse_lanes(std::string_view text) {
    std::vector<LaneAxis> lanes;
    for (bool is_last = text.empty(); !is_last;) {
        const size_t comma = text.find(',');
        const auto lane = parse_lane_axis(text.substr(0, comma));
        if (!lane) return std::nullopt;
        lanes.push_back(*lane);
        is_last = comma == std::string_view::npos;
        if (!is_last) text.remove_prefix(comma + 1);
    }
    return lanes;
}

}  // namespace tessera::machine
