// See code_memory.h. One mapping per region: regions are few and large, and shared mappings (two views of one memory file) would stay
// shared with a forked child, where both processes would write into the same free space.
#include "codegen/code_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace hotloop::codegen {

CodeMemory::CodeMemory(CodeMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

CodeMemory& CodeMemory::operator=(CodeMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

CodeMemory::~CodeMemory() {
  if (data_) munmap(data_, size_);
}

CodeMemory CodeMemory::reserve(size_t size) {
  CodeMemory memory;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t rounded = (size + page - 1) / page * page;
  void* data = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return memory;
  memory.data_ = data;
  memory.size_ = rounded;
  return memory;
}

bool CodeMemory::make_executable() { return mprotect(data_, size_, PROT_READ | PROT_EXEC) == 0; }

}  // namespace hotloop::codegen
