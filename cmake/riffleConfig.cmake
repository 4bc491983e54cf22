# SPDX-License-Identifier: MIT
# find_package(riffle): the library riffle::riffle, linked statically, and the
# Debian packages that it stands on.
include(CMakeFindDependencyMacro)

list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
find_dependency(Threads)
find_dependency(CAF 0.17...<0.18 MODULE COMPONENTS core io openssl)
find_dependency(re2 MODULE)
find_dependency(nlohmann_json)
find_dependency(tl-expected)
find_dependency(spdlog)
find_dependency(simdjson)
find_dependency(CURL)
find_dependency(SQLite3)
find_dependency(OpenSSL COMPONENTS Crypto SSL)
find_dependency(tomlplusplus)
find_dependency(LibXml2)
list(REMOVE_ITEM CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")

include("${CMAKE_CURRENT_LIST_DIR}/riffleTargets.cmake")
