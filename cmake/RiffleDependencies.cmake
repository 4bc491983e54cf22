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

# Debian ships no CMake package for CAF.
foreach(part core io openssl)
  find_library(CAF_${part}_LIBRARY caf_${part} REQUIRED)
  add_library(CAF::${part} UNKNOWN IMPORTED)
  set_target_properties(CAF::${part} PROPERTIES
    IMPORTED_LOCATION "${CAF_${part}_LIBRARY}")
endforeach()
set_property(TARGET CAF::core APPEND PROPERTY
  INTERFACE_LINK_LIBRARIES Threads::Threads)
set_property(TARGET CAF::io APPEND PROPERTY INTERFACE_LINK_LIBRARIES CAF::core)

# Header-only libraries in /usr/include.
find_path(EXPECTED_INCLUDE tl/expected.hpp REQUIRED)
add_library(riffle_expected INTERFACE)
find_path(VALIJSON_INCLUDE valijson/validator.hpp REQUIRED)
add_library(riffle_valijson INTERFACE)
