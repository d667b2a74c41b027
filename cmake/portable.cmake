# One file to copy to a pod: everything static but the C library, of which nothing newer than MIDWATCH_GLIBC_FLOOR is
# asked. Release builds on x86-64 only; sanitizers, fuzzers and other machines link in the ordinary way.
set(MIDWATCH_GLIBC_FLOOR 2.31 CACHE STRING "Oldest glibc that the program must run on")

function(mw_portable target)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR MIDWATCH_SANITIZE OR MIDWATCH_FUZZ
     OR NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$" OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    return()
  endif()
  set(folder ${CMAKE_BINARY_DIR}/portable)
  set(here ${CMAKE_SOURCE_DIR}/cmake/portable)
  set(made ${folder}/libc.so ${folder}/libm.so ${folder}/libpthread.so ${folder}/libdl.so ${folder}/start.o ${folder}/newer.o
           ${folder}/unused.o)
  find_program(PYTHON3 python3 REQUIRED)
  add_custom_command(OUTPUT ${made}
                     COMMAND ${PYTHON3} ${here}/make_stubs.py ${folder} ${MIDWATCH_GLIBC_FLOOR}
                     DEPENDS ${here}/make_stubs.py ${here}/start.c ${here}/newer.c ${here}/unused.c
                     COMMENT "Stand-ins for glibc ${MIDWATCH_GLIBC_FLOOR}")
  add_custom_target(${target}_portable DEPENDS ${made})
  add_dependencies(${target} ${target}_portable)
  foreach(part crti.o crtbeginS.o crtendS.o crtn.o libc_nonshared.a)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${part} OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(${part} ${path})
  endforeach()
  target_link_options(${target} PRIVATE -nostdlib -pie -Wl,--gc-sections -Wl,-O1 -Wl,-z,relro -Wl,-z,now -L${folder}
                      ${folder}/start.o ${crti.o} ${crtbeginS.o} -Wl,-Bstatic)
  # At the very end of the link line, in this order; target_link_libraries would sort and merge them.
  set(last "-Wl,-Bstatic -lcurl -lnghttp2 -lssl -lcrypto -lbrotlidec -lbrotlicommon -lzstd -lz ${folder}/unused.o"
      "${folder}/newer.o -lstdc++ -lgcc -lgcc_eh -Wl,-Bdynamic -Wl,--no-as-needed -lpthread -ldl"
      "-Wl,--as-needed -lm -lc ${libc_nonshared.a} -lgcc ${crtendS.o} ${crtn.o} -Wl,--allow-shlib-undefined")
  list(JOIN last " " last)
  set(CMAKE_CXX_STANDARD_LIBRARIES "${last}" PARENT_SCOPE)
endfunction()
