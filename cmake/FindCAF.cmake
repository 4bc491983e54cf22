# SPDX-License-Identifier: MIT
# CAF 0.17 as CAF::core, CAF::io, CAF::openssl. Debian ships no CMake package
# for it, and its interfaces changed with 0.18. Installed with Riffle's package.

find_path(CAF_INCLUDE caf/all.hpp)
mark_as_advanced(CAF_INCLUDE)
set(CAF_PARTS core)
foreach(part ${CAF_FIND_COMPONENTS})
  list(APPEND CAF_PARTS ${part})
endforeach()
list(REMOVE_DUPLICATES CAF_PARTS)
set(CAF_NEEDED CAF_INCLUDE)
foreach(part ${CAF_PARTS})
  find_library(CAF_${part}_LIBRARY caf_${part})
  mark_as_advanced(CAF_${part}_LIBRARY)
  list(APPEND CAF_NEEDED CAF_${part}_LIBRARY)
endforeach()
if(CAF_INCLUDE)
  file(STRINGS "${CAF_INCLUDE}/caf/config.hpp" CAF_NUMBER
       REGEX "#define CAF_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+$" CAF_NUMBER "${CAF_NUMBER}")
  math(EXPR CAF_MINOR "${CAF_NUMBER} / 100 % 100")
  math(EXPR CAF_PATCH "${CAF_NUMBER} % 100")
  set(CAF_VERSION "0.${CAF_MINOR}.${CAF_PATCH}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF REQUIRED_VARS ${CAF_NEEDED}
  VERSION_VAR CAF_VERSION HANDLE_VERSION_RANGE)
if(NOT CAF_FOUND)
  return()
endif()

find_package(Threads REQUIRED)
foreach(part ${CAF_PARTS})
  if(NOT TARGET CAF::${part})
    add_library(CAF::${part} UNKNOWN IMPORTED)
    set_target_properties(CAF::${part} PROPERTIES
      IMPORTED_LOCATION "${CAF_${part}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${CAF_INCLUDE}"
      INTERFACE_LINK_LIBRARIES Threads::Threads)
  endif()
endforeach()
if(TARGET CAF::io)
  target_link_libraries(CAF::io INTERFACE CAF::core)
endif()
if(TARGET CAF::openssl)
  target_link_libraries(CAF::openssl INTERFACE CAF::io)
endif()
