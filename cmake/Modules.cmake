# One static library for each module, one test program for each folder of tests/: a new file needs no edit here.

# tessera_room(ir ops facts): the first level of src/ and tests/ has a folder ir with the files of module ir, if there is one,
# and a folder for each of the other modules.
function(tessera_room name)
    foreach(module IN LISTS ARGN)
        set_property(GLOBAL PROPERTY TESSERA_FOLDER_OF_${module} ${name}/${module})
    endforeach()
    set_property(GLOBAL PROPERTY TESSERA_MODULES_IN_${name} ${ARGN})
endfunction()

# The .cpp files of a module in the present folder, which is src/ or tests/, without those of the other modules in its room.
function(tessera_sources_of module result)
    get_property(folder GLOBAL PROPERTY TESSERA_FOLDER_OF_${module})
    if(NOT folder)
        set(folder ${module})
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
    get_property(others GLOBAL PROPERTY TESSERA_MODULES_IN_${module})
    foreach(other IN LISTS others)
        list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${module}/${other}/")
    endforeach()
    set(${result} ${sources} PARENT_SCOPE)
endfunction()

# In a target without hot loops -O2 is -O1, which compiles in three quarters of the time.
function(tessera_cold target)
    if(CMAKE_BUILD_TYPE STREQUAL Release AND CMAKE_CXX_FLAGS_RELEASE STREQUAL "-O2")
        target_compile_options(${target} PRIVATE -O1)
    endif()
endfunction()

# tessera_module(ir DEPENDS support LIBRARIES fmt::fmt)
# DEPENDS names the modules that stand above this one in src/CMakeLists.txt; nothing may depend back. COLD: tessera_cold.
function(tessera_module name)
    cmake_parse_arguments(ARG "COLD" "" "DEPENDS;LIBRARIES" ${ARGN})
    tessera_sources_of(${name} sources)
    if(sources)
        add_library(tessera_${name} STATIC ${sources})
        set_property(GLOBAL APPEND PROPERTY TESSERA_MODULES tessera_${name})
        tessera_unite(tessera_${name})
        if(ARG_COLD)
            tessera_cold(tessera_${name})
        endif()
        set(scope PUBLIC)
    else()
        add_library(tessera_${name} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(tessera_${name} ${scope} ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
    list(TRANSFORM ARG_DEPENDS PREPEND tessera_)
    target_link_libraries(tessera_${name} ${scope} ${ARG_DEPENDS} ${ARG_LIBRARIES})
endfunction()

# Programs of the tests labelled sanitized, of those labelled thorough, and of all but the first. scripts/test.sh builds and
# runs the first under the sanitizers, with --thorough the second, too, and the last optimised.
add_custom_target(sanitized_tests)
add_custom_target(thorough_tests)
add_custom_target(optimised_tests)

# tessera_test_library(random_definition ir/random_definition.cpp): files of tests/ that several programs share.
function(tessera_test_library name)
    add_library(tessera_${name} STATIC ${ARGN})
    target_include_directories(tessera_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
    list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    set_property(GLOBAL APPEND PROPERTY TESSERA_SHARED_TEST_FILES ${ARGN})
endfunction()

# tessera_discover_suites(ir_tests ir. "Slow.*" unit): a test of CTest for each suite that the program has when it is built.
function(tessera_discover_suites target prefix excluded label)
    set(tests ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM BYPRODUCTS ${tests}
                       COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${target}> -D PREFIX=${prefix}
                               -D EXCLUDED=${excluded} "-DLABEL=${label}" -D RESULT=${tests}
                               -P ${CMAKE_SOURCE_DIR}/cmake/DiscoverSuites.cmake)
    file(CONFIGURE OUTPUT ${target}_include.cmake @ONLY CONTENT [[
if(EXISTS "@tests@")
    include("@tests@")
else()
    add_test(@target@_NOT_BUILT @target@_NOT_BUILT)
endif()
]])
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake)
endfunction()

# tessera_tests(ir DEPENDS ir ops): every tests/ir/*_test.cpp in one program, run by CTest suite by suite if it is labelled
# unit, else case by case.
# SANITIZED: the module reads what may be hostile; its tests are labelled so beside unit, and run under the sanitizers alone.
# THOROUGH: the module computes with pointers or reads texts of the user's own; its tests are labelled so beside unit, and
# scripts/test.sh --thorough runs them under the sanitizers, too.
# OPTIMISED names cases that take too long for a unit test; they are labelled so instead.
# TOGETHER names suites that make in SetUpTestSuite what takes longer than their cases: each is one test of CTest.
function(tessera_tests name)
    cmake_parse_arguments(ARG "SANITIZED;THOROUGH" "OPTIMISED" "DEPENDS;LIBRARIES;LABELS;TOGETHER" ${ARGN})
    tessera_sources_of(${name} sources)
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
    tessera_unite(${name}_tests)
    if(NOT ARG_LABELS)
        set(ARG_LABELS unit)
    endif()
    if(ARG_SANITIZED)
        add_dependencies(sanitized_tests ${name}_tests)
    endif()
    if(ARG_THOROUGH)
        add_dependencies(thorough_tests ${name}_tests)
    endif()
    if(ARG_OPTIMISED OR NOT ARG_SANITIZED)
        add_dependencies(optimised_tests ${name}_tests)
    endif()
    set(apart ${ARG_OPTIMISED})
    if(ARG_OPTIMISED)
        gtest_discover_tests(${name}_tests TEST_PREFIX ${name}. TEST_FILTER ${ARG_OPTIMISED} TEST_LIST ${name}_optimised
                             DISCOVERY_TIMEOUT 60 PROPERTIES LABELS optimised TIMEOUT 600)
    endif()
    foreach(suite IN LISTS ARG_TOGETHER)
        add_test(NAME ${name}.${suite} COMMAND ${name}_tests --gtest_filter=${suite}.*)
        set_tests_properties(${name}.${suite} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600
                                                         FAIL_REGULAR_EXPRESSION "Running 0 tests")
        list(APPEND apart ${suite}.*)
    endforeach()
    list(JOIN apart ":" apart)
    if(ARG_LABELS STREQUAL unit)
        set(suite_labels unit)
        if(ARG_SANITIZED)
            list(APPEND suite_labels sanitized)
        endif()
        if(ARG_THOROUGH)
            list(APPEND suite_labels thorough)
        endif()
        tessera_discover_suites(${name}_tests ${name}. "${apart}" "${suite_labels}")
        return()
    endif()
    set(filter "")
    if(apart)
        set(filter TEST_FILTER -${apart})
    endif()
    gtest_discover_tests(${name}_tests TEST_PREFIX ${name}. ${filter} DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600)
endfunction()
