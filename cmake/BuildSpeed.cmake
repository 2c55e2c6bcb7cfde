# ccache and mold are used where they are installed; neither changes what is built.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
    # It keeps nothing that reads a precompiled header unless it may trust its macros.
    list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros)
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
    add_link_options(-fuse-ld=mold)
endif()

# tessera_unite(tessera_ir): compiles the files of a target in units of several, unless TESSERA_UNITE is off. Most of
# the time of a small file goes into headers and into what they instantiate: in units of 16 the whole of src/ takes a
# quarter of it. Names in anonymous namespaces must therefore differ within a target.
function(tessera_unite target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${TESSERA_UNITE} UNITY_BUILD_BATCH_SIZE ${TESSERA_UNIT_FILES}
                                               UNITY_BUILD_UNIQUE_ID TESSERA_UNIT)
endfunction()
