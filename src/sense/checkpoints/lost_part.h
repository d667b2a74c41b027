// Files and folders that checkpoints beside this one have and this one has not: nothing in it calls for them, and its
// trainer cannot resume without some.
#pragma once

#include <string>
#include <vector>

#include "sense/checkpoints/examination.h"

namespace mw {

/// `beside`: the nearest before and after it. `before`: a whole one that was saved before it, "" where none is known;
/// asked where `beside` is empty, and only where that has what is missing here are others looked at. `newest`: the one
/// of the highest step beside it; "": its folder is listed for it.
///
/// A part that a framework loads whenever it trains one (verl's and SkyRL's critic, SkyRL's state of asynchronous
/// training) was lost where the one before has it, and the one after it, too, if there is any. Where only later ones
/// have it, it was not trained yet, or was deleted early: then this one is whole, and cannot be resumed from with it.
/// What else the newest alone lacks is a note.
void look_for_lost_parts(Examination& exam, const std::vector<std::string>& beside, const std::string& before,
                         const std::string& newest = "");

}  // namespace mw
