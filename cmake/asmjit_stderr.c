// Lets a shared object link a libasmjit.a that was compiled without -fPIC (as Debian's and Ubuntu's are).
// The only thing in that archive which the linker cannot resolve inside a shared object is its direct
// reference to `stderr`. A hidden variable of that name in our own object resolves it; it is filled from the C library's when the
// module is loaded. Needs: dlsym. Promises: every use of `stderr` inside the extension means the process's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#undef stderr
__attribute__((visibility("hidden"))) FILE* stderr;

__attribute__((constructor)) static void fill_stderr(void) {
  FILE** process_stderr = (FILE**)dlsym(RTLD_DEFAULT, "stderr");
  // Without the symbol (never seen) a stream of our own on the same descriptor serves as well.
  stderr = process_stderr ? *process_stderr : fdopen(2, "w");
}
