// Wrong chips, tables of measurements, models, spaces and programs are refused with the field and the reason.

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// `FILE` among the arguments is a file of this name and text.
struct Refused {
    std::string file;
    std::string text;
    std::vector<std::string> arguments;
    int exit_code;
    std::string reason;
};

class ChipRefusals : public ::testing::Test {
protected:
    void expect(const std::vector<Refused>& all) const {
        for (const Refused& each : all) {
            SCOPED_TRACE(each.reason);
            const std::string path = (folder_.path() / each.file).string();
            std::ofstream(path) << each.text;
            std::vector<std::string> arguments = {"chip"};
            for (const std::string& argument : each.arguments)
                arguments.push_back(argument == "FILE" ? path : argument);
            const ProcessResult result =
                run_process({.program = TESSERA_PROGRAM, .arguments = std::move(arguments)});
            EXPECT_EQ(result.exit_code, each.exit_code);
            EXPECT_THAT(result.output, IsEmpty());
            EXPECT_THAT(result.errors, HasSubstr(each.reason));
        }
    }

    const std::string source_ = TESSERA_SOURCE_DIR;
    const std::string small_ = source_ + "/machines/chips/small-16.toml";
    const std::string tiny_ = source_ + "/models/tessera-tiny";

private:
    TemporaryFolder folder_;
};

TEST_F(ChipRefusals, OfChips) {
    const std::string small = text_of(small_), h100 = text_of(source_ + "/machines/chips/h100_clusters.toml");
    const auto tree = [&](const std::string& nodes) {
        return small + "\n[[tile_cost]]\noperator = \"product\"\n" + nodes;
    };
    const auto clusters = [&](const std::string& from, const std::string& to) {
        return replaced(h100, from, to);
    };
    const std::string leaf = "[[tile_cost.node]]\nconstant = 1.0\n";
    const std::string decision = "[[tile_cost.node]]\ninput = \"m\"\nbelow = 3.0\n";
    const std::string core = "topology = \"all-to-all\", bytes_per_second = 2.48e10";
    const std::string clusters_links =
        "links = { topology = \"all-to-all\", bytes_per_second = 6.9e11, latency_cycles = 260 }\n";
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {replaced(tree(leaf), "\"product\"", "\"matmul\""),
         "`operator`: is matmul, expected product, attention, reduction or elementwise"},
        {tree(""), "`node`: is missing"},
        {tree(leaf + "q = 2.0\n"), "`q`: is not a known field"},
        {tree(replaced(decision, "\"m\"", "\"q\"")), "`input`: is q, expected one of m, n, k, batch, volume"},
        {tree(decision + leaf), "`node`: ends before every decision has two nodes"},
        {tree(decision + leaf + leaf + leaf), "`node`: is one too many"},
        {tree(replaced(leaf, "1.0", "nan")), "`constant`: is nan, expected -1e+18 to 1e+18"},
        {tree(replaced(decision, "3.0", "\"3\"") + leaf + leaf), "`below`: is string, expected a number"},
        {tree(leaf) + "[[tile_cost]]\noperator = \"product\"\n" + leaf,
         "`operator`: is product a second time"},
        {clusters("count = 8", "count = 0"), "`count`: is 0, expected 1 to"},
        {clusters(clusters_links, ""), "`level.chip`: has no `links` with a rate and a latency"},
        {clusters("topology = \"all-to-all\", bytes_per_second = 6.9e11",
                  "topology = \"mesh\", shape = [2, 4], bytes_per_second = 6.9e11"),
         "`level.chip`: has links that are mesh, expected all-to-all"},
        {clusters("[[level.module]]\ncount = 1\nbytes_per_second = 4.19e11\nlatency_cycles = 700\n", ""),
         "`level.chip`: has no `module` of memory that preloads come from"},
        {clusters("count = 1\nbytes", "count = 1\nedge = \"left\"\nbytes"),
         "`edge`: is set, and every core is as near where there is no grid"},
        {clusters("capacity_bytes = 233472\n", ""), "`reserved_bytes`: is given without `capacity_bytes`"},
        {clusters("reserved_bytes = 1024", "reserved_bytes = 233472"),
         "`reserved_bytes`: is 233472, expected less than the 233472 bytes of `capacity_bytes`"},
        {clusters(core, replaced(core, "all-to-all\"", "mesh\", shape = [3, 4]")),
         "`shape`: is 3 x 4, and the level has 16 instances"},
        {clusters(core, replaced(core, "all-to-all", "ring")),
         "`topology`: is ring, expected shared, all-to-all,"},
        {clusters("operations_per_cycle = 4096", "operations_per_cycle = 2"),
         "`unit.matrix`: does 2 flops a cycle, fewer than the 256 of the vector unit"},
        {clusters("block = [64, 8, 16]", "block = [64, 8]"), "`block`: has 2 numbers, expected three"},
    };
    std::vector<Refused> all;
    for (const auto& [text, reason] : wrong) all.push_back({"c.toml", text, {"check", "FILE"}, 1, reason});
    expect(all);
}

