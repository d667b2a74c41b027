// An object store in memory that fails on demand. For tests and simulation; not for several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/prng.h"
#include "platform/object_store.h"

namespace mw {

class FakeStore : public ObjectStore {
 public:
  /// What it makes of conditions.
  enum class Conditions { kKept, kIgnored, kRefused };
  /// How a call fails: nothing happened; it happened and the answer was lost; of a get: some bytes come before the end,
  /// or one bit of them is wrong; of a put or a part: it is acknowledged, and something else is kept.
  enum class Fault { kBefore, kAfter, kCut, kFlipped, kSilent };

  explicit FakeStore(uint64_t seed = 0, Conditions conditions = Conditions::kKept)
      : prng_(seed), conditions_(conditions) {}

  /// The call number `at` from now (0: the next) fails so; `sticky`: and nothing happens in all after it, until heal().
  void fail_at(uint64_t at, Fault fault, bool sticky) { fail_ = {calls_ + at, fault, sticky, true}; }
  void heal() { fail_.armed = false; }
  uint64_t calls() const { return calls_; }
  void set_page(size_t objects) { page_ = objects; }
  void set_time(Time now) { now_ = now; }

  struct Object {
    std::string bytes, etag;
    Time changed;
  };
  // For tests: around the door.
  const std::map<std::string, Object>& objects() const { return objects_; }
  void damage(const std::string& key, std::string bytes) { objects_[key].bytes = std::move(bytes); }
  void lose(const std::string& key) { objects_.erase(key); }
  size_t open_uploads() const { return uploads_.size(); }
  std::function<void()> before_call;                   ///< another machine's turn
  std::function<void(const std::string&)> changed_at;  ///< this key has other content now

  std::string name() const override { return "fake://store"; }
  Result<PutOutcome> put(const std::string& key, const Content& content, const PutCondition& condition) override;
  Result<ObjectInfo> head(const std::string& key) override;
  Result<void> get(const std::string& key, uint64_t offset, int64_t size, const ByteSink& sink) override;
  Result<ObjectPage> list(const std::string& prefix, const std::string& from) override;
  Result<void> remove(const std::string& key) override;
  Result<std::string> begin_upload(const std::string& key) override;
  Result<UploadedPart> put_part(const std::string& key, const std::string& upload, int number,
                                const Content& content) override;
  Result<std::vector<UploadedPart>> parts(const std::string& key, const std::string& upload) override;
  Result<void> complete(const std::string& key, const std::string& upload,
                        const std::vector<UploadedPart>& parts) override;
  Result<void> abort(const std::string& key, const std::string& upload) override;
  Result<std::vector<OpenUpload>> uploads(const std::string& prefix) override;

 private:
  struct Failing {
    uint64_t at = 0;
    Fault fault = Fault::kBefore;
    bool sticky = false, armed = false;
  };
  struct Upload {
    std::string key;
    Time began;
    std::map<int, std::string> parts;
  };
  /// Counts a call; says whether and how it fails.
  const Fault* begin();
  Upload* find(const std::string& key, const std::string& upload);
  void store(const std::string& key, std::string bytes, std::string etag);

  Prng prng_;
  Conditions conditions_;
  Failing fail_;
  uint64_t calls_ = 0, next_upload_ = 1;
  size_t page_ = 1000;
  Time now_;
  std::map<std::string, Object> objects_;
  std::map<std::string, Upload> uploads_;
};

}  // namespace mw
