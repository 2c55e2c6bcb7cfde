#include "support/stand_in.h"

#include <algorithm>
#include <cctype>

#include "support/error.h"

namespace tessera {
namespace {

struct StandIn {
    std::string_view begin;  ///< in lower case
    const char* problem;
    const char* advice;
};

constexpr const char* kPage = "is a page of a web site, not the file";
constexpr const char* kDownload = "the link or the permission was not that of the file: download it again";
constexpr const char* kArchive = "is an archive";

constexpr StandIn kStandIns[] = {
    {"version https://git-lfs.github.com/spec/", "is a pointer of git-lfs, not the file",
     "`git lfs pull` in its repository fetches the file"},
    {"<!doctype html", kPage, kDownload},
    {"<html", kPage, kDownload},
    {"<?xml", "is an XML document, as servers send instead of a file", kDownload},
    {"pk\x03\x04", kArchive, "unpack it"},
    {"\x1f\x8b", kArchive, "unpack it"},
    {"7z\xbc\xaf", kArchive, "unpack it"},
};

bool begins_with(std::string_view bytes, std::string_view begin) {
    return bytes.size() >= begin.size() &&
           std::equal(begin.begin(), begin.end(), bytes.begin(), [](char expected, char found) {
               return expected == static_cast<char>(std::tolower(static_cast<unsigned char>(found)));
           });
}

/// Without a byte-order mark and blanks, which stand before some pages.
std::string_view without_blanks(std::string_view bytes) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
    const size_t begin = bytes.find_first_not_of(" \t\r\n");
    return bytes.substr(std::min(begin, bytes.size()));
}

}  // namespace

void refuse_stand_in(std::string_view bytes, const std::string& where) {
    if (bytes.empty()) throw Error(where, "", "is empty", "it was not copied whole");
    const std::string_view text = without_blanks(bytes);
    for (const StandIn& each : kStandIns)
        if (begins_with(text, each.begin) || begins_with(bytes, each.begin))
            throw Error(where, "", each.problem, each.advice);
}

void refuse_text(std::string_view bytes, const std::string& where) {
    refuse_stand_in(bytes, where);
    constexpr size_t kCertain = 8, kShown = 40;
    const auto is_printable = [](char c) { return c >= ' ' && c <= '~'; };
    const std::string_view begin = bytes.substr(0, kShown);
    const auto end = std::find_if_not(begin.begin(), begin.end(), is_printable);
    if (end - begin.begin() < static_cast<std::ptrdiff_t>(std::min(kCertain, bytes.size()))) return;
    throw Error(where, "", fmt::format("begins with the text \"{}\"", std::string_view(begin.begin(), end)),
                kDownload);
}

}  // namespace tessera