TEST_F(ChipRefusals, OfMeasurements) {
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"", "t.csv: has an empty first line, expected names of columns"},
        {"operator,m,n,k,batch,cycles\n", "`cycles`: has no measurement below it"},
        {"operator,colour,cycles\nproduct,1,2\n", "t.csv:1: `colour`: is no column of measurements"},
        {"operator,m,m,cycles\nproduct,1,1,2\n", "t.csv:1: `m`: is there twice"},
        {"operator,m\nproduct,1\n", "t.csv:1: `cycles`: is missing"},
        {"link,bytes,cycles\ncore,100,-2\n", "t.csv:2: `cycles`: is -2, expected 0.001 to"},
        {"link,bytes,cycles\ncore,inf,2\n", "t.csv:2: `bytes`: is inf, expected a number"},
        {"link,bytes,cycles\ncore,2\n", "t.csv:2: `cycles`: ends a line of 2 entries"},
        {"operator,link,bytes,cycles\nproduct,core,5,2\n", "t.csv:2: `link`: is given beside `operator`"},
        {"operator,m,n,cycles\nproduct,1,1,2\n", "t.csv:2: `k`: is missing for product"},
        {"operator,m,n,k,batch,bytes,cycles\nproduct,1,1,1,1,5,2\n",
         "`bytes`: is 5, and product has no such"},
        {"link,bytes,cycles\nbus,100,2\n", "t.csv:2: `link`: is bus, expected core, hbm or chip"},
        {"link,bytes,cycles\ncore,1,9\ncore,2,8\ncore,3,7\ncore,4,6\ncore,5,5\ncore,6,4\n",
         "`link core`: has times that do not grow with the bytes"},
        {"operator,m,n,k,batch,cycles\nproduct,1,1,1,1,2\n",
         "`operator product`: has 1 measurements, too few for a model of 5 inputs"},
    };
    std::vector<Refused> all;
    for (const auto& [text, reason] : wrong) all.push_back({"t.csv", text, {"fit", "FILE"}, 1, reason});
    expect(all);
}

