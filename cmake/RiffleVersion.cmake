# SPDX-License-Identifier: MIT
# RIFFLE_VERSION, as runtime/api/version.hpp has it.
set(RIFFLE_VERSION)
set(header "${CMAKE_CURRENT_LIST_DIR}/../runtime/api/version.hpp")
foreach(part MAJOR MINOR PATCH)
  file(STRINGS "${header}" line REGEX "^#define RIFFLE_VERSION_${part} [0-9]+$")
  string(REGEX MATCH "[0-9]+$" number "${line}")
  list(APPEND RIFFLE_VERSION "${number}")
endforeach()
list(JOIN RIFFLE_VERSION "." RIFFLE_VERSION)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")
