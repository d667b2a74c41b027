// What the Hugging Face Hub answers where it does not do what was asked of it.
#pragma once

#include <optional>
#include <string_view>

#include "core/detect/support/failure_chain.h"

namespace mw::detect {

/// Of an exception of huggingface_hub that carries the Hub's answer; nothing of another one.
std::optional<ExceptionClass> hub_answer(std::string_view exception, std::string_view message);

}  // namespace mw::detect
