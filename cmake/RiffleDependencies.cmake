# SPDX-License-Identifier: MIT
# Debian's packages as imported targets; all are SYSTEM includes.

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
find_package(simdjson REQUIRED)
find_package(CURL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)

# Debian ships no CMake package for CAF. Its interfaces changed with 0.18.
find_path(CAF_INCLUDE caf/all.hpp REQUIRED)
file(STRINGS "${CAF_INCLUDE}/caf/config.hpp" caf_version
     REGEX "#define CAF_VERSION [0-9]+")
if(NOT caf_version MATCHES "CAF_VERSION 17[0-9][0-9]$")
  message(FATAL_ERROR "CAF 0.17 is needed; found: ${caf_version}")
endif()
foreach(part core io openssl)
  find_library(CAF_${part}_LIBRARY caf_${part} REQUIRED)
  add_library(CAF::${part} UNKNOWN IMPORTED)
  set_target_properties(CAF::${part} PROPERTIES
    IMPORTED_LOCATION "${CAF_${part}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CAF_INCLUDE}")
endforeach()
target_link_libraries(CAF::core INTERFACE Threads::Threads)
target_link_libraries(CAF::io INTERFACE CAF::core)
target_link_libraries(CAF::openssl INTERFACE CAF::io)
if(RIFFLE_SANITIZE MATCHES "thread")
  # Tells the sanitizer what CAF orders; the file says how and why.
  add_library(riffle_caf_order OBJECT tests/support/caf_order/caf_order.cpp)
  target_include_directories(riffle_caf_order SYSTEM PRIVATE "${CAF_INCLUDE}")
  target_link_libraries(riffle_caf_order PRIVATE riffle_options)
  target_link_libraries(CAF::core INTERFACE
    $<TARGET_OBJECTS:riffle_caf_order> ${CMAKE_DL_LIBS})
endif()

# RE2's CMake package came after Debian 12; it brings Abseil along.
find_package(re2 CONFIG QUIET)
if(NOT TARGET re2::re2)
  find_path(RE2_INCLUDE re2/re2.h REQUIRED)
  find_library(RE2_LIBRARY re2 REQUIRED)
  add_library(re2::re2 UNKNOWN IMPORTED)
  set_target_properties(re2::re2 PROPERTIES
    IMPORTED_LOCATION "${RE2_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${RE2_INCLUDE}")
  target_link_libraries(re2::re2 INTERFACE Threads::Threads)
endif()

# Header-only libraries.
find_path(EXPECTED_INCLUDE tl/expected.hpp REQUIRED)
add_library(riffle_expected INTERFACE)
target_include_directories(riffle_expected SYSTEM INTERFACE "${EXPECTED_INCLUDE}")
find_path(VALIJSON_INCLUDE valijson/validator.hpp REQUIRED)
add_library(riffle_valijson INTERFACE)
target_include_directories(riffle_valijson SYSTEM INTERFACE "${VALIJSON_INCLUDE}")

find_path(UTF8PROC_INCLUDE utf8proc.h REQUIRED)
find_library(UTF8PROC_LIBRARY utf8proc REQUIRED)
add_library(riffle_utf8proc UNKNOWN IMPORTED)
set_target_properties(riffle_utf8proc PROPERTIES
  IMPORTED_LOCATION "${UTF8PROC_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${UTF8PROC_INCLUDE}")
