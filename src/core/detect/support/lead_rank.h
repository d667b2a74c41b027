// How much a symptom deserves to lead among those of one attempt's end, and which may lead over one that came before
// it: the lines of several processes in one log stand in the order in which they were flushed.
#pragma once

#include <string_view>

#include "core/detect/support/failure_chain.h"

namespace mw::detect {

/// Is this a symptom after which a process normally does nothing more?
bool ends_a_process(const Symptom& symptom);

/// Does a failure of that kind keep a program from beginning: a module, a script or a setting that it lacks?
inline bool is_of_a_start(std::string_view kind) { return kind == "dependency-broken" || kind == "config-error"; }

/// How much a symptom deserves to lead: 0 not at all. A symptom that only says "crash" says less than one that says of
/// what: the exception of a traceback does, though it be the echo of a failure elsewhere. `barren`: its attempt came to
/// nothing.
int lead_rank(const Symptom& symptom, bool barren);

/// Does a rank say it only when it has waited for minutes? Whatever another one died of was long said by then.
bool comes_late(const Symptom& symptom);

/// May it be no more than what the death of another process leaves behind?
bool may_be_echo(const Symptom& symptom);

/// May `later`, of a greater rank, be what `echo` is the echo of, although it was read after it?
bool may_have_caused(const Symptom& later, const Symptom& echo);

}  // namespace mw::detect
