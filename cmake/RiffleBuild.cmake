# SPDX-License-Identifier: MIT
# Flags, and the function that makes one static library of a folder.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

find_program(RIFFLE_CCACHE ccache)
if(RIFFLE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${RIFFLE_CCACHE})
endif()

# Not mold: 1.10 of Debian 12 begins RELRO at .tbss, which has no page of its
# own; a binary whose layout puts a page border there does not start at all.
find_program(RIFFLE_LLD ld.lld)
if(RIFFLE_LLD)
  add_link_options(-fuse-ld=lld)
endif()

add_library(riffle_options INTERFACE)
target_include_directories(riffle_options INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(riffle_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -Wno-missing-field-initializers
  -Werror -fpch-preprocess)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND
   NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)  # clang-tidy does not know the option
  # The compiler's garbage collector took a tenth of the build's time; without
  # it a file takes up to 1 GB, for which ./dev chooses the number of jobs.
  target_compile_options(riffle_options INTERFACE
    --param=ggc-min-heapsize=1000000)
endif()
if(RIFFLE_UNITY)
  # Names of one source may hide those of another: no fault of either.
  target_compile_options(riffle_options INTERFACE
    -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 takes the members of an `enum class` for globals that they hide.
  target_compile_options(riffle_options INTERFACE -Wno-shadow -Wshadow=local)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND (RIFFLE_SANITIZE OR RIFFLE_UNITY))
  # g++ warns of library code that is right where a sanitizer changes it (its
  # manual says so at -fsanitize) and where -O2 sees through it; the preset
  # `dev` checks the same code.
  target_compile_options(riffle_options INTERFACE
    -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
    -Wno-stringop-overread -Wno-restrict)
endif()
target_compile_definitions(riffle_options INTERFACE CAF_ENABLE_TYPE_ID_CHECKS)

if(RIFFLE_SANITIZE MATCHES "fuzzer")
  # clang warns of headers of g++'s library; the preset `dev` checks ours.
  target_compile_options(riffle_options INTERFACE -Wno-error)
endif()

if(RIFFLE_SANITIZE)
  # CAF 0.17 forms references to null in its headers: -fno-sanitize=null.
  target_compile_options(riffle_options INTERFACE
    -fsanitize=${RIFFLE_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(riffle_options INTERFACE -fsanitize=${RIFFLE_SANITIZE})
  if(RIFFLE_SANITIZE MATCHES "undefined")
    target_compile_options(riffle_options INTERFACE -fno-sanitize=null,vptr)
  endif()
endif()

# riffle_layer(NAME FOLDER [WITHOUT SUBFOLDER] [PCH] [NO_INSTALL] DEPS …): a
# static library of all sources of the folder, but of one that is a layer of its
# own. PCH: it includes CAF. What users of the installed library need not have
# stands in $<BUILD_INTERFACE:…>.
function(riffle_layer name folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "PCH;NO_INSTALL" "WITHOUT" "DEPS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(arg_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "/${folder}/${arg_WITHOUT}/")
  endif()
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE riffle_options ${arg_DEPS})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ${arg_DEPS}
    PRIVATE $<BUILD_INTERFACE:riffle_options>)
  target_include_directories(${name} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:include>")
  if(NOT arg_NO_INSTALL)
    string(REPLACE "riffle_" "" short "${name}")
    set_target_properties(${name} PROPERTIES EXPORT_NAME ${short})
    target_compile_features(${name} PUBLIC cxx_std_20)
    set_property(GLOBAL APPEND PROPERTY RIFFLE_LAYERS ${name})
    if(RIFFLE_INSTALL)
      install(TARGETS ${name} EXPORT riffle)
    endif()
  endif()
  if(arg_PCH)
    riffle_pch(${name} caf)
  else()
    riffle_pch(${name} plain)
  endif()
  riffle_unity(${name})
endfunction()

# Precompiled once for all targets: half of the build time. They hold headers
# of libraries only, so that a change of ours never rebuilds everything.
set(riffle_pch_plain <algorithm> <chrono> <filesystem> <functional> <map>
    <memory> <mutex> <optional> <string> <string_view> <thread> <variant>
    <vector> <nlohmann/json.hpp> <tl/expected.hpp>)
set(riffle_pch_caf ${riffle_pch_plain} <caf/all.hpp>)
set(riffle_pch_test ${riffle_pch_plain} "${PROJECT_SOURCE_DIR}/tests/support/catch.hpp")
set(riffle_pch_caf_test ${riffle_pch_test} <caf/all.hpp>)

# riffle_pch(TARGET plain|caf|test|caf_test)
function(riffle_pch name kind)
  set(owner riffle_pch_${kind}_owner)
  if(NOT TARGET ${owner})
    set(source "${PROJECT_BINARY_DIR}/${owner}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "")
    add_library(${owner} OBJECT "${source}")
    target_link_libraries(${owner} PRIVATE
      riffle_options tl::expected nlohmann_json::nlohmann_json)
    if(kind MATCHES "caf")
      target_link_libraries(${owner} PRIVATE CAF::core)
    endif()
    if(kind MATCHES "test")
      target_link_libraries(${owner} PRIVATE Catch2::Catch2)
    endif()
    target_precompile_headers(${owner} PRIVATE ${riffle_pch_${kind}})
  endif()
  target_precompile_headers(${name} REUSE_FROM ${owner})
endfunction()
