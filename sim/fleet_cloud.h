// The provider of a simulated world, and the doors of one controller to it and to the store: each call of theirs may be
// the one at which the controller dies, sleeps for an hour, or gets no answer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "act/fleet/provider.h"
#include "base/prng.h"
#include "platform/fake/fake_store.h"

namespace mw::sim {

/// One machine, with the fate that it was born with. Times in minutes of the world.
struct CloudMachine {
  std::string id, label, host;
  int64_t created = 0;        ///< it exists, and costs money, from then on
  int64_t listed = 0;         ///< the provider lists it from then on
  int64_t boots = INT64_MAX;  ///< its midwatch begins
  int64_t vanishes = INT64_MAX, outbid = INT64_MAX;
  int64_t notice = INT64_MAX, announced = INT64_MAX;  ///< when the machine hears of its end, and when that is to be
  bool obeys_notice = true;                           ///< its trainer ends upon it, two minutes ahead
  int64_t cut = INT64_MAX, mended = INT64_MAX;        ///< its network is away from, until
  int64_t ended = INT64_MAX;                          ///< destroyed, or vanished: it costs nothing any more
  bool unfit = false;
  // Its midwatch and its trainer:
  bool training = false, fenced = false, finished = false, waited = false;
  int64_t step = 0, last_beat = -1, fenced_at = INT64_MAX;

  bool exists(int64_t now) const { return created <= now && now < ended; }
  bool runs(int64_t now) const { return exists(now) && now >= boots && now < outbid; }
  bool leaving(int64_t now) const { return obeys_notice && notice <= now && announced - now <= 2; }
  bool reaches_store(int64_t now) const { return runs(now) && (now < cut || now >= mended); }
};

struct Cloud {
  Prng dice;
  Prng part_dice;  ///< which lists are not whole, and what they leave out: one of its own, so that all else is as
                   ///< without
  int64_t now = 0;
  double price = 2;       ///< an hour
  bool calm = false;      ///< nothing fails any more
  bool restless = false;  ///< notice is given often, and often withdrawn
  std::vector<std::unique_ptr<CloudMachine>> machines;
  std::function<void(const std::string& label)> before_create;
  explicit Cloud(uint64_t seed) : dice(seed), part_dice(~seed) {}

  CloudMachine& make(const std::string& label, const std::string& host);
  void end(CloudMachine& machine) { machine.ended = std::min(machine.ended, now); }
  double cost() const;
};

/// How one check of a controller goes wrong.
struct Turn {
  enum class How { kWell, kDies, kSleeps, kLosesRequest, kLosesAnswer };
  How how = How::kWell;
  uint64_t at = 0, calls = 0;
  std::function<void()> sleep;
  bool slept = false;
  /// Counts a call. What comes of it: nothing, no answer before, or no answer afterwards.
  enum class Call { kGoes, kLost, kLostAfter };
  Call next();
};

/// The store through the eyes of one controller.
class TurnStore final : public ObjectStore {
 public:
  TurnStore(ObjectStore& store, Turn& turn) : store_(store), turn_(turn) {}
  std::string name() const override { return store_.name(); }
  Result<PutOutcome> put(const std::string& key, const Content& content, const PutCondition& condition) override;
  Result<ObjectInfo> head(const std::string& key) override;
  Result<void> get(const std::string& key, uint64_t offset, int64_t size, const ByteSink& sink) override;
  Result<ObjectPage> list(const std::string& prefix, const std::string& from) override;
  Result<void> remove(const std::string& key) override;
  Result<std::string> begin_upload(const std::string& key) override { return store_.begin_upload(key); }
  Result<UploadedPart> put_part(const std::string& key, const std::string& upload, int number,
                                const Content& content) override {
    return store_.put_part(key, upload, number, content);
  }
  Result<std::vector<UploadedPart>> parts(const std::string& key, const std::string& upload) override {
    return store_.parts(key, upload);
  }
  Result<void> complete(const std::string& key, const std::string& upload,
                        const std::vector<UploadedPart>& parts) override {
    return store_.complete(key, upload, parts);
  }
  Result<void> abort(const std::string& key, const std::string& upload) override { return store_.abort(key, upload); }
  Result<std::vector<OpenUpload>> uploads(const std::string& prefix) override { return store_.uploads(prefix); }

 private:
  ObjectStore& store_;
  Turn& turn_;
};

class CloudProvider final : public fleet::Provider {
 public:
  CloudProvider(Cloud& cloud, Turn& turn) : cloud_(cloud), turn_(turn) {}
  const std::string& name() const override { return name_; }
  Result<std::vector<fleet::Offer>> search(const fleet::MachineWants& wants) override;
  Result<fleet::Instance> create(const fleet::Offer& offer, const fleet::Order& order) override;
  Result<fleet::Listing> list() override;
  Result<void> destroy(const fleet::Instance& instance) override;

 private:
  Cloud& cloud_;
  Turn& turn_;
  const std::string name_ = "cloud";
};

}  // namespace mw::sim