TEST_F(ChipRefusals, OfModels) {
    const std::string graph =
        "graph \"g\"\nsymbol T in 1..64\ninput x: f32[T, 32]\nvalue y: f32[T, 32]\nblock body\n"
        "  node y(x) -> y\n    op twice(t: T, n: 32)\n    dim T in 1..64\n    in X f32[t, n]\n"
        "    out Y f32[t, n] = 2 * X\noutput y\n";
    const std::string config = text_of(tiny_ + "/config.json"),
                      dit = text_of(source_ + "/bench/chip/dit-xl.json");
    const auto plan = [&](std::vector<std::string> more = {}, const std::string& model = "FILE") {
        more.insert(more.begin(), {"plan", model, "--chip", small_});
        return more;
    };
    expect({
        {"g.ir", "", plan(), 1, "g.ir: is empty, expected a graph"},
        {"g.ir", replaced(graph, "2 * X", "summ(X)"), plan(), 1, "`summ`: is not a function of the notation"},
        {"g.ir", replaced(graph, "value y: f32[T, 32]", "value y: f32[T, 31]"), plan({"--set", "T=4"}), 1,
         "`y`: has y for Y: shape [1, 31], expected [1, 32]"},
        {"g.ir", graph, plan(), 2, "`T`: is a symbol without a value (add --set T=N with N from 1 to 64)"},
        {"g.ir", graph, plan({"--set", "T=4", "--set", "U=4"}), 2,
         "`U`: is set to 4, and the graph has no such"},
        {"g.ir", graph, plan({"--set", "T=4", "--set", "T=5"}), 2, "`--set`: gives `T` twice"},
        {"g.ir", graph, plan({"--set", "T=x"}), 2, "--set: expected a whole number, 1 or more, not 'x'"},
        {"g.ir", graph, plan({"--dim", "T=4"}), 2, "`--dim`: is for ONNX models (.onnx): a graph has --set"},
        {"e.onnx", "", plan(), 1, "`graph`: is missing: the file is empty or no ONNX model"},
        {"e.onnx", "\x08\x07garbage", plan(), 1, "has the wire type 7: the file is damaged"},
        {"e.onnx", "", plan({"--set", "T=4"}), 2, "`--set`: is for graphs (.ir): ONNX has --dim"},
        {"e.onnx", "", plan({"--batch", "4"}), 2, "`--batch`: is for models: ONNX has extents"},
        {"config.json", "{", plan(), 1, "is not valid JSON"},
        {"config.json", R"({"architectures": ["Foo"], "model_type": "foo"})", plan(), 1, "architecture foo"},
        {"config.json", replaced(config, "\"num_hidden_layers\": ", "\"num_hidden_layers\": -"), plan(), 1,
         "`num_hidden_layers`: is -"},
        {"dit.json", replaced(dit, "\"patch_size\": ", "\"patch_size\": -"), plan(), 1, "`patch_size`: is -"},
        {"dit.json", dit, plan({"--phase", "decode"}), 2, "this model has no phases"},
        {"dit.json", dit, plan({"--sequence", "64"}), 2, "`--sequence`: is 64, expected no number"},
        {"x", "", plan({"--sequence", "17"}, tiny_), 2, "`--sequence`: is 17, expected a multiple of 16"},
        {"x", "", plan({"--batch", "99999999"}, tiny_), 2, "`--batch`: is 99999999, expected 1 to 65536"},
        {"x", "", plan({"--sequence", "1048576"}, tiny_), 1, "`capacity_bytes`: leaves no room"},
        {"x", "", plan({"--program", "/nowhere/p.json"}, tiny_), 1,
         "/nowhere/p.json: cannot create the file"},
    });
}

