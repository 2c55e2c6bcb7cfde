#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "run/runtime/ranks_file.h"
#include "support/atomic_file.h"
#include "support/mapped_file.h"
#include "support/temporary_folder.h"

/// Every table that is read lies within the file.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const std::string_view file = fuzz::text_of(data, size);
        const runtime::RanksTable table = runtime::read_ranks_table(file, "fuzz");
        for (const auto& part : table.parts)
            for (const runtime::RanksTable::Part& run : part)
                fuzz::read_ends(std::as_bytes(std::span(file)).subspan(run.offset, run.size));
        fuzz::read_ends(std::as_bytes(std::span(file)).subspan(table.account.offset, table.account.size));
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    const TemporaryFolder folder;
    std::vector<std::filesystem::path> parts;
    for (const char* name : {"a", "b", "c"}) {
        parts.push_back(folder.path() / name);
        write_file(parts.back(), std::string(100, name[0]));
    }
    runtime::write_ranks_file(folder.path() / "all", "{}", parts);
    return {std::string(MappedFile::open(folder.path() / "all").text())};
}
