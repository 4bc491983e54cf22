# SPDX-License-Identifier: MIT
# What the program needs beside the library.

find_package(CLI11 REQUIRED)

find_package(Boost 1.74 REQUIRED)
find_package(prometheus-cpp REQUIRED)

find_path(SYSTEMD_INCLUDE systemd/sd-daemon.h REQUIRED)
find_library(SYSTEMD_LIBRARY systemd REQUIRED)
add_library(riffle_systemd UNKNOWN IMPORTED)
set_target_properties(riffle_systemd PROPERTIES
  IMPORTED_LOCATION "${SYSTEMD_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${SYSTEMD_INCLUDE}")

find_path(UTF8PROC_INCLUDE utf8proc.h REQUIRED)
find_library(UTF8PROC_LIBRARY utf8proc REQUIRED)
add_library(riffle_utf8proc UNKNOWN IMPORTED)
set_target_properties(riffle_utf8proc PROPERTIES
  IMPORTED_LOCATION "${UTF8PROC_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${UTF8PROC_INCLUDE}")

# The heap of the program, not of the library, whose users choose theirs: see
# tests/bench/README.md. Part of the program, so that it runs where no such
# library is installed. Sanitizers bring their own.
option(RIFFLE_JEMALLOC "Use jemalloc in the program riffle" ON)
add_library(riffle_heap INTERFACE)
if(RIFFLE_JEMALLOC AND NOT RIFFLE_SANITIZE)
  find_library(RIFFLE_JEMALLOC_LIBRARY NAMES libjemalloc_pic.a)
  if(RIFFLE_JEMALLOC_LIBRARY)
    target_link_libraries(riffle_heap INTERFACE "${RIFFLE_JEMALLOC_LIBRARY}")
  else()
    message(STATUS "no libjemalloc_pic.a (libjemalloc-dev): the heap is libc's")
  endif()
endif()
