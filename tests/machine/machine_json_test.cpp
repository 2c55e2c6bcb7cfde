// The output of `tessera machine --json` has every field of the TOML, with the same value.

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <toml++/toml.h>

#include "machine/machine_text.h"

namespace tessera::machine {
namespace {

using Json = nlohmann::json;

void expect_same(const toml::node& toml, const Json& json, const std::string& path) {
    if (const toml::table* table = toml.as_table()) {
        ASSERT_TRUE(json.is_object()) << path;
        EXPECT_EQ(json.size(), table->size()) << path;
        for (const auto& [key, value] : *table) {
            const std::string name(key.str());
            ASSERT_TRUE(json.contains(name)) << path << '.' << name;
            expect_same(value, json.at(name), path + "." + name);
        }
    } else if (const toml::array* array = toml.as_array()) {
        ASSERT_TRUE(json.is_array()) << path;
        ASSERT_EQ(json.size(), array->size()) << path;
        for (size_t i = 0; i < array->size(); ++i)
            expect_same(*array->get(i), json.at(i), path + "[" + std::to_string(i) + "]");
    } else if (const auto* text = toml.as_string()) {
        ASSERT_TRUE(json.is_string()) << path;
        EXPECT_EQ(json.get<std::string>(), text->get()) << path;
    } else if (const auto* integer = toml.as_integer()) {
        ASSERT_TRUE(json.is_number_integer()) << path;
        EXPECT_EQ(json.get<int64_t>(), integer->get()) << path;
    } else if (const auto* real = toml.as_floating_point()) {
        ASSERT_TRUE(json.is_number()) << path;
        EXPECT_EQ(json.get<double>(), real->get()) << path;
    } else if (const auto* flag = toml.as_boolean()) {
        ASSERT_TRUE(json.is_boolean()) << path;
        EXPECT_EQ(json.get<bool>(), flag->get()) << path;
    } else {
        FAIL() << path << " is of a type that no field of a machine has";
    }
}

void expect_same(const Machine& machine) {
    expect_same(toml::parse(print_machine(machine)), Json::parse(machine_json(machine)), machine.name);
}

TEST(MachineJson, HasTheFieldsOfEveryFile) {
    int files = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(TESSERA_SOURCE_DIR) + "/machines")) {
        if (entry.path().extension() != ".toml") continue;
        expect_same(read_machine(entry.path()));
        ++files;
    }
    EXPECT_GE(files, 5);
}

TEST(MachineJson, HasTheFieldsOfAMeasuredMachine) {
    Machine machine = read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/amx.toml");
    machine.name = "measured";
    machine.compiler.command = "/opt/g++ 12";
    machine.measured_with = "00ff";
    double rate = 1.0 / 3;  // all its digits
    for (MemoryLevel& level : machine.memory) {
        level.latency_seconds = rate * 1e-9;
        level.read_bandwidth = {{.threads = 1, .bytes_per_second = rate * 1e11},
                                {.threads = 2, .bytes_per_second = 4e10}};
        rate *= 3;
    }
    machine.units[1].peaks = {{.level = "registers", .operations_per_second = 1.1e11},
                              {.level = "L2", .operations_per_second = 9.9e10}};
    machine.barriers = {{.threads = 2, .seconds = 1.4e-7}};
    machine.micro_kernels = {{.name = "contract",
                              .types = {{"A", "bf16"}, {"B", "q4_k"}, {"C", "f32"}},
                              .parameters = {{"rows", 12}, {"groups", 2}},
                              .sizes = {{"m", 72}, {"n", 512}, {"k", 1024}},
                              .work = {},
                              .level = "L2",
                              .seconds = 3.4e-5},
                             {.name = "loops",
                              .types = {{"C", "f32"}},
                              .parameters = {{"lanes", 16}},
                              .sizes = {{"i", 160}},
                              .work = {{"loads", 10}, {"flops", 20}},
                              .level = "L2",
                              .seconds = 1e-6}};
    const Json json = Json::parse(machine_json(machine));
    expect_same(machine);
    // And that is not because both lack it.
    EXPECT_EQ(json.at("name"), machine.name);
    EXPECT_EQ(json.at("level").front().at("read_bandwidth").at(1).at("threads"), 2);
    EXPECT_EQ(json.at("micro_kernel").at(1).at("work").at("loads"), 10);
    EXPECT_EQ(parse_machine(print_machine(machine), "printed"), machine);
}

}  // namespace
}  // namespace tessera::machine
