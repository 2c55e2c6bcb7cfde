# Headers that are compiled once for many files.
#
# tessera_precompile(tessera_ir tessera_precompiled_library): what most files include, with TESSERA_PRECOMPILE. Every file
# gets it whether it includes it or not: builds without TESSERA_PRECOMPILE find what a file forgot. Under -O1 GCC 12 warns
# of lengths that no string has where it has <string> from such a header.
function(tessera_precompile target owner)
    if(TESSERA_PRECOMPILE)
        target_precompile_headers(${target} REUSE_FROM ${owner})
    endif()
endfunction()

# tessera_precompile_header(tessera CLI/CLI.hpp): one large header for the files of a target that include it, with the
# target's own flags, in every build.
function(tessera_precompile_header target header)
    target_precompile_headers(${target} PRIVATE <${header}>)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    foreach(source IN LISTS sources)
        file(STRINGS ${source} includes REGEX "^#include <${header}>")
        if(NOT includes)
            set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
        endif()
    endforeach()
endfunction()

# Under the sanitizers, of what tests themselves do only the addresses: in libraries, undefined behaviour is watched too.
# Half the time to compile a test goes into such checks of its expectations.
function(tessera_sanitize_addresses target)
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,]*undefined")
        target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
    endif()
endfunction()

if(TESSERA_PRECOMPILE)
    find_package(fmt REQUIRED)
    find_package(GTest REQUIRED)
    set(empty_source ${CMAKE_BINARY_DIR}/precompiled.cpp)
    file(CONFIGURE OUTPUT ${empty_source} CONTENT "int main() {}\n")
    # A library and a program: their code is of two kinds, -fPIC and -fPIE.
    add_library(tessera_precompiled_library STATIC ${empty_source})
    target_link_libraries(tessera_precompiled_library PRIVATE fmt::fmt)
    # Without <functional>: std::bind would be found for calls of tessera::bind.
    target_precompile_headers(
        tessera_precompiled_library
        PRIVATE <algorithm> <array> <cmath> <cstdint> <map> <memory> <numeric> <optional> <set> <span> <string>
                <string_view> <utility> <variant> <vector> <fmt/format.h>)
    add_executable(tessera_precompiled_test ${empty_source})
    target_link_libraries(tessera_precompiled_test PRIVATE GTest::gtest)
    tessera_sanitize_addresses(tessera_precompiled_test)
    target_precompile_headers(tessera_precompiled_test PRIVATE <gtest/gtest.h>)
endif()
