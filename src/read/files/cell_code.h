// What the code of a notebook's cell is for, as far as its failing or ending says something of the training.
#pragma once

#include <string_view>

namespace mw {

/// Does a line of it call what trains ("trainer.train()", "ppo_trainer.step(…)", "!accelerate launch train.py"), or is
/// it of a training loop of its own? That a model is put into its training mode is no training, and neither is the
/// definition of a function.
bool code_trains(std::string_view code);

}  // namespace mw
