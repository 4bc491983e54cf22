# SPDX-License-Identifier: MIT
# Puts text files into a library, so that a tool's text for the model lies
# beside its code and the program stays one file.

# riffle_embed(TARGET FOLDER): each x.md in it but README.md becomes
# `extern const std::string_view x_md` in namespace riffle::embedded.
function(riffle_embed target folder)
  file(GLOB_RECURSE texts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.md")
  list(FILTER texts EXCLUDE REGEX "/README\\.md$")
  foreach(path ${texts})
    get_filename_component(name "${path}" NAME_WE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(READ "${path}" text)
    set(source "${PROJECT_BINARY_DIR}/embedded/${name}_md.cpp")
    file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"#include <string_view>
namespace riffle::embedded {
extern const std::string_view @name@_md;
const std::string_view @name@_md = R\"embedded(@text@)embedded\";
}
")
    target_sources(${target} PRIVATE "${source}")
  endforeach()
endfunction()

# riffle_embed_file(TARGET FILE NAME): FILE becomes `extern const
# std::string_view NAME` in namespace riffle::embedded.
function(riffle_embed_file target file name)
  set(path "${PROJECT_SOURCE_DIR}/${file}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
  file(READ "${path}" text)
  set(source "${PROJECT_BINARY_DIR}/embedded/${name}.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"#include <string_view>
namespace riffle::embedded {
extern const std::string_view @name@;
const std::string_view @name@ = R\"embedded(@text@)embedded\";
}
")
  target_sources(${target} PRIVATE "${source}")
endfunction()
