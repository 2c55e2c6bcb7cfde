# Usage: cmake -D TOOL=PROGRAM -D VERSION=X.Y.Z -D OUT=FILE -P ManPage.cmake
# Writes tessera.1 from what `tessera --help` and the help of every verb say, so that there is one text.
function(help out)
    execute_process(COMMAND ${TOOL} ${ARGN} --help OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\\" "\\e" text "${text}")
    string(REPLACE "-" "\\-" text "${text}")
    string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
    string(STRIP "${text}" text)
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

help(overview)
execute_process(COMMAND ${TOOL} --help OUTPUT_VARIABLE plain COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "Subcommands:\n((  [^\n]*\n)+)" _ "${plain}")
string(REGEX MATCHALL "\n  [a-z]+ " verbs "\n${CMAKE_MATCH_1}")
list(TRANSFORM verbs STRIP)

set(page ".TH TESSERA 1 \"\" \"tessera ${VERSION}\" \"User Commands\"
.SH NAME
tessera \\- compile transformer checkpoints to native code, and run them
.SH SYNOPSIS
.B tessera
.I VERB
.RI [ OPTIONS ]
.SH DESCRIPTION
.nf
${overview}
.fi
")
foreach(verb IN LISTS verbs)
    help(text ${verb})
    string(APPEND page ".SH TESSERA ${verb}\n.nf\n${text}\n.fi\n")
    if(text MATCHES "Subcommands:\n((  [^\n]*\n)+)")
        string(REGEX MATCHALL "\n  [a-z]+ " parts "\n${CMAKE_MATCH_1}")
        foreach(part IN LISTS parts)
            string(STRIP "${part}" part)
            help(text ${verb} ${part})
            string(APPEND page ".SH TESSERA ${verb} ${part}\n.nf\n${text}\n.fi\n")
        endforeach()
    endif()
endforeach()
string(APPEND page ".SH EXIT STATUS
0 success, 1 the job failed, 2 wrong usage.
.SH ENVIRONMENT
Every flag can also be given by the variable that its help names; the command line wins.
.SH FILES
.I $XDG_CACHE_HOME/tessera
or
.I ~/.cache/tessera
holds compiled code and models.
")
file(WRITE ${OUT} "${page}")
