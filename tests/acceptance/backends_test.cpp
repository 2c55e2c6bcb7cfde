// The shipped model as each back end prints it, beside the shipped logits.
#include <algorithm>

#include <gtest/gtest.h>

#include "acceptance/shipped_model.h"
#include "backend/backend.h"
#include "support/temporary_folder.h"

namespace tessera::testing {
namespace {

class Backends : public ::testing::TestWithParam<std::string> {};

TEST_P(Backends, ChooseTheIdsOfTheReference) {
    const TemporaryFolder folder;
    compiler::CompileOptions options = common_options(folder.path());
    options.backend = backend::find_backend(GetParam());
    options.workers = 2;
    const std::filesystem::path artefact = folder.path() / "model.tsr";
    compiler::compile_model(shipped_model(), artefact, options);
    const llm::LogitsComparison compared = compared_with_reference(artefact, 7);
    EXPECT_GT(compared.rows(), 0);
    EXPECT_EQ(compared.top1_agreements(), compared.rows());
    EXPECT_LE(compared.worst_error(), kTolerance);
}

/// All but the default, which the other tests take.
std::vector<std::string> others() {
    std::vector<std::string> names;
    for (const backend::Backend& backend : backend::backends().subspan(1)) names.emplace_back(backend.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(Others, Backends, ::testing::ValuesIn(others()), [](const auto& name) {
    std::string test = name.param;
    std::ranges::replace(test, '-', '_');
    return test;
});

}  // namespace
}  // namespace tessera::testing
