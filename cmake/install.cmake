# cmake --install: the program, its manual page, completions and a systemd unit. What the program prints of itself it prints
# here, from the very file that was installed.
include(GNUInstallDirs)
install(TARGETS midwatch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CMAKE_SOURCE_DIR}/docs/deploy/examples/midwatch@.service DESTINATION lib/systemd/system)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/midwatch)
install(CODE "
set(root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
function(print_into path)
  get_filename_component(folder \"\${root}/\${path}\" DIRECTORY)
  file(MAKE_DIRECTORY \"\${folder}\")
  execute_process(COMMAND \"\${root}/${CMAKE_INSTALL_BINDIR}/midwatch\" \${ARGN} OUTPUT_FILE \"\${root}/\${path}\" COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS \"Installing: \${root}/\${path}\")
endfunction()
print_into(${CMAKE_INSTALL_MANDIR}/man1/midwatch.1 man)
print_into(${CMAKE_INSTALL_DATADIR}/bash-completion/completions/midwatch completion bash)
print_into(${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions/_midwatch completion zsh)
print_into(${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/midwatch.fish completion fish)
")
