// Memory for machine code: written first, then executable and never writable again.
// Needs POSIX mmap. Promises: private to the process (a forked child has its own copy); released with the object.
#pragma once
#include <cstddef>

namespace hotloop::codegen {

class CodeMemory {
 public:
  CodeMemory() = default;
  CodeMemory(CodeMemory&& other) noexcept;
  CodeMemory& operator=(CodeMemory&& other) noexcept;
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;
  ~CodeMemory();

  static CodeMemory reserve(size_t size);  // writable; data() is null when there is none
  bool make_executable();

  void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace hotloop::codegen