TEST_F(ChipRefusals, OfSpaces) {
    const std::string space = "chip = \"" + small_ + "\"\nmodels = [\"" + tiny_ + "\"]\nwork = 10\n";
    const std::string plot =
        "[[plots]]\nname = \"t\"\ntitle = \"T\"\nkind = \"bars\"\nx = [\"batch\"]\ny = [\"ms\"]\n";
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {space + "chips = [\"a.toml\"]\n", "s.toml:4: `chips`: expected one of `chip`, a file, and `chips`"},
        {replaced(space, tiny_, "nowhere"), "s.toml: `models`: holds nowhere, which does not exist"},
        {space + "phase = [\"x\"]\n", "`phase`: holds x, expected decode, prefill or training"},
        {space + "batch = []\n", "`batch`: is empty, expected numbers"},
        {space + "sequence = [32, 17]\n", "`sequence`: holds 17, expected multiples of 16"},
        {replaced(space, "10", "-1"), "`work`: is -1, expected 0 to"},
        {space + "[sweep]\nlevel = [1]\n", "`sweep.level`: is no field of"},
        {space + "[sweep]\nsram.bytes = [1024]\nlevel.core.capacity_bytes = [1024]\n",
         "s.toml:5: `sweep.sram.bytes`: is the field `level.core.capacity_bytes` of line 6 again"},
        {space + "[sweep]\nlevel.capacity_bytes = [1024]\n[[variants]]\nname = "
                 "\"a\"\nlevel.core.capacity_bytes = 64\n",
         "`sweep.level.capacity_bytes`: is no field of"},
        {space + "[sweep]\nlevel.core.count = [16]\n[[variants]]\nname = \"a\"\nlevel.count = 1\n",
         "s.toml:8: `variants.level.count`: is the field `level.core.count` of line 5 again"},
        {space + "[[variants]]\nlevel.core.count = 16\n", "`name`: is missing"},
        {space + "[[variants]]\nname = \"a\"\nclock_hz = 1e9\n[[variants]]\nname = \"a\"\nclock_hz = 2e9\n",
         "s.toml:8: `name`: is a a second time"},
        {space + replaced(plot, "bars", "pie"), "`kind`: is pie, expected lines, points, bars or stacked"},
        {space + replaced(plot, "\"t\"", "\"../t\""), "`name`: is ../t, expected letters, digits, - and _"},
        {space + plot + plot, "`name`: is t a second time"},
    };
    std::vector<Refused> all;
    for (const auto& [text, reason] : wrong) all.push_back({"s.toml", text, {"explore", "FILE"}, 1, reason});
    all.push_back({"s.toml", space + plot, {"explore", "FILE", "--plots", small_}, 1, small_});
    all.push_back(
        {"s.toml", space, {"explore", "FILE", "--workers", "x"}, 2, "--workers: expected a whole number"});
    all.push_back({"s.toml",
                   space,
                   {"explore", "FILE", "--out", "/nowhere/t.csv"},
                   1,
                   "/nowhere/t.csv: cannot create"});
    expect(all);
}

TEST_F(ChipRefusals, OfSimulations) {
    const std::string mesh = source_ + "/docs/chip_mesh.json", chip = text_of(mesh);
    const std::string program = source_ + "/docs/chip_program.json", text = text_of(program);
    const auto run = [&](const std::string& from, const std::string& to, const std::string& reason) {
        return Refused{"p.json", replaced(text, from, to), {"simulate", mesh, "FILE"}, 1, reason};
    };
    const auto on = [&](const std::string& from, const std::string& to, const std::string& reason) {
        return Refused{"c.json", replaced(chip, from, to), {"simulate", "FILE", program}, 1, reason};
    };
    expect({
        run("\"program\": [[\"preload\", 0]", "\"program\": [[\"load\", 0]",
            "`program[0][0]`: is \"load\", expected \"preload\" or \"execute\""),
        run("\"program\": [", "\"program\": [[\"preload\", 0], ", "preloads operator 0 a second time"),
        run("\"program\": [", "\"program\": [[\"execute\", 1], ",
            "`program[0]`: executes operator 1, expected 0"),
        run("\"bytes\": ", "\"bytes\": -", ".bytes`: is -"),
        run("\"unit\": \"matrix\"", "\"unit\": \"matrixx\"",
            "is no unit of the chip (did you mean `matrix`?)"),
        run("\"preload_bytes\": [", "\"preload_bytes\": [1, ",
            "`operators[0].preload_bytes`: has 5 sizes, expected one of each of the 4 cores"),
        on("\"rows\": 2", "\"rows\": 3", "`topology`: has 3 rows of 2 columns, which are not 4 cores"),
        on("\"kind\": \"mesh\"", "\"kind\": \"ring\"",
           "`topology.kind`: is \"ring\", expected \"all-to-all\""),
        {"x",
         "",
         {"simulate", source_ + "/machines/chips/h100_clusters.toml", program},
         1,
         "has 4 sizes, expected one of each of the 16 cores"},
        {"x", "", {"simulate", mesh}, 2, "PROGRAM_FILE is required"},
        {"x",
         "",
         {"simulate", mesh, program, "--trace", "/nowhere/t"},
         1,
         "/nowhere/t: cannot create the file"},
    });
}

}  // namespace
}  // namespace tessera
