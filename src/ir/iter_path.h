// Which part of an iterator object an input is: the meaning of Slot::index of kSeqArray and kSeqIndex.
//
// Needs nothing. Promises: the low 8 bits are the stack item of the iterator; above them up to four steps of 6 bits lead into it, 0 ends.
// No step at all: the iterator in the stack item is itself a plain sequence iterator.
#pragma once
#include <cstdint>

namespace hotloop::ir {

inline constexpr uint32_t kIterEnumerate = 1;  // to the iterator of an enumerate object; as the last step: the enumerate object's own number
inline constexpr uint32_t kIterLeaf = 2;       // + HlIterKind: the last step, this is an iterator of that kind
inline constexpr uint32_t kIterZip = 20;       // + 2 * component + (1 if it is the last one): to a component of a zip object
inline constexpr uint32_t kIterStrict = 44;    // likewise, of one with strict=True
inline constexpr uint32_t kIterMap = 56;       // likewise, to an iterator of a map object
inline constexpr uint32_t kIterFunction = 62;  // the last step: the function of a map object
inline constexpr uint32_t kMaxIterStack = 255, kMaxIterDepth = 4, kMaxZip = 12, kMaxStrict = 6, kMaxMap = 3;

inline uint32_t iter_stack_item(uint32_t path) { return path & 255; }
inline uint32_t iter_step(uint32_t path, uint32_t depth) { return depth < kMaxIterDepth ? (path >> (8 + 6 * depth)) & 63 : 0; }
inline uint32_t with_iter_step(uint32_t path, uint32_t depth, uint32_t step) { return path | step << (8 + 6 * depth); }

}  // namespace hotloop::ir
