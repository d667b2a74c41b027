#include "core/supervise/end_class.h"

#include <algorithm>
#include <array>

namespace mw {
namespace {

constexpr std::string_view kBudget = "`[run] restarts`, `restarts_total`, `first_wait`, `longest_wait`";

constexpr std::array kRows = {
    EndClassRow{EndClass::kFinished, "finished", "ended with exit status 0, or is complete by its own output", ""},
    EndClassRow{EndClass::kFellShort, "fell-short",
                "ended with exit status 0, and its files say that it did not come to its end", kBudget},
    EndClassRow{EndClass::kStopRequested, "stop-requested", "was to end: `midwatch stop`, Ctrl-C", ""},
    EndClassRow{EndClass::kComponent, "component",
                "midwatch ended, as a component that it starts itself did not come back",
                "`[component.NAME] restarts`"},
    EndClassRow{EndClass::kInterrupted, "interrupted",
                "somebody else ended by SIGINT or SIGTERM, or a time limit in its command (`timeout`)", ""},
    EndClassRow{EndClass::kProvider, "provider", "the provider ended, as it takes the machine", "`[run] restarts = 0`"},
    EndClassRow{EndClass::kTransient, "transient",
                "failed by what surrounds the training: an engine, the network, Ray, a GPU, the machine", kBudget},
    EndClassRow{EndClass::kUnknown, "unknown", "failed, and nothing more is known of it", kBudget},
    EndClassRow{EndClass::kDiesAtOnce, "dies-at-once", "ended within a minute of its start and never trained",
                "`[run] restarts = 0`"},
    EndClassRow{EndClass::kBeforeStep, "before-first-step",
                "failed before the first step by what is known to repeat: a missing module, a wrong setting", ""},
    EndClassRow{EndClass::kSameStep, "same-step", "failed at the same step as the one before, in the same way", ""},
    EndClassRow{EndClass::kNeedsChange, "needs-change",
                "failed without progress by what needs something done first: settings, space, a person",
                "`[cleanup] mode = \"act\"` where it is space"},
    EndClassRow{EndClass::kHung, "hung", "the circuit breaker ended, as it did nothing any more",
                "`[actions] break_hang` (by default it asks), `[run] hang_patience`, `answer_patience`, `unattended`"},
    EndClassRow{EndClass::kPoisoned, "poisoned", "trained on poisoned data, or on numbers that are not finite",
                "`[actions] break`, `break_learning` (by default it asks where only figures say so)"},
    EndClassRow{EndClass::kRule, "rule", "a rule of your own ended", "`[rule.NAME] breaker`"},
    EndClassRow{EndClass::kBadResume, "from-scratch",
                "began from nothing although an earlier one had saved a checkpoint", "`[run] from_scratch = true`"},
    EndClassRow{EndClass::kElsewhere, "elsewhere",
                "was only the client of a training elsewhere (`ray job submit`, `docker run`, `kubectl exec`, `ssh`), "
                "and ended without a word that this is over",
                ""},
    EndClassRow{EndClass::kNotStarted, "not-started", "could not be started at all", ""},
};

}  // namespace

std::span<const EndClassRow> end_classes() { return kRows; }

std::string_view end_class_word(EndClass end) {
  const auto row = std::find_if(kRows.begin(), kRows.end(), [end](const EndClassRow& one) { return one.end == end; });
  return row == kRows.end() ? "unknown" : row->word;
}

EndClass end_class_of(std::string_view word) {
  const auto row =
      std::find_if(kRows.begin(), kRows.end(), [word](const EndClassRow& one) { return one.word == word; });
  return row == kRows.end() ? EndClass::kUnknown : row->end;
}

}  // namespace mw
