# What `cmake --install` and CPack install. Two components, which are two Debian packages:
#
#   tool   the program, the headers that generated code includes, machine descriptions, the shipped model, docs
#   dev    the library of the public headers, and its CMake package
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS tessera COMPONENT tool)
# The tool looks for what generated code includes in ../include, and for models in ../share beside itself.
install(DIRECTORY include/tessera/ntt DESTINATION include/tessera COMPONENT tool)
install(FILES include/tessera/step.h include/tessera/wide.h DESTINATION include/tessera COMPONENT tool)
install(DIRECTORY architectures machines models DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera COMPONENT tool)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)

set(man_page ${CMAKE_BINARY_DIR}/tessera.1)
add_custom_command(
    OUTPUT ${man_page}.gz
    COMMAND ${CMAKE_COMMAND} -D TOOL=$<TARGET_FILE:tessera> -D VERSION=${PROJECT_VERSION} -D OUT=${man_page}
            -P ${CMAKE_SOURCE_DIR}/cmake/ManPage.cmake
    COMMAND gzip -9nf ${man_page}
    DEPENDS tessera cmake/ManPage.cmake VERBATIM)
add_custom_target(tessera_man_page ALL DEPENDS ${man_page}.gz)
install(FILES ${man_page}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)

# The shipped model, compiled for every machine of this architecture: `tessera run` answers where no compiler is.
option(TESSERA_SHIP_ARTEFACT "install the shipped model as an artefact, too" OFF)
if(TESSERA_SHIP_ARTEFACT)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
        set(common_machine neon)
    else()
        set(common_machine generic-x86-64)
    endif()
    set(shipped_artefact ${CMAKE_BINARY_DIR}/tessera-tiny.tsr)
    file(GLOB shipped_model CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/models/tessera-tiny/*)
    add_custom_command(
        OUTPUT ${shipped_artefact}
        COMMAND ${CMAKE_COMMAND} -E env XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/cache
                $<TARGET_FILE:tessera> compile ${CMAKE_SOURCE_DIR}/models/tessera-tiny -o ${shipped_artefact} --quiet
                --machine ${CMAKE_SOURCE_DIR}/machines/${common_machine}.toml
        DEPENDS tessera ${shipped_model} VERBATIM)
    add_custom_target(tessera_artefact ALL DEPENDS ${shipped_artefact})
    install(FILES ${shipped_artefact} DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/models COMPONENT tool)
endif()

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)
install(TARGETS libtessera EXPORT tesseraTargets ARCHIVE COMPONENT dev)
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION ${package_directory} COMPONENT dev)
install(DIRECTORY include/tessera DESTINATION include COMPONENT dev FILES_MATCHING PATTERN "*.h" PATTERN ntt EXCLUDE
        PATTERN step.h EXCLUDE PATTERN wide.h EXCLUDE)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libtessera-dev COMPONENT dev)
configure_package_config_file(cmake/tesseraConfig.cmake.in ${CMAKE_BINARY_DIR}/tesseraConfig.cmake
                              INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tesseraConfig.cmake ${CMAKE_BINARY_DIR}/tesseraConfigVersion.cmake
        DESTINATION ${package_directory} COMPONENT dev)
