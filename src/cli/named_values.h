#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tessera/compile.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tessera::cli {

/// Declares an option NAME=FILE that may be repeated; `values` are such texts.
CLI::Option* add_named_files(CLI::App& app, const std::string& option, std::vector<std::string>& values,
                             const std::string& help);
/// The same for texts. @param type such as "OUTPUT=INPUT"
CLI::Option* add_named_texts(CLI::App& app, const std::string& option, std::vector<std::string>& values,
                             const std::string& type, const std::string& help);
/// The same for NAME=N, a whole number of 1 or more.
CLI::Option* add_named_numbers(CLI::App& app, const std::string& option, std::vector<std::string>& values,
                               const std::string& help);

/// The same for NAME=N or NAME=LOW..HIGH, of 0 or more.
CLI::Option* add_named_bounds(CLI::App& app, const std::string& option, std::vector<std::string>& values,
                              const std::string& help);

/// The same for NAME=SYMBOL:N,.. or NAME*WEIGHT=SYMBOL:N,..
CLI::Option* add_points(CLI::App& app, const std::string& option, std::vector<std::string>& values,
                        const std::string& help);

/// The values by their names. @throws Error of kind kUsage, with the option, for a name that is given twice.
std::map<std::string, std::filesystem::path> named_files(const std::string& option,
                                                         const std::vector<std::string>& values);
std::map<std::string, std::string> named_texts(const std::string& option,
                                               const std::vector<std::string>& values);
/// NAME=N or NAME=LOW..HIGH.
std::map<std::string, ExtentBounds> named_bounds(const std::string& option,
                                                 const std::vector<std::string>& values);
std::map<std::string, int64_t> named_numbers(const std::string& option,
                                             const std::vector<std::string>& values);

std::vector<CostPoint> points_of(const std::string& option, const std::vector<std::string>& values);

}  // namespace tessera::cli
