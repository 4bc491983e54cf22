# SPDX-License-Identifier: MIT
# What `cmake --install` gives beside the program and the layers' libraries: the
# CMake package `riffle`, headers, documents, configurations. All of it may be
# moved as a whole.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/riffle")
install(TARGETS riffle)
install(EXPORT riffle NAMESPACE riffle:: FILE riffleTargets.cmake
        DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/riffleConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/riffleConfig.cmake cmake/FindCAF.cmake cmake/Findre2.cmake
              "${PROJECT_BINARY_DIR}/riffleConfigVersion.cmake"
        DESTINATION "${package}")

set(headers "${PROJECT_BINARY_DIR}/include/riffle")
install(CODE "set(RIFFLE_SOURCE \"${PROJECT_SOURCE_DIR}\")
set(RIFFLE_HEADERS_OUT \"${headers}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/RiffleHeaders.cmake\")")
install(DIRECTORY "${headers}/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/riffle")

install(FILES README.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# Part of the program, under a licence whose text goes with it.
set(jemalloc_licence /usr/share/doc/libjemalloc-dev/copyright)
if(TARGET riffle_heap AND RIFFLE_JEMALLOC_LIBRARY AND EXISTS ${jemalloc_licence})
  install(FILES ${jemalloc_licence} DESTINATION "${CMAKE_INSTALL_DOCDIR}"
          RENAME LICENSE.jemalloc)
endif()
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES configs/default.toml configs/demo.toml configs/demo.script.toml
        DESTINATION "${CMAKE_INSTALL_DATADIR}/riffle")
install(DIRECTORY configs/demo DESTINATION "${CMAKE_INSTALL_DATADIR}/riffle"
        USE_SOURCE_PERMISSIONS)

# What shells and man(1) look for, as the program itself says it.
set(told "${PROJECT_BINARY_DIR}/told")
set(told_bash "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" riffle)
set(told_zsh "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" _riffle)
set(told_fish "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" riffle.fish)
set(told_man "${CMAKE_INSTALL_MANDIR}/man1" riffle.1)
foreach(what bash zsh fish man)
  list(GET told_${what} 0 folder)
  list(GET told_${what} 1 name)
  install(CODE "file(MAKE_DIRECTORY \"${told}\")
execute_process(COMMAND \"$<TARGET_FILE:riffle>\" completion ${what}
  OUTPUT_FILE \"${told}/${name}\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES "${told}/${name}" DESTINATION "${folder}")
endforeach()

include(RifflePkgConfig)
