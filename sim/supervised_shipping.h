// Shipping beside a supervised run: its checkpoints are pushed while the trainer saves, dies and is put back, with
// faults of the store at any call, and what must hold of `latest` then.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "act/vault/doors.h"
#include "base/prng.h"
#include "core/checkpoint_layout.h"
#include "platform/clock.h"
#include "platform/fake/fake_store.h"
#include "sim/supervised_world.h"

namespace mw::sim {

class SupervisedShipping {
 public:
  SupervisedShipping(SupervisedWorld& world, const CheckpointLayout& layout, uint64_t seed);
  /// Now and then pushes the checkpoint that a restart would go on from.
  void turn();
  /// A push that nothing disturbs, at the end.
  void end_well();
  uint64_t pushes() const { return pushes_; }
  uint64_t digest() const { return digest_; }

 private:
  using Files = std::map<std::string, std::string>;  // content by path
  int64_t newest();
  Files files_of(int64_t step) const;
  /// True: it ended well.
  bool push(int64_t step);
  void look(int64_t step);
  void disturb(int64_t step);
  void check_latest(const std::string& changed);
  vault::VaultDoors doors(FakeStore& store);

  SupervisedWorld& world_;
  const CheckpointLayout& layout_;
  Prng dice_;
  FakeClock clock_;
  FakeStore store_;
  std::map<std::string, std::vector<Files>> seen_;  ///< by the step's folder: what it held while it was pushed
  int64_t latest_ = -1;
  uint64_t changed_call_ = UINT64_MAX;  ///< to the store, before which the checkpoint that is pushed was changed
  uint64_t manifest_call_ = 0;          ///< that put a manifest
  uint64_t pushes_ = 0, digest_ = 0;
};

}  // namespace mw::sim
