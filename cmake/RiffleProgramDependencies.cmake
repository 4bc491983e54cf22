# SPDX-License-Identifier: MIT
# What the program needs beside the library.

find_package(CLI11 REQUIRED)

find_path(UTF8PROC_INCLUDE utf8proc.h REQUIRED)
find_library(UTF8PROC_LIBRARY utf8proc REQUIRED)
add_library(riffle_utf8proc UNKNOWN IMPORTED)
set_target_properties(riffle_utf8proc PROPERTIES
  IMPORTED_LOCATION "${UTF8PROC_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${UTF8PROC_INCLUDE}")
