// links: sense
#include "fuzz.h"
#include "sense/processes/process_snapshot.h"
#include "sense/processes/sockets.h"
#include "sense/processes/stacks.h"

std::vector<std::string> mw::fuzz_seeds() {
  return {"45 0x1f 0x7ffe 0x1 0x0 0x0 0x0 0x7ffd 0x7f3c\n",
          "   1: 0100007F:9C40 0700000A:1F40 01 00000010:0000012C 01:00000014 00000000  1000        0 21 2 0 20\n",
          "   2: 000080FE000000000000000001000000:9C41 000080FE000000000000000002000000:1F41 08 0:0 00:0 0 0 0 22 1\n",
          "Thread 4711 (idle): \"MainThread\"\n    readinto (socket.py:705)\n    step (train.py:12)\n",
          "Thread 1 (Thread 0x7f3d (LWP 4711) \"python3\"):\n#0  0x00007f3c12 in __libc_recv (fd=5) at recv.c:28\n",
          "TID 4711:\n#0  0x00007f3c8a1 __libc_recv\n#1  0x00007f3c8b2 - 1 sock_recv\n"};
}

void mw::fuzz_one(std::string_view input) {
  (void)components::call_of(input);
  (void)components::connections(input);
  (void)components::socket_inode(input);
  (void)components::innermost(input, 4711);
}
