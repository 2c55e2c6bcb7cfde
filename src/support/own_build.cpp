// The note lies in a loaded segment of every ELF file whose linker wrote one, as GCC and Clang of Debian ask
// for: 4 bytes each for the lengths of name and contents and for the type, then both, padded to 4 bytes.
#include "support/own_build.h"

#include <cstddef>
#include <cstring>
#include <string_view>

#include <fmt/core.h>
#include <link.h>

namespace tessera {
namespace {

struct Search {
    const unsigned char* own;  ///< a place in the object that is looked for
    std::string found;
    ptrdiff_t to(ElfW(Addr) address) const {
        return static_cast<ptrdiff_t>(address - reinterpret_cast<ElfW(Addr)>(own));
    }
};

std::string build_id_of(const unsigned char* notes, size_t bytes) {
    const auto padded = [](size_t length) { return (length + 3) & ~size_t{3}; };
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
        ElfW(Nhdr) note;
        std::memcpy(&note, notes + at, sizeof note);
        const size_t name = at + sizeof note, contents = name + padded(note.n_namesz);
        const size_t end = contents + note.n_descsz;
        if (end > bytes || end < at) break;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            std::memcmp(notes + name, "GNU", 4) == 0) {
            std::string digits;
            for (size_t i = contents; i < end; ++i) digits += fmt::format("{:02x}", notes[i]);
            return digits;
        }
        at = contents + padded(note.n_descsz);
    }
    return "";
}

int look_at(dl_phdr_info* object, size_t /*size*/, void* data) {
    auto& search = *static_cast<Search*>(data);
    bool is_own = false;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object->dlpi_phdr[i];
        const ptrdiff_t begin = search.to(object->dlpi_addr + segment.p_vaddr);
        is_own = is_own ||
                 (segment.p_type == PT_LOAD && begin <= 0 && static_cast<size_t>(-begin) < segment.p_memsz);
    }
    if (!is_own) return 0;
    for (int i = 0; i < object->dlpi_phnum && search.found.empty(); ++i) {
        const ElfW(Phdr)& segment = object->dlpi_phdr[i];
        if (segment.p_type == PT_NOTE)
            search.found =
                build_id_of(search.own + search.to(object->dlpi_addr + segment.p_vaddr), segment.p_memsz);
    }
    return 1;
}

}  // namespace

std::string own_build() {
    Search search{reinterpret_cast<const unsigned char*>(&own_build), {}};
    dl_iterate_phdr(look_at, &search);
    return search.found;
}

}  // namespace tessera
