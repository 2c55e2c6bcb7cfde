# Writes the tests of CTest for a program: one for each suite, since starting a program under the sanitizers takes longer
# than most tests. A suite of which a test was skipped, and none failed, is reported as skipped.
#
# cmake -D PROGRAM=support_tests -D PREFIX=support. -D EXCLUDED=Slow.*:Data.* -D LABEL=unit -D RESULT=FILE -P DiscoverSuites.cmake
cmake_policy(VERSION 3.25)
set(excluded "")
if(EXCLUDED)
    set(excluded "-${EXCLUDED}")
endif()
execute_process(COMMAND ${PROGRAM} --gtest_list_tests --gtest_filter=*${excluded} OUTPUT_VARIABLE list
                COMMAND_ERROR_IS_FATAL ANY)
# "Suite." or "Suite/0.  # TypeParam = float", and its tests indented.
string(REGEX MATCHALL "\n[A-Za-z0-9_/]+\\." suites "\n${list}")
if(NOT suites)
    message(FATAL_ERROR "${PROGRAM} has no suite of tests beside ${EXCLUDED}")
endif()
set(skipped "\\[  SKIPPED \\] [0-9]+ tests?, listed below:\n(\\[  SKIPPED \\] [^\n]*\n)*$")
set(tests "")
foreach(suite IN LISTS suites)
    string(STRIP "${suite}" suite)  # with its dot
    string(REGEX REPLACE "\\.$" "" name "${PREFIX}${suite}")
    string(APPEND tests "add_test([==[${name}]==] [==[${PROGRAM}]==] [==[--gtest_filter=${suite}*${excluded}]==])\n"
                        "set_tests_properties([==[${name}]==] PROPERTIES LABELS [==[${LABEL}]==] TIMEOUT 1200 "
                        "SKIP_REGULAR_EXPRESSION [==[${skipped}]==])\n")
endforeach()
file(WRITE ${RESULT} "${tests}")
