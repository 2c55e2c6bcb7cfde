#include "cli/arrays/npz_archive.h"
#include "cli/arrays/npz_bytes.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "import/npy/npy_file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        constexpr uint64_t kMostBytes = 1 << 20;
        const std::vector<std::byte> member =
            arrays::npz_member(std::as_bytes(std::span(data, size)), "x", kMostBytes, "fuzz");
        TESSERA_CHECK(member.size() <= kMostBytes);
        fuzz::read_ends(import::npy_array(member, "fuzz").bytes);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    const std::string array = import::print_npy_header({"<f4", false, {2, 3}, 0}) + std::string(24, 'x');
    return {test::npz_bytes({{"x.npy", array}, {"y.npy", array}}, false),
            test::npz_bytes({{"x.npy", array}, {"y.npy", "text"}}, true),
            test::npz_bytes({{"arr_0.npy", array}}, true)};
}
