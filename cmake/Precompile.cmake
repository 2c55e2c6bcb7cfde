# Headers that are compiled once for many files.
#
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
