#include <algorithm>

#include "act/fleet/check.h"
#include "base/text.h"

namespace mw::fleet {

namespace {

constexpr int64_t kOld = 3;  // intervals

/// A key or a user without the right to write, a file system that is read-only or full.
bool may_not_write(const Error& error) {
  return error.code == Error::Code::kDenied || error.code == Error::Code::kFull;
}

}  // namespace

using Phase = Control::Phase;

Result<CheckResult> Check::see() {
  only_looks_ = true;
  MW_TRY(look_around());
  finish(next_move());
  out_.person = out_.person || person_;
  return std::move(out_);
}

std::string Check::said(const Error& error) {
  person_ = person_ || error.code == Error::Code::kDenied;
  return cat(error.what, error.hint.empty() ? "" : cat(". ", error.hint));
}

Result<std::vector<Orphan>> Check::orphans(std::vector<std::string>& notes, bool& all_seen) {
  only_looks_ = true;
  MW_TRY(look_around());
  std::vector<Orphan> out;
  for (const auto& [provider, one] : all_) {
    const auto label = parse_label(one.label);
    if (!label || is_known(provider, one) || one.state == InstanceState::kGone) continue;
    out.push_back({one, provider, label->name, is_stray(*label)});
  }
  notes = out_.notes;
  all_seen = out_.all_seen;
  return out;
}

Result<void> Check::read() {
  auto held = doors_.store.control();
  if (!held.ok()) return held.error();
  held_ = std::move(*held);
  if (!held_.control) held_.control = Control{}, fresh_ = true;
  return {};
}

Result<void> Check::take_time() {
  const auto now = doors_.store.now(plan_.owner);
  const bool written = now.ok();
  if (!written && (!only_looks_ || !doors_.own_clock || !may_not_write(now.error()))) return now.error();
  now_ = written ? *now : doors_.own_clock();
  by_own_clock_ = !written;
  return {};
}

Result<void> Check::look_around() {
  MW_TRY(read());
  MW_TRY(take_time());
  out_.notes.clear();
  if (by_own_clock_) {
    out_.notes.emplace_back(
        "you may not write to the store, which is needed to read its clock: ages are by the clock of this machine");
  }
  all_.clear();
  unheard_.clear();
  in_part_.clear();
  out_.all_seen = true;
  for (const auto& provider : doors_.providers) {
    const auto listed = provider->list();
    if (!listed.ok()) {
      unheard_[provider->name()] = listed.error().what;
      out_.notes.push_back(cat(provider->name(), " was not heard: ", said(listed.error())));
      out_.all_seen = false;
      continue;
    }
    for (const std::string& note : listed->notes) out_.notes.push_back(cat(provider->name(), ": ", note));
    if (!listed->whole) {
      in_part_[provider->name()] = listed->notes.empty() ? "" : cat(": ", listed->notes.front());
      out_.notes.push_back(
          cat(provider->name(), " does not list all that is rented: what is missing is not taken for gone"));
      out_.all_seen = false;
    }
    for (const Instance& one : *listed) {
      if (one.unreachable) out_.notes.push_back(cat(provider->name(), ": ", one.says));
      all_.emplace_back(provider->name(), one);
    }
  }
  out_.seen = {};
  out_.seen.now = now_;
  holding_ = {};
  successor_ = {};
  if (control().current() != nullptr) MW_TRY(see_current(*control().current()));
  if (control().successor() != nullptr) MW_TRY(see_successor(*control().successor()));
  out_.control = control();
  out_.verdict = judge(plan_.spec.patience, control(), out_.seen);
  return {};
}

Result<void> Check::see_current(const Rental& rental) {
  auto beat = doors_.store.heartbeat(rental.nonce);
  if (!beat.ok()) return beat.error();
  if (!beat->trouble.empty()) out_.notes.push_back(cat("the heartbeat cannot be read: ", beat->trouble));
  out_.seen.beat = std::move(beat->beat);
  out_.seen.beat_changed = beat->changed;
  if (heard_now_ == rental.nonce) {
    const Duration late = now_ - beat->changed;
    out_.seen.beat_changed = std::max(now_, beat->changed);
    // A machine beats again as soon as its store is back; what is older than that has another clock.
    if (late.ns > kOld * out_.seen.beat->every.ns) {
      out_.notes.push_back(cat("heartbeats come, though by the store's time the last one is ", format_duration(late),
                               " old: the clocks of the machines that write to this folder differ (NTP)"));
    }
  }
  see_wandb();
  holding_ = holding_of(rental, out_.seen.provider_says);
  out_.seen.ended = holding_.ended;
  if (!holding_.heard) return {};
  out_.seen.provider = holding_.there() || holding_.unreachable ? holding_.state : InstanceState::kGone;
  return {};
}

Result<void> Check::see_successor(const Rental& rental) {
  auto beat = doors_.store.heartbeat(rental.nonce);
  if (!beat.ok()) return beat.error();
  successor_.beat = std::move(beat->beat);
  std::string says;
  successor_.holding = holding_of(rental, says);
  return {};
}

Holding Check::holding_of(const Rental& rental, std::string& says) const {
  Holding out;
  if (doors_.providers.empty()) return out;  // only the store is at hand
  const auto unheard = unheard_.find(rental.provider);
  if (provider_of(rental.provider) == nullptr || unheard != unheard_.end()) {
    says = unheard != unheard_.end() ? unheard->second : cat(rental.provider, " is not in the specification");
    return out;
  }
  out.heard = true;
  for (const auto& [provider, one] : all_) {
    const bool silent = one.unreachable && provider == rental.provider && one.host == rental.host;
    if (!silent && !is_of(&rental, provider, one)) continue;
    if (one.state == InstanceState::kGone) {
      out.ended = true;
      if (!out.there()) says = one.says;
      continue;
    }
    out = {true, silent ? "" : one.id, one.host, one.price, one.state, silent};
    says = one.says;
  }
  out.ended = out.ended && !out.there() && !out.unreachable;
  const auto in_part = in_part_.find(rental.provider);
  if (in_part != in_part_.end() && !out.there() && !out.unreachable && !out.ended) {
    out.heard = false;
    says = cat("its list is not complete", in_part->second);
  }
  return out;
}

/// Once a check: what is looked at again is what ends machines, and W&B ends none.
void Check::see_wandb() {
  if (!doors_.wandb || !out_.seen.beat) return;
  if (!wandb_) wandb_ = doors_.wandb(out_.seen.beat->wandb);
  if (wandb_->ok()) {
    out_.seen.wandb = **wandb_;
  } else {
    out_.seen.wandb_silent = clip(wandb_->error().what, 200);
  }
}

/// By its label, or by its id where a person rented it.
bool Check::is_of(const Rental* rental, const std::string& provider, const Instance& one) const {
  if (rental == nullptr || rental->provider != provider) return false;
  const auto label = parse_label(one.label);
  const bool labelled = label && label->id == plan_.run_id && label->name == plan_.spec.name &&
                        label->epoch == rental->epoch && label->nonce == rental->nonce;
  return labelled || (!rental->instance.empty() && one.id == rental->instance);
}

bool Check::is_known(const std::string& provider, const Instance& one) const {
  return is_of(control().current(), provider, one) || is_of(control().successor(), provider, one);
}

bool Check::is_stray(const Label& label) const {
  if (label.id != plan_.run_id || label.name != plan_.spec.name) return false;
  return is_over(control(), label.epoch, label.nonce);
}

Provider* Check::provider_of(const std::string& name) const {
  for (const auto& one : doors_.providers) {
    if (one->name() == name) return one.get();
  }
  return nullptr;
}

Result<void> Check::end_strays() {
  strays_ = 0;
  for (const auto& [name, one] : all_) {
    const auto label = parse_label(one.label);
    if (!label || one.state == InstanceState::kGone || is_known(name, one) || !is_stray(*label)) continue;
    ++strays_;
    Rental rental;
    rental.epoch = label->epoch;
    rental.nonce = label->nonce;
    rental.provider = name;
    rental.instance = one.id;
    MW_TRY(record("give-back", "its epoch is over", rental));
    const auto ended = provider_of(name)->destroy(one);
    if (ended.ok()) {
      out_.done.push_back(cat("gave back ", one.id, " of ", name, ", whose epoch is over"));
    } else {
      out_.notes.push_back(cat(one.id, " of ", name, " could not be given back: ", ended.error().what));
    }
  }
  return {};
}

void Check::finish(const Move& move) {
  out_.waits = move.what == Move::What::kWait ? move.why : "";
  out_.person = move.person || (control().phase == Phase::kStopped && !control().outcome.empty() &&
                                control().outcome != "finished" && control().outcome != "stopped");
}

}  // namespace mw::fleet
