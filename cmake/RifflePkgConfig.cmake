# SPDX-License-Identifier: MIT
# riffle.pc, for builds without CMake. The library is static only, so `Libs` is
# the whole line for the linker, with or without `--static`; what it stands on
# is not in `Requires`, whose definitions would reach users.

# riffle_collect(ITEM): adds to the global property RIFFLE_PC_LIBS what a
# linker needs for an item of a link interface, our own layers left out.
function(riffle_collect item)
  string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" item "${item}")
  get_property(seen GLOBAL PROPERTY RIFFLE_PC_SEEN)
  if(item MATCHES "\\$<" OR item IN_LIST seen)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY RIFFLE_PC_SEEN "${item}")
  if(NOT TARGET "${item}")
    set_property(GLOBAL APPEND PROPERTY RIFFLE_PC_LIBS "${item}")
    return()
  endif()
  get_target_property(type "${item}" TYPE)
  get_target_property(imported "${item}" IMPORTED)
  if(imported AND NOT type STREQUAL "INTERFACE_LIBRARY")
    get_target_property(file "${item}" LOCATION)
    get_filename_component(folder "${file}" DIRECTORY)
    get_filename_component(name "${file}" NAME)
    if(folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      string(REGEX REPLACE "^lib(.*)\\.(so|a).*$" "-l\\1" file "${name}")
    endif()
    set_property(GLOBAL APPEND PROPERTY RIFFLE_PC_LIBS "${file}")
  endif()
  get_target_property(parts "${item}" INTERFACE_LINK_LIBRARIES)
  foreach(part ${parts})
    if(part)
      riffle_collect("${part}")
    endif()
  endforeach()
endfunction()

get_property(layers GLOBAL PROPERTY RIFFLE_LAYERS)
list(REVERSE layers)  # who needs stands before what is needed
set(riffle_libs)
foreach(layer ${layers})
  list(APPEND riffle_libs "-l${layer}")
  riffle_collect(${layer})
endforeach()
get_property(others GLOBAL PROPERTY RIFFLE_PC_LIBS)
list(REMOVE_DUPLICATES others)
list(JOIN riffle_libs " " riffle_libs)
list(JOIN others " " others)
file(RELATIVE_PATH to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/riffle.pc" @ONLY CONTENT
"prefix=\${pcfiledir}/@to_prefix@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: riffle
Description: Runs LLM agents whose tools work while the answer still streams
Version: @PROJECT_VERSION@
Cflags: -I\${includedir}
Libs: -L\${libdir} @riffle_libs@ @others@
")
install(FILES "${PROJECT_BINARY_DIR}/riffle.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
