# SPDX-License-Identifier: MIT
# Debian's packages as imported targets; all are SYSTEM includes. They are
# global: a project that has Riffle inside links them through it.

set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
find_package(simdjson REQUIRED)
find_package(CURL REQUIRED)
find_package(LibXml2 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)
find_package(tomlplusplus REQUIRED)
find_package(tl-expected REQUIRED)
find_package(re2 MODULE REQUIRED)
find_package(CAF 0.17...<0.18 MODULE REQUIRED COMPONENTS core io openssl)

if(RIFFLE_SANITIZE MATCHES "thread")
  # Tells the sanitizer what CAF orders; the file says how and why.
  add_library(riffle_caf_order OBJECT
    "${PROJECT_SOURCE_DIR}/tests/support/caf_order/caf_order.cpp")
  target_include_directories(riffle_caf_order SYSTEM PRIVATE "${CAF_INCLUDE}")
  target_link_libraries(riffle_caf_order PRIVATE riffle_options)
  target_link_libraries(CAF::core INTERFACE
    $<TARGET_OBJECTS:riffle_caf_order> ${CMAKE_DL_LIBS})
endif()

# A header-only library.
find_path(VALIJSON_INCLUDE valijson/validator.hpp REQUIRED)
add_library(riffle_valijson INTERFACE)
target_include_directories(riffle_valijson SYSTEM INTERFACE "${VALIJSON_INCLUDE}")
