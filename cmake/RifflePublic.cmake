# SPDX-License-Identifier: MIT
# riffle::riffle, what users link: the public headers as `riffle/…`, and the
# layers for the linker only, so that nothing else of ours reaches a user's
# files: no include folder, no definition of a library that we stand on.

# riffle_public(LAYER): for this layer and those below it.
function(riffle_public layer)
  set(out "${PROJECT_BINARY_DIR}/include/riffle")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/messages/*.hpp" "${PROJECT_SOURCE_DIR}/tools/*.hpp"
    "${PROJECT_SOURCE_DIR}/runtime/*.hpp")
  set(done "${PROJECT_BINARY_DIR}/public-headers.stamp")
  add_custom_command(OUTPUT "${done}"
    COMMAND ${CMAKE_COMMAND} "-DRIFFLE_SOURCE=${PROJECT_SOURCE_DIR}"
            "-DRIFFLE_HEADERS_OUT=${out}"
            -P "${PROJECT_SOURCE_DIR}/cmake/RiffleHeaders.cmake"
    COMMAND ${CMAKE_COMMAND} -E touch "${done}"
    DEPENDS ${headers} "${PROJECT_SOURCE_DIR}/cmake/RiffleHeaders.cmake"
    COMMENT "Public headers" VERBATIM)
  add_custom_target(riffle_headers DEPENDS "${done}")

  add_library(riffle_public INTERFACE)
  add_library(riffle::riffle ALIAS riffle_public)
  add_dependencies(riffle_public riffle_headers)
  set_target_properties(riffle_public PROPERTIES EXPORT_NAME riffle)
  target_compile_features(riffle_public INTERFACE cxx_std_20)
  target_include_directories(riffle_public SYSTEM INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>")
  target_include_directories(riffle_public INTERFACE
    "$<INSTALL_INTERFACE:include>")
  target_link_libraries(riffle_public INTERFACE
    $<LINK_ONLY:${layer}> tl::expected nlohmann_json::nlohmann_json)
  if(RIFFLE_INSTALL)
    install(TARGETS riffle_public EXPORT riffle)
  endif()
endfunction()
