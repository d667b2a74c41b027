/* The program's entry for a C library older than 2.34: that one's __libc_start_main still expects to be handed the
 * functions that run constructors and destructors; newer ones accept them. System V ABI, x86-64. */
#include <stddef.h>

typedef void (*constructor)(int, char**, char**);
typedef void (*destructor)(void);

extern int main(int, char**, char**);
extern void _init(void);
extern void _fini(void);
extern constructor __init_array_start[] __attribute__((visibility("hidden")));
extern constructor __init_array_end[] __attribute__((visibility("hidden")));
extern destructor __fini_array_start[] __attribute__((visibility("hidden")));
extern destructor __fini_array_end[] __attribute__((visibility("hidden")));

int __libc_start_main(int (*entry)(int, char**, char**), int count, char** arguments, constructor begin, destructor end,
                      destructor loader_end, void* stack);

const int _IO_stdin_used = 0x20001; /* tells the library which stdio this program was compiled for */

static void run_constructors(int count, char** arguments, char** environment) {
  _init();
  const size_t all = (size_t)(__init_array_end - __init_array_start);
  for (size_t i = 0; i < all; ++i) __init_array_start[i](count, arguments, environment);
}

static void run_destructors(void) {
  for (size_t left = (size_t)(__fini_array_end - __fini_array_start); left > 0; --left) __fini_array_start[left - 1]();
  _fini();
}

__attribute__((used, noreturn)) void portable_start(long* stack, destructor loader_end) {
  __libc_start_main(main, (int)stack[0], (char**)(stack + 1), run_constructors, run_destructors, loader_end, stack);
  __builtin_trap();
}

__asm__(
    ".text\n"
    ".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "  .cfi_startproc\n"
    "  .cfi_undefined rip\n"
    "  xorl %ebp, %ebp\n"
    "  movq %rdx, %rsi\n" /* the loader's own destructor */
    "  movq %rsp, %rdi\n" /* argc, argv, environment */
    "  andq $-16, %rsp\n"
    "  call portable_start\n"
    "  hlt\n"
    "  .cfi_endproc\n"
    ".size _start, . - _start\n");
