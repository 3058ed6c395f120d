// str and bytes: their items by position, characters as code points.
// Needs tracer/semantics_common.h. Internal to the semantics files and the recorder. Strings are never made in native code: a character is a
// number until an exit needs the object.
#pragma once
#include "tracer/semantics_common.h"

namespace hotloop::tracer {

std::optional<Sym> as_text(Emit& e, const Sym& s);  // an object that was an ASCII str, or bytes, while recording: guarded to be one
bool is_text(const Sym& s);  // str or bytes, known or not
Result<ValueId> text_length(Emit& e, const Sym& text);
Result<Sym> text_item(Emit& e, const Sym& text, ValueId position);  // position in [0, len)
Result<Sym> text_subscript(Emit& e, const Sym& text, const Sym& index);

// Comparison of characters with characters and known strings.
bool compares_as_text(const Sym& a, const Sym& b);
Result<Sym> compare_text(Emit& e, CompareOp op, const Sym& a, const Sym& b);

// x in container, for characters and integers in known strings, tuples and frozensets.
Result<Sym> contains_known(Emit& e, const Sym& container, const Sym& x);

}  // namespace hotloop::tracer
