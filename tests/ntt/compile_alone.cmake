# cmake -D PROGRAM=g++ -D FLAGS="-mavx2;-mfma" -D HEADERS="a.h;b.h" -D INCLUDE=DIR -D USE=FILE.cpp -P compile_alone.cmake
# Each header compiles alone and without a warning, and so does USE, which instantiates what generated code does.
set(options -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror ${FLAGS} -I ${INCLUDE} -x c++)
foreach(header IN LISTS HEADERS)
    execute_process(COMMAND ${PROGRAM} ${options} -include ${header} /dev/null RESULT_VARIABLE failed)
    if(failed)
        message(SEND_ERROR "${header} does not compile alone")
    endif()
endforeach()
list(REMOVE_ITEM options -fsyntax-only)
execute_process(COMMAND ${PROGRAM} ${options} -O2 -c ${USE} -o /dev/null RESULT_VARIABLE failed)
if(failed)
    message(SEND_ERROR "${USE} does not compile")
endif()
