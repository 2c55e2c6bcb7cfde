# Debian packages by `cpack -G DEB`; scripts/package.sh does all of it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_VENDOR Tessera)
set(CPACK_PACKAGE_CONTACT "Tessera maintainers <maintainers@tessera.example>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler from transformer checkpoints to native code")
set(CPACK_COMPONENTS_ALL tool dev)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_TOOL_PACKAGE_NAME tessera)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
# Artefacts run without a compiler; making them takes one.
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS "g++ (>= 4:12)")
set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "libtessera-dev")
set(CPACK_COMPONENT_TOOL_DESCRIPTION
    "Tessera compiles a language model, a HuggingFace folder or a GGUF file, into
one file with native code for a machine that is described by data, and runs
it. A small model is included.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtessera-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "tessera (= ${PROJECT_VERSION}), libcadical-dev, libfmt-dev, libhwloc-dev,\
 libpcre2-dev, libtomlplusplus-dev, libutf8proc-dev, libxxhash-dev, pkg-config")
set(CPACK_COMPONENT_DEV_DESCRIPTION
    "Headers, static library and CMake package for programs that compile or run
language models with Tessera.")

# What Debian's policy wants beside them (section 12): compressed where it says so, without a time in the file.
foreach(component tool dev)
    string(TOUPPER ${component} upper)
    set(documents ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    install(FILES cmake/debian/copyright DESTINATION ${documents} COMPONENT ${component})
    install(FILES ${CMAKE_BINARY_DIR}/changelog.gz DESTINATION ${documents} COMPONENT ${component})
endforeach()
execute_process(COMMAND gzip -9nc ${CMAKE_SOURCE_DIR}/cmake/debian/changelog OUTPUT_FILE ${CMAKE_BINARY_DIR}/changelog.gz
                COMMAND_ERROR_IS_FATAL ANY)
include(CPack)
