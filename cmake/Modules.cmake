# One static library for each folder of src/, one test program for each folder of tests/: a new file needs no edit here.

# tessera_module(ir DEPENDS support LIBRARIES fmt::fmt)
# DEPENDS names the modules that stand above this one in docs/design.md, section 4; nothing may depend back.
function(tessera_module name)
    cmake_parse_arguments(ARG "" "" "DEPENDS;LIBRARIES" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
    if(sources)
        add_library(tessera_${name} STATIC ${sources})
        set_property(GLOBAL APPEND PROPERTY TESSERA_MODULES tessera_${name})
        tessera_precompile(tessera_${name} tessera_precompiled_library)
        set(scope PUBLIC)
    else()
        add_library(tessera_${name} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(tessera_${name} ${scope} ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
    list(TRANSFORM ARG_DEPENDS PREPEND tessera_)
    target_link_libraries(tessera_${name} ${scope} ${ARG_DEPENDS} ${ARG_LIBRARIES})
endfunction()

# Programs of the tests labelled unit, and of all others. scripts/test.sh builds and runs the former under the sanitizers,
# the latter optimised.
add_custom_target(unit_tests)
add_custom_target(optimised_tests)

# tessera_test_library(random_definition ir/random_definition.cpp): files of tests/ that several programs share.
function(tessera_test_library name)
    add_library(tessera_${name} STATIC ${ARGN})
    target_include_directories(tessera_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
    list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    set_property(GLOBAL APPEND PROPERTY TESSERA_SHARED_TEST_FILES ${ARGN})
endfunction()

# tessera_tests(ir DEPENDS ir ops): every tests/ir/*_test.cpp in one program, run by CTest case by case.
# OPTIMISED names cases that take too long under the sanitizers; they are labelled so instead of unit.
function(tessera_tests name)
    cmake_parse_arguments(ARG "" "OPTIMISED" "DEPENDS;LIBRARIES;LABELS" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
    get_property(shared GLOBAL PROPERTY TESSERA_SHARED_TEST_FILES)
    list(REMOVE_ITEM sources ${shared})
    if(NOT sources)
        return()
    endif()
    add_executable(${name}_tests ${sources})
    list(TRANSFORM ARG_DEPENDS PREPEND tessera_)
    target_include_directories(${name}_tests PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(${name}_tests PRIVATE ${ARG_DEPENDS} ${ARG_LIBRARIES} GTest::gtest GTest::gmock GTest::gtest_main)
    target_compile_definitions(${name}_tests PRIVATE TESSERA_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    tessera_sanitize_addresses(${name}_tests)
    tessera_precompile(${name}_tests tessera_precompiled_test)
    if(NOT ARG_LABELS)
        set(ARG_LABELS unit)
    endif()
    if(ARG_LABELS STREQUAL unit)
        add_dependencies(unit_tests ${name}_tests)
    endif()
    if(ARG_OPTIMISED OR NOT ARG_LABELS STREQUAL unit)
        add_dependencies(optimised_tests ${name}_tests)
    endif()
    set(filter "")
    if(ARG_OPTIMISED)
        gtest_discover_tests(${name}_tests TEST_PREFIX ${name}. TEST_FILTER ${ARG_OPTIMISED} TEST_LIST ${name}_optimised
                             DISCOVERY_TIMEOUT 60 PROPERTIES LABELS optimised TIMEOUT 600)
        set(filter TEST_FILTER -${ARG_OPTIMISED})
    endif()
    gtest_discover_tests(${name}_tests TEST_PREFIX ${name}. ${filter} DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600)
endfunction()
