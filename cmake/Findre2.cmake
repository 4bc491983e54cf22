# SPDX-License-Identifier: MIT
# RE2 as re2::re2. Its own CMake package came after Debian 12; where there is
# one it is taken, as it brings Abseil along. Installed with Riffle's package.

find_package(re2 CONFIG QUIET)
if(TARGET re2::re2)
  set(re2_FOUND TRUE)
  return()
endif()

find_path(RE2_INCLUDE re2/re2.h)
find_library(RE2_LIBRARY re2)
mark_as_advanced(RE2_INCLUDE RE2_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(re2 REQUIRED_VARS RE2_LIBRARY RE2_INCLUDE)
if(re2_FOUND)
  find_package(Threads REQUIRED)
  add_library(re2::re2 UNKNOWN IMPORTED)
  set_target_properties(re2::re2 PROPERTIES
    IMPORTED_LOCATION "${RE2_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${RE2_INCLUDE}"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
