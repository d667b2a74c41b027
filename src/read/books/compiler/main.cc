// Runs in the build: writes the compiled knowledge (read/books/compiled.h) into the file that it is given.
#include <fstream>
#include <iostream>

#include "read/books/compiled.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: compile_knowledge OUT\n";
    return 2;
  }
  const auto bytes = mw::compile_knowledge();
  if (!bytes.ok()) {
    std::cerr << bytes.error().what << "\n";
    return 1;
  }
  std::ofstream out(argv[1], std::ios::binary);
  out.write(bytes->data(), static_cast<std::streamsize>(bytes->size()));
  out.close();
  return out ? 0 : 1;
}
