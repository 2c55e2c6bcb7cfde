// oneDNN's matrix products at the shapes of a model's layer: `gemm ROWS PASSES THREADS f32|bf16 NxK...`
// prints the seconds of every pass over all products as JSON. Weights are packed as oneDNN likes them best,
// which is not timed. Their number of buffers is such that no cache holds them between passes.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace {

using dnnl::memory;

constexpr size_t kBytesBetweenPasses = size_t{256} << 20;

struct Product {
    dnnl::matmul primitive;
    memory x, y;
    std::vector<memory> weights;
};

/// Ones: products of subnormal numbers would be slow, and the result is not looked at.
void fill(const memory& m, memory::data_type type) {
    const size_t bytes = m.get_desc().get_size();
    auto* data = static_cast<unsigned char*>(m.get_data_handle());
    if (type == memory::data_type::f32) {
        const float one = 1;
        for (size_t i = 0; i + 4 <= bytes; i += 4) std::memcpy(data + i, &one, 4);
    } else {
        const uint16_t one = 0x3f80;
        for (size_t i = 0; i + 2 <= bytes; i += 2) std::memcpy(data + i, &one, 2);
    }
}

Product make(const dnnl::engine& engine, int64_t m, int64_t n, int64_t k, memory::data_type type) {
    using tag = memory::format_tag;
    const memory::desc x({m, k}, type, tag::ab), w({k, n}, type, tag::any),
        y({m, n}, memory::data_type::f32, tag::ab);
    const dnnl::matmul::primitive_desc description({x, w, y}, engine);
    Product product{dnnl::matmul(description), memory(x, engine), memory(y, engine), {}};
    const size_t bytes = description.weights_desc().get_size();
    for (size_t i = 0; i < 1 + kBytesBetweenPasses / bytes; ++i) {
        product.weights.emplace_back(description.weights_desc(), engine);
        fill(product.weights.back(), type);
    }
    fill(product.x, type);
    return product;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 6) {
        std::fprintf(stderr, "usage: gemm ROWS PASSES THREADS f32|bf16 NxK...\n");
        return 2;
    }
    const int64_t rows = std::atoll(argv[1]);
    const size_t passes = static_cast<size_t>(std::atoll(argv[2]));
    omp_set_num_threads(std::atoi(argv[3]));
    const auto type = std::string(argv[4]) == "bf16" ? memory::data_type::bf16 : memory::data_type::f32;
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    dnnl::stream stream(engine);
    std::vector<Product> products;
    double flops = 0;
    for (int i = 5; i < argc; ++i) {
        char* end = nullptr;
        const int64_t n = std::strtoll(argv[i], &end, 10), k = std::strtoll(end + 1, nullptr, 10);
        try {
            products.push_back(make(engine, rows, n, k, type));
        } catch (const dnnl::error& error) {
            // oneDNN multiplies BF16 only where the processor has AVX-512.
            if (error.status != dnnl_unimplemented) throw;
            std::printf("null\n");
            return 0;
        }
        flops += 2.0 * double(rows) * double(n) * double(k);
    }
    std::printf("{\"multiply_adds\": %.0f, \"seconds\": [", flops);
    for (size_t pass = 0; pass <= passes; ++pass) {
        const auto begin = std::chrono::steady_clock::now();
        for (Product& p : products)
            p.primitive.execute(stream, {{DNNL_ARG_SRC, p.x},
                                         {DNNL_ARG_WEIGHTS, p.weights[pass % p.weights.size()]},
                                         {DNNL_ARG_DST, p.y}});
        stream.wait();
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (pass > 0) std::printf("%s%.9f", pass > 1 ? ", " : "", seconds);  // the first one warms up
    }
    std::printf("]}\n");
}
