// By which midwatch knows its own lines and processes: random letters of one run.
#pragma once

#include <string>

namespace mw {

/// 64 random bits in hexadecimal; "" when the system gives none.
std::string random_nonce();

}  // namespace mw
