#include "chip/packet_pieces.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace tessera::chip {
namespace {

/// Bytes of a packet from one to another, and the time in which they hold a link.
struct Stretch {
    double first, last;
    double begin, until;

    double at(double byte) const { return begin + (until - begin) * (byte - first) / (last - first); }
};

void add_pieces(const PacketRecord& whole, const std::map<int32_t, std::vector<Stretch>>& stretches,
                double latency, std::vector<PacketRecord>& records) {
    std::set<double> cuts;
    for (const auto& [place, of_link] : stretches)
        for (const Stretch& stretch : of_link) cuts.insert(stretch.last);
    double first = 0;
    for (const double last : cuts) {
        PacketRecord piece = whole;
        piece.bytes = std::llround(last - first);
        piece.end = 0;
        for (size_t l = 0; l < piece.links.size(); ++l) {
            HeldLink& held = piece.links[l];
            Stretch stretch{0, static_cast<double>(whole.bytes), held.begin, held.until};
            if (const auto found = stretches.find(static_cast<int32_t>(l)); found != stretches.end())
                stretch = *std::find_if(found->second.begin(), found->second.end(),
                                        [&](const Stretch& each) { return each.last >= last; });
            held = {held.link, stretch.at(first), stretch.at(last)};
            piece.end = std::max(piece.end, held.until + latency);
        }
        records.push_back(std::move(piece));
        first = last;
    }
}

}  // namespace

std::vector<PacketRecord> cut_into_pieces(std::vector<PacketRecord> records,
                                          const std::vector<PacketPiece>& pieces, double latency) {
    std::map<int32_t, std::map<int32_t, std::vector<Stretch>>> by_record;
    for (const PacketPiece& piece : pieces) {
        std::vector<Stretch>& of_link = by_record[piece.record][piece.place];
        const double first = of_link.empty() ? 0 : of_link.back().last;
        of_link.push_back({first, first + piece.bytes, piece.begin, piece.until});
    }
    if (by_record.empty()) return records;
    std::vector<PacketRecord> cut;
    for (size_t r = 0; r < records.size(); ++r) {
        const auto found = by_record.find(static_cast<int32_t>(r));
        if (found == by_record.end())
            cut.push_back(std::move(records[r]));
        else
            add_pieces(records[r], found->second, latency, cut);
    }
    return cut;
}

}  // namespace tessera::chip
