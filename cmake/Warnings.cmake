# Errors in the presets of the people who work on Tessera, test, debug and sanitize; other compilers warn of more.
option(TESSERA_WERROR "treat warnings as errors" OFF)
if(TESSERA_WERROR)
    set(werror -Werror)
endif()
# Structs of options and facts are initialised by name, the rest by default: GCC would call each such field missing.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual ${werror}
                    -Wno-missing-field-initializers)
# GCC 12 sees overlapping copies in std::string where there are none (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    add_compile_options(-Wno-restrict)
endif()
# A type of a source file may use its anonymous namespace; in a unit of several files GCC takes it for a header's.
if(TESSERA_UNITE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-subobject-linkage)
endif()
