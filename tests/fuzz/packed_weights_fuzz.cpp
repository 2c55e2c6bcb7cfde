#include "fuzz/input_file.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "import/hf/fp8_weights.h"
#include "import/hf/packed_weights.h"
#include "import/hf/safetensors.h"
#include "import/quantised/repacked_weights.h"
#include "import/random_checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const fuzz::InputFile input(fuzz::text_of(data, size));
        const auto file =
            std::make_shared<const import::SafetensorsFile>(import::SafetensorsFile::open(input.path()));
        const import::Fp8Weights floats(
            file, import::PackedForm{
                      .method = import::PackedForm::Method::kFp8, .block_rows = 2, .block_columns = 3});
        for (const std::string& name : floats.names())
            if (const auto* tensor = floats.find(name); tensor->element && tensor->bytes.empty())
                fuzz::read_ends(floats.contents(name).bytes);
        for (const auto method : {import::PackedForm::Method::kGptq, import::PackedForm::Method::kAwq}) {
            const auto packed = std::make_shared<const import::PackedWeights>(
                file, import::PackedForm{.method = method, .zero_offset = 1});
            const import::RepackedWeights operands(packed);
            for (const std::string& name : operands.names())
                if (name.find('#') != std::string::npos) fuzz::read_ends(operands.contents(name).bytes);
        }
    });
}

/// A matrix [8, 32] of GPTQ, and one [32, 8] of it that AWQ has as [8, 32].
std::vector<std::string> tessera::fuzz::seeds() {
    const auto matrix = [](std::vector<int64_t> q, std::vector<int64_t> zeros, std::vector<int64_t> scales) {
        const auto tensor = [](std::vector<int64_t> shape, const char* type, size_t bytes) {
            const auto count = static_cast<size_t>(shape[0] * shape[1]);
            return testing::NamedTensor{std::move(shape), {}, type, std::string(count * bytes, 'x')};
        };
        return testing::safetensors_of({{"a.qweight", tensor(std::move(q), "I32", 4)},
                                        {"a.qzeros", tensor(std::move(zeros), "I32", 4)},
                                        {"a.scales", tensor(std::move(scales), "F16", 2)}});
    };
    const auto floats = [](const char* type, const char* scale, std::vector<int64_t> scale_shape,
                           size_t scales) {
        return testing::safetensors_of(
            {{"a.weight", {{3, 4}, {}, type, std::string(12, 'x')}},
             {std::string("a.") + scale, {std::move(scale_shape), {}, "F32", std::string(4 * scales, 'x')}}});
    };
    return {matrix({4, 8}, {1, 1}, {1, 8}), matrix({32, 1}, {1, 1}, {1, 8}),
            floats("F8_E4M3", "weight_scale_inv", {2, 2}, 4), floats("F8_E5M2", "weight_scale", {3, 1}, 3)};
}
