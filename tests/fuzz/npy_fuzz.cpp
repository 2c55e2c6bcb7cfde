#include "fuzz/input_file.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "import/npy/npy_file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const fuzz::InputFile input(fuzz::text_of(data, size));
        const import::NpyFile file = import::NpyFile::open(input.path());
        fuzz::read_ends(file.bytes());
        for (const ElementType type : {ElementType::kF32, ElementType::kBF16, ElementType::kI8})
            if (file.type() == import::npy_type(type)) fuzz::read_ends(file.elements(type));
        const std::string again = import::print_npy_header({file.type(), false, file.shape(), 0});
        const import::NpyHeader header = import::parse_npy_header(again, "again");
        TESSERA_CHECK(header.shape == file.shape() && header.type == file.type());
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    std::vector<std::string> all;
    for (const char* type : {"<f4", "<f2", "|u1"})
        all.push_back(import::print_npy_header({type, false, {2, 3}, 0}) + std::string(24, 'x'));
    return all;
}
