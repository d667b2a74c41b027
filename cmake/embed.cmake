# Puts every knowledge/**/*.toml into the program: one assembler file with an .incbin per file and a table of (path,
# begin, end), read by src/read/books/embedded.cc. A changed TOML file re-assembles and re-links; a new one is found by the
# next build.
function(mw_embed_knowledge target)
  set(root ${CMAKE_SOURCE_DIR}/knowledge)
  file(GLOB_RECURSE files RELATIVE ${root} CONFIGURE_DEPENDS ${root}/*.toml)
  list(SORT files)
  set(bytes "")
  set(table "")
  set(depends "")
  set(number 0)
  foreach(file ${files})
    string(APPEND bytes "mw_path_${number}: .asciz \"${file}\"\n")
    string(APPEND bytes "mw_begin_${number}: .incbin \"${root}/${file}\"\nmw_end_${number}: .byte 0\n")
    string(APPEND table "  .8byte mw_path_${number}, mw_begin_${number}, mw_end_${number}\n")
    list(APPEND depends ${root}/${file})
    math(EXPR number "${number} + 1")
  endforeach()
  set(assembly ${CMAKE_BINARY_DIR}/generated/knowledge.S)
  # The table holds addresses, which the loader of a position-independent program fills in: hence .data.rel.ro.
  file(CONFIGURE OUTPUT ${assembly} @ONLY CONTENT [[
  .section .rodata.mw_knowledge,"a",%progbits
@bytes@
  .section .data.rel.ro.mw_knowledge,"aw",%progbits
  .balign 8
  .global mw_embedded_table
mw_embedded_table:
@table@
  .section .rodata.mw_knowledge_count,"a",%progbits
  .balign 8
  .global mw_embedded_count
mw_embedded_count: .8byte @number@

  .section .note.GNU-stack,"",%progbits
]])
  set_source_files_properties(${assembly} PROPERTIES OBJECT_DEPENDS "${depends}")
  # Its own library, so that the C++ warning flags of the rooms stay away from the assembler.
  add_library(mw_knowledge_bytes OBJECT ${assembly})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:mw_knowledge_bytes>)
endfunction()

# The same knowledge, read and checked (src/read/books/compiled.h): a program with the objects of mw_compiled_knowledge
# parses none of it when it starts; others read the text.
function(mw_compile_knowledge)
  add_executable(compile_knowledge ${CMAKE_SOURCE_DIR}/src/read/books/compiler/main.cc)
  target_link_libraries(compile_knowledge PRIVATE mw_read)
  target_link_options(compile_knowledge PRIVATE ${MW_QUICK_LINKER})
  set(binary ${CMAKE_BINARY_DIR}/generated/compiled_knowledge.bin)
  add_custom_command(OUTPUT ${binary} COMMAND compile_knowledge ${binary} DEPENDS compile_knowledge
                     COMMENT "Compiling the knowledge")
  set(assembly ${CMAKE_BINARY_DIR}/generated/compiled_knowledge.S)
  file(CONFIGURE OUTPUT ${assembly} @ONLY CONTENT [[
  .section .rodata.mw_compiled_knowledge,"a",%progbits
  .balign 64
  .global mw_compiled_begin
mw_compiled_begin: .incbin "@binary@"
  .global mw_compiled_end
mw_compiled_end: .byte 0

  .section .note.GNU-stack,"",%progbits
]])
  set_source_files_properties(${assembly} PROPERTIES OBJECT_DEPENDS ${binary})
  add_library(mw_compiled_knowledge OBJECT ${assembly})
endfunction()
