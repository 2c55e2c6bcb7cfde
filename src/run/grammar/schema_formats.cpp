#include "run/grammar/schema_formats.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

// Sources: RFC 3339 (dates, times, durations), RFC 9562 (UUIDs), RFC 5321 (mail), RFC 1123 (hosts), RFC 4291
// (IPv6), RFC 3986 (URIs), RFC 6901 (JSON pointers), RFC 4648 (base64), and OpenAPI's registry of formats.

namespace tessera::grammar {
namespace {

using FormatKind = SchemaFormat::Kind;

std::string either(std::initializer_list<std::string> ways) {
    return fmt::format("(?:{})", fmt::join(ways, "|"));
}

// In four of five centuries the last year is no leap year. The year 0000 is taken out where dates are made.
const std::string kLeapYear = R"((?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00))";
const std::string kDay = either({R"(\d{4}-(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01]))",
                                 R"(\d{4}-(?:0[469]|11)-(?:0[1-9]|[12]\d|30))",
                                 R"(\d{4}-02-(?:0[1-9]|1\d|2[0-8]))", kLeapYear + "-02-29"});
const std::string kTime = R"((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?)";
const std::string kZone = R"((?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))";
const std::string kNoYearZero = "(?!0000)";

// Numbers of up to nine digits, the larger unit first, none left out between two.
const std::string kClock = R"(T(?:\d{1,9}H(?:\d{1,9}M(?:\d{1,9}S)?)?|\d{1,9}M(?:\d{1,9}S)?|\d{1,9}S))";
const std::string kDays = R"((?:\d{1,9}D|\d{1,9}M(?:\d{1,9}D)?|\d{1,9}Y(?:\d{1,9}M(?:\d{1,9}D)?)?))";

// Four labels of 61 characters stay below the 253 of a name.
const std::string kLabel = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,59}[A-Za-z0-9])?";
const std::string kLastLabel = "[A-Za-z](?:[A-Za-z0-9-]{0,59}[A-Za-z0-9])?";
const std::string kHost = "(?:" + kLabel + R"(\.){0,3})" + kLastLabel;
const std::string kAtom = R"([A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,31})";
// Those of 24 characters, so that the whole stays short.
const std::string kShortLabel = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,22}[A-Za-z0-9])?";
const std::string kMail = kAtom + R"((?:\.)" + kAtom + ")?@(?:" + kShortLabel + R"(\.){1,3}[A-Za-z]{2,24})";

const std::string kByte = R"((?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d))";
const std::string kIpv4 = "(?:" + kByte + R"(\.){3})" + kByte;

/// Eight groups, or fewer around `::`.
std::string ipv6() {
    const std::string group = "[0-9A-Fa-f]{1,4}";
    std::string ways =
        "(?:" + group + ":){7}" + group + "|(?:" + group + ":){1,7}:|:(?:(?::" + group + "){1,7}|:)";
    for (int before = 1; before <= 6; ++before)
        ways += fmt::format("|(?:{0}:){{{1}}}(?::{0}){{1,{2}}}", group, before, 7 - before);
    return "(?:" + ways + ")";
}

const std::string kOfPath = R"((?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2}))";
const std::string kOfQuery = R"((?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2}))";
// A URI does not say how long a name may be.
const std::string kAnyHost = R"([A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*)";
const std::string kUri = either({"[A-Za-z][A-Za-z0-9+.-]{0,19}://" + kAnyHost + R"((?::\d{1,4})?(?:/)" +
                                     kOfPath + R"(*)*(?:\?)" + kOfQuery + "*)?(?:#" + kOfQuery + "*)?",
                                 "(?:mailto|tel|urn):" + kOfPath + "+"});

std::string uuid(const std::string& version, const std::string& variant) {
    return fmt::format(
        "[0-9a-fA-F]{{8}}-[0-9a-fA-F]{{4}}-{}[0-9a-fA-F]{{3}}-{}[0-9a-fA-F]{{3}}-[0-9a-fA-F]{{12}}", version,
        variant);
}

std::string base64(const std::string& set) {
    return fmt::format("(?:[{0}]{{4}})*(?:[{0}]{{2}}==|[{0}]{{3}}=)?", set);
}

std::optional<std::string> text_pattern(std::string_view name) {
    if (name == "date") return kNoYearZero + kDay;
    if (name == "time") return kTime + kZone;
    if (name == "date-time") return kNoYearZero + kDay + "T" + kTime + kZone;
    if (name == "date-time-local") return kNoYearZero + kDay + "T" + kTime;
    if (name == "time-local") return kTime;
    if (name == "duration") return "P" + either({R"(\d{1,9}W)", kDays + "(?:" + kClock + ")?", kClock});
    if (name == "uuid") return uuid("[0-9a-fA-F]", "[0-9a-fA-F]");
    if (name.size() == 5 && name.starts_with("uuid") && name[4] >= '1' && name[4] <= '8')
        return uuid(std::string(name.substr(4)), "[89abAB]");
    if (name == "email" || name == "idn-email") return kMail;
    if (name == "hostname" || name == "idn-hostname") return kHost;
    if (name == "ipv4") return kIpv4;
    if (name == "ipv6") return ipv6();
    if (name == "ipvanyaddress") return either({kIpv4, ipv6()});
    if (name == "uri" || name == "uri-reference" || name == "iri" || name == "iri-reference") return kUri;
    if (name == "json-pointer") return "(?:/(?:[^/~]|~[01])*)*";
    if (name == "byte" || name == "base64") return base64("A-Za-z0-9+/");
    if (name == "base64url") return base64("A-Za-z0-9_-");
    return std::nullopt;
}

constexpr std::array<std::pair<std::string_view, std::pair<const char*, const char*>>, 8> kIntegers = {
    {{"int8", {"-128", "127"}},
     {"int16", {"-32768", "32767"}},
     {"int32", {"-2147483648", "2147483647"}},
     {"int64", {"-9223372036854775808", "9223372036854775807"}},
     {"uint8", {"0", "255"}},
     {"uint16", {"0", "65535"}},
     {"uint32", {"0", "4294967295"}},
     {"uint64", {"0", "18446744073709551615"}}}};

/// They tell how a value is kept or shown.
constexpr std::array<std::string_view, 5> kFormatRemarks = {"float", "double", "binary", "password", "path"};

}  // namespace

std::optional<SchemaFormat> find_format(std::string_view name) {
    if (auto pattern = text_pattern(name))
        return SchemaFormat{.kind = FormatKind::kText, .pattern = "^" + *std::move(pattern) + "$"};
    for (const auto& [integer, bounds] : kIntegers)
        if (name == integer)
            return SchemaFormat{.kind = FormatKind::kInteger, .low = bounds.first, .high = bounds.second};
    if (std::find(kFormatRemarks.begin(), kFormatRemarks.end(), name) != kFormatRemarks.end())
        return SchemaFormat{};
    return std::nullopt;
}

}  // namespace tessera::grammar
