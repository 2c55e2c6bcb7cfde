#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <zip.h>

namespace tessera::test {

inline std::span<const std::byte> as_file(const std::string& bytes) {
    return std::as_bytes(std::span(bytes));
}

/// An archive with these members. @param packs as numpy.savez_compressed; else as numpy.savez
inline std::string npz_bytes(const std::vector<std::pair<std::string, std::string>>& members, bool packs) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* source = zip_source_buffer_create(nullptr, 0, 0, &error);
    zip_source_keep(source);
    zip_t* archive = zip_open_from_source(source, ZIP_TRUNCATE, &error);
    for (const auto& [name, contents] : members) {
        zip_source_t* each = zip_source_buffer(archive, contents.data(), contents.size(), 0);
        const zip_int64_t index = zip_file_add(archive, name.c_str(), each, ZIP_FL_ENC_UTF_8);
        zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                                 packs ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    }
    zip_close(archive);
    zip_stat_t stat;
    zip_source_stat(source, &stat);
    std::string bytes(stat.size, '\0');
    zip_source_open(source);
    zip_source_read(source, bytes.data(), bytes.size());
    zip_source_close(source);
    zip_source_free(source);
    zip_error_fini(&error);
    return bytes;
}

}  // namespace tessera::test
