// A checkpoint of several roles (an actor and its critic) has weights of each.
#pragma once

#include <string_view>

#include "sense/checkpoints/examination.h"

namespace mw {

/// Folders of roles without any weights in them, while another folder of the checkpoint has some: they are gone. After
/// all layouts.
void look_for_weights_of_roles(Examination& exam);

/// "actor" of "actor/model_world_size_2_rank_0.pt"; "" where the path, or the name behind it, is of no role.
std::string_view role_in(std::string_view path);

}  // namespace mw
