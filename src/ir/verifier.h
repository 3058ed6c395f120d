// Checks that a Function keeps the IR's promises; verifier.cpp opens with the list of them and of what is not checked.
#pragma once
#include <string>

#include "ir/ir.h"

namespace hotloop::ir {

// Empty when all is well, else the first broken promise with the op's text.
std::string verify(const Function& function);

}  // namespace hotloop::ir
